// nvcc -ptx -std=c++17 -arch=sm_80: arrays on the stack, bit fields, unions, pointers that may point anywhere.
struct Bits { unsigned a : 3, b : 13; int c : 7; unsigned long long d : 40; };
union Either { float f[4]; unsigned u[4]; double d[2]; };
__device__ __noinline__ void scramble(int *a, const Bits &bits, Either &e) { a[bits.a] += bits.c; e.u[bits.b & 3] ^= (unsigned)bits.d; }
extern "C" __global__ void local_data(int *x, Bits *b, Either *e, int n) {
  int a[32]; Either mine = e[threadIdx.x];
  for (int i = 0; i < n; i++) a[i & 31] = x[i];
  scramble(a, b[threadIdx.x], mine);
  int *p = n > 3 ? a : x; p[n & 7] += 1; b[1].c = a[n & 31]; b[2].d = p[0];
  x[threadIdx.x] = a[x[0] & 31] + mine.u[n & 3]; alignas(16) char text[20]; *(int4 *)text = make_int4(1, 2, 3, n); x[1] = text[x[2] & 15];
}
