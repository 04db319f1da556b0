// nvcc -ptx -std=c++17 -arch=sm_89: floats of eight bits to and from halves and floats.
#include <cuda_fp8.h>
extern "C" __global__ void fp8(__nv_fp8_e4m3 *x, __nv_fp8x2_e5m2 *y, float2 *z, __half2 *h) {
  int i = threadIdx.x; z[i].x = float(x[i]) + 1.f; x[i] = __nv_fp8_e4m3(z[i].y); y[i] = __nv_fp8x2_e5m2(z[i]); h[i] = __half2(y[i + 1]);
}
