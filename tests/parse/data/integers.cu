// nvcc -ptx -std=c++17 -arch=sm_80
extern "C" __global__ void integers(long long *x, unsigned long long *u, short *s, unsigned char *b, int *r) {
  int i = threadIdx.x; x[i] = x[i] / 7 + x[i + 1] % 11 + __mul64hi(x[i], 3) + (x[i] >> 3); u[i] = u[i] * 0x123456789abcdefULL + __umul64hi(u[i], u[i + 1]) + __popcll(u[i]);
  s[i] = s[i] * 3 + b[i]; b[i] = b[i] ^ 0x5a; r[i] = __dp4a(r[i], r[i + 1], r[i + 2]) + __vadd4(r[i], r[i + 3]) + __funnelshift_l(r[i], r[i + 1], 5) + __mulhi(r[i], 5) + __sad(r[i], r[i + 1], 7u) + abs(r[i]) + __vimax3_s32(r[i], 3, r[i+1]);
  unsigned __int128 w = (unsigned __int128)u[i] * u[i + 1] + x[i]; u[i + 2] = (unsigned long long)(w >> 64);
}
