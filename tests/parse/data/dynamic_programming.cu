// nvcc -ptx -std=c++17 -arch=sm_90: additions fused with comparisons, three-way minima, video intrinsics.
extern "C" __global__ void dynamic_programming(int *x, unsigned *u, short2 *s) {
  int i = threadIdx.x; x[i] = __viaddmax_s32_relu(x[i], x[i + 1], x[i + 2]) + __vimin3_s32(x[i], 3, x[i + 3]); u[i] = __viaddmin_u16x2(u[i], u[i + 1], u[i + 2]) + __vimax_s16x2_relu(u[i], u[i + 3]);
  bool hi, lo; u[i + 4] = __vibmax_s16x2(u[i], u[i + 5], &hi, &lo); x[i + 6] = hi + 2 * lo; u[i + 7] = __vabsdiffu4(u[i], u[i + 1]) + __vcmpgts2(u[i], u[i + 2]) + __byte_perm(u[i], u[i + 1], 0x4152) + __vsads4(u[i], u[i + 1]);
}
