// nvcc -ptx -std=c++17 -arch=sm_80
#include <math.h>
extern "C" __global__ void doubles(double *x, float *y, int n) {
  int i = threadIdx.x; double v = x[i];
  x[i] = sqrt(v) / 3.0 + fma(v, 2.5e-300, 1.0) + floor(v) + sin(v) + pow(v, 3.5) + 1.0 / v;
  y[i] = __expf(y[i]) + rsqrtf(y[i]) + __sinf(y[i]) + (float)v + __fdividef(y[i], 3.f) + tanhf(y[i]) + copysignf(y[i], (float)v) + isnan(y[i]);
}
