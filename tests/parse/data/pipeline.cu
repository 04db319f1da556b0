// nvcc -ptx -std=c++17 -arch=sm_80
#include <cuda_pipeline.h>
extern "C" __global__ void pipeline(const float4 *x, float4 *y, int n) {
  __shared__ float4 stage[2][128];
  for (int i = 0; i < n; i++) { __pipeline_memcpy_async(&stage[i & 1][threadIdx.x], &x[i * 128 + threadIdx.x], 16); __pipeline_commit(); __pipeline_wait_prior(1);
    __syncthreads(); y[i * 128 + threadIdx.x] = stage[i & 1][127 - threadIdx.x]; __syncthreads(); }
}
