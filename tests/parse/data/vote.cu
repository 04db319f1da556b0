// nvcc -ptx -std=c++17 -arch=sm_80
extern "C" __global__ void matrix(const unsigned *a, int *out) {
  unsigned lane; asm("mov.u32 %0, %%laneid;" : "=r"(lane)); unsigned before = __popc(__ballot_sync(~0u, a[lane] & 1) & ((1u << lane) - 1));
  #pragma unroll 1
  for (int i = 0; i < 3; i++) out[before + i] += a[i];
  #pragma nounroll
  do { before--; } while (before > a[3]);
  if (out[0] == 9) asm volatile("exit;"); out[1] = before; out[2] = max(min((int)before, 7), -3);
}
