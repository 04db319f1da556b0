// nvcc -ptx -std=c++17 -arch=sm_100a: floats of six and four bits, and scales.
#include <cuda_fp8.h>
#include <cuda_fp6.h>
#include <cuda_fp4.h>
extern "C" __global__ void narrow_floats(__nv_fp6x2_e2m3 *x, __nv_fp4x2_e2m1 *y, float2 *z, __nv_fp8_e8m0 *s) {
  int i = threadIdx.x; x[i] = __nv_fp6x2_e2m3(z[i]); y[i] = __nv_fp4x2_e2m1(z[i + 1]); z[i + 2] = float2(y[i + 3]); s[i] = __nv_fp8_e8m0(z[i].x); z[i + 4] = float2(x[i + 5]);
}
