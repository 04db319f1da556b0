// nvcc -ptx -std=c++17 -arch=sm_80
__shared__ extern float dynamic[];
__device__ unsigned count = 7;
__constant__ float weights[4] = {0.25f, 1.5f, -2.0f, 1e-9f};
extern "C" __global__ void reduce(const float4 *x, float *out, int n) {
  __shared__ float tile[32];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float4 v = x[i]; sum += v.x * weights[0] + v.y * weights[1] + v.z + v.w; }
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) tile[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) { for (int i = 0; i < blockDim.x / 32; i++) dynamic[i] = tile[i]; atomicAdd(out, tile[0]); atomicInc(&count, 5); }
  if (__any_sync(~0u, sum > 3) && __ballot_sync(~0u, sum < 1) == 3) out[1] = dynamic[threadIdx.x & 1];
}
