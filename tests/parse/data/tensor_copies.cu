// nvcc -ptx -std=c++17 -arch=sm_90a: tensor copies, barriers of memory and bulk copies through the library's own functions.
#include <cuda/barrier>
#include <cuda/ptx>
namespace p = cuda::ptx;
struct Map { alignas(64) char bytes[128]; };
extern "C" __global__ void tensor_copies(const __grid_constant__ Map map, float *x) {
  __shared__ alignas(128) float tile[32][32]; __shared__ uint64_t bar;
  if (threadIdx.x == 0) { p::mbarrier_init(&bar, 1); p::fence_mbarrier_init(p::sem_release, p::scope_cluster); }
  __syncthreads();
  if (threadIdx.x == 0) { const int c[2] = {4, (int)blockIdx.x}; p::cp_async_bulk_tensor(p::space_cluster, p::space_global, &tile, &map, c, &bar); p::mbarrier_arrive_expect_tx(p::sem_release, p::scope_cta, p::space_shared, &bar, sizeof(tile)); }
  while (!p::mbarrier_try_wait_parity(&bar, 0)) {}
  tile[threadIdx.x][0] += 1; p::fence_proxy_async(p::space_shared); __syncthreads();
  if (threadIdx.x == 0) { p::cp_async_bulk(p::space_global, p::space_shared, x, &tile, 1024u); p::cp_async_bulk_commit_group(); p::cp_async_bulk_wait_group_read(p::n32_t<0>{}); }
}
