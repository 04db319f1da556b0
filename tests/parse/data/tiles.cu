// nvcc -ptx -std=c++17 -arch=sm_80: groups of threads: tiles, coalesced ones, reductions and scans.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tiles(int *x, float *f) {
  auto block = cg::this_thread_block(); auto tile = cg::tiled_partition<16>(block); int i = block.thread_rank();
  x[i] = cg::reduce(tile, x[i], cg::plus<int>()) + tile.shfl_xor(x[i], 3) + tile.meta_group_rank(); f[i] = cg::inclusive_scan(tile, f[i], cg::greater<float>());
  if (x[i] & 1) { auto some = cg::coalesced_threads(); x[i] += some.size() + some.any(f[i] > 0) + some.match_any(x[i] & 3); some.sync(); }
  block.sync();
}
