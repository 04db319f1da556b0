// nvcc -ptx -std=c++17 -arch=sm_80: special functions of the mathematics library, with their tables and slow paths.
extern "C" __global__ void special_functions(float *x, double *d) {
  int i = threadIdx.x; x[i] = erff(x[i]) + tgammaf(x[i + 1]) + j0f(x[i + 2]) + cbrtf(x[i]) + sinf(x[i] * 1e6f) + nextafterf(x[i], 1.f); d[i] = exp(d[i]) * atan2(d[i], 2.0) + fmod(d[i], 3.0) + remainder(d[i + 1], 7.0);
}
