// Floats of 8 bits: from and to f32 and f16, in both formats.
#include <cuda_fp8.h>
extern "C" __global__ void eight_bits(const float2 *x, unsigned short *e4m3, unsigned short *e5m2, __half2 *back, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_fp8x2_e4m3 a(x[i]);
    __nv_fp8x2_e5m2 b(x[i]);
    e4m3[i] = a.__x, e5m2[i] = b.__x;
    back[i] = __half2(a), back[n + i] = __half2(b);
}
