// nvcc -ptx -std=c++17 -arch=sm_80: integers of 128 bits, carries, divisions by calls.
extern "C" __global__ void wide_integers(unsigned __int128 *x, __int128 *y, unsigned long long *u) {
  int i = threadIdx.x; x[i] = x[i] * x[i + 1] + x[i + 2]; x[i + 3] = x[i] / x[i + 4]; y[i] = y[i] % 1000000007; y[i + 1] = y[i] >> (i & 127); u[i] = __umul64hi(u[i], u[i + 1]) + (unsigned long long)(x[i] >> 64);
}
