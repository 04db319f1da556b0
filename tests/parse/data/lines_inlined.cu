// nvcc -ptx -std=c++17 -arch=sm_90 -lineinfo: lines of functions that were inlined in one another.
__device__ __forceinline__ float inner(float x) {
  float y = x * 2;
  return y + 1;
}
__device__ __forceinline__ float middle(float x) {
  return inner(x) *
         inner(x + 1);
}
extern "C" __global__ void lines_inlined(float *x) {
  x[threadIdx.x] = middle(x[threadIdx.x])
                 + inner(3.f + x[0]);
}
