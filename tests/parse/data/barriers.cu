// nvcc -ptx -std=c++17 -arch=sm_90
#include <cuda/barrier>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) barriers(int *x) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar; __shared__ int v[128];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads(); v[threadIdx.x] = x[threadIdx.x]; bar.arrive_and_wait();
  cg::cluster_group c = cg::this_cluster(); int *other = c.map_shared_rank(v, c.block_rank() ^ 1); c.sync();
  x[threadIdx.x] = other[threadIdx.x]; c.sync();
}
