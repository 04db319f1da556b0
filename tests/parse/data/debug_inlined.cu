// nvcc -ptx -std=c++17 -arch=sm_80 -G: sections of DWARF of structures, inlined functions and local variables.
struct Point { float x, y; int tag[3]; };
__device__ __forceinline__ float length2(const Point &p) { float s = p.x * p.x; return s + p.y * p.y; }
__device__ int calls;
extern "C" __global__ void debug_inlined(Point *points, float *out, int n) {
  int i = threadIdx.x;
  for (int j = 0; j < n; ++j) { Point local = points[j]; out[i] += length2(local); }
  __shared__ Point best; if (i == 0) { best = points[0]; atomicAdd(&calls, 1); }
}
