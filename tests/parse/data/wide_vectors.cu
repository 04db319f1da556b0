// nvcc -ptx -std=c++17 -arch=sm_100: loads and stores of 256 bits, and pairs of floats at once.
extern "C" __global__ void wide_vectors(double4_32a *x, longlong4_32a *y, float2 *f) {
  int i = threadIdx.x; double4_32a v = x[i]; v.x += v.w; x[i + 1] = v; longlong4_32a w = y[i]; w.y *= w.z; y[i + 1] = w;
  f[i] = __ffma2_rn(f[i], f[i + 1], f[i + 2]); f[i + 3] = __fadd2_rn(f[i], f[i + 4]);
}
