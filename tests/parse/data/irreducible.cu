// nvcc -ptx -std=c++17 -arch=sm_80: jumps into loops, switches in loops, loops that are kept rolled.
extern "C" __global__ void irreducible(int *x, int n) {
  int i = threadIdx.x, s = 0;
  if (x[i] > 5) goto middle;
  for (;;) {
    s += x[s & 31]; if (s > n) break;
  middle:
    switch (s & 7) { case 0: s += 3; continue; case 1: s ^= n; break; case 2: goto out; case 5: s = s * s; default: s -= x[i]; }
  }
out:
#pragma unroll 1
  for (int j = 0; j < n; j++) { s += x[j] / (j + 1);
#pragma nounroll
    for (int k = 0; k < 4; k++) s ^= x[k + j]; }
  do { s >>= 1; x[s & 15] = i; } while (s > 100);
  x[i] = s;
}
