// Cooperative groups: tiles of 8 threads reduce and scan, the block and coalesced threads meet.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void cooperative(const int *x, int *sums, int *scanned, int *odd) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int i = blockIdx.x * blockDim.x + block.thread_rank(), value = x[i];
    int sum = cg::reduce(tile, value, cg::plus<int>());
    if (tile.thread_rank() == 0) sums[i / 8] = sum;
    scanned[i] = cg::inclusive_scan(tile, value);
    block.sync();
    if (value & 1) {
        cg::coalesced_group together = cg::coalesced_threads();
        odd[i] = together.thread_rank() * 100 + together.size();
    } else
        odd[i] = -1;
}
