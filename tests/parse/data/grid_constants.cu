// nvcc -ptx -std=c++17 -arch=sm_90: large parameters passed by value, one of them read in place.
struct Large { int head; float body[200]; double tail; };
struct __align__(64) Map { char bytes[128]; };
__device__ __noinline__ float read_through(const Large &large, int i) { return large.body[i]; }
extern "C" __global__ void grid_constants(const __grid_constant__ Large large, Map map, float *x, char c, short s, bool b, const __grid_constant__ Map second) {
  int i = threadIdx.x;
  x[i] = read_through(large, i) + large.head + (float)large.tail + map.bytes[i & 127] + c + s + b + second.bytes[5];
}
