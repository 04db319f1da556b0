// bf16: arithmetic, pairs, conversions with roundings.
#include <cuda_bf16.h>
extern "C" __global__ void bfloats(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *out, const float *x, __nv_bfloat16 *narrow, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = __hfma2(a[i], b[i], a[i]);
    out[n + i] = __hmul2(__hadd2(a[i], b[i]), __hsub2(a[i], b[i]));
    out[2 * n + i] = __hmax2(a[i], __hneg2(b[i]));
    narrow[i] = __float2bfloat16_rn(x[i]);
    narrow[n + i] = __float2bfloat16_rz(x[i]);
    narrow[2 * n + i] = __float2bfloat16_rn(__bfloat162float(a[i].x) / __bfloat162float(b[i].y));
}
