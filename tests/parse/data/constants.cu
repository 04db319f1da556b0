// nvcc -ptx -std=c++17 -arch=sm_80: initialised constants and variables of every kind, with addresses in them.
struct Node { int key; const float *values; Node *next; double weight; };
__constant__ float table[6] = {1.f, -2.5f, 3e-30f};
__device__ float pool[4] = {0.5f, 1.5f};
__device__ Node last = {7, pool + 2, nullptr, 1e300};
__device__ Node first = {3, pool, &last, -0.0};
__constant__ const char *words[3] = {"one", "two\n\"quoted\"", ""};
__device__ short matrix[2][3] = {{1, -2}, {300, 4, -32768}};
__device__ volatile unsigned long long big = 0xFFFFFFFFFFFFFFFEull;
static __device__ double hidden[2] = {1.0, __builtin_huge_val()};
__constant__ float4 quad = {1, 2, 3, 4};
extern "C" __global__ void constants(float *x, const char **w) {
  int i = threadIdx.x;
  x[i] = table[i % 6] + first.next->values[i & 1] + last.key + matrix[i & 1][i % 3] + (float)big + (float)hidden[i & 1] + quad.y;
  w[i] = words[i % 3];
}
