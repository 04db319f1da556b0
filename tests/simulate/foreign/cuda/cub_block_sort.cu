// CUB: a block sorts keys with values by radix, scans them, and reduces them.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_reduce.cuh>
extern "C" __global__ void __launch_bounds__(128) cub_block_sort(const unsigned *keys, const int *values, unsigned *sorted, int *moved, unsigned *scanned, unsigned *total) {
    using Sort = cub::BlockRadixSort<unsigned, 128, 4, int>;
    using Scan = cub::BlockScan<unsigned, 128>;
    using Reduce = cub::BlockReduce<unsigned, 128>;
    __shared__ union { typename Sort::TempStorage sort; typename Scan::TempStorage scan; typename Reduce::TempStorage reduce; } room;
    unsigned key[4], sums[4];
    int value[4], base = (blockIdx.x * 128 + threadIdx.x) * 4;
    for (int i = 0; i < 4; ++i) key[i] = keys[base + i], value[i] = values[base + i];
    Sort(room.sort).Sort(key, value);
    __syncthreads();
    Scan(room.scan).ExclusiveSum(key, sums);
    __syncthreads();
    unsigned all = Reduce(room.reduce).Sum(key);
    for (int i = 0; i < 4; ++i) sorted[base + i] = key[i], moved[base + i] = value[i], scanned[base + i] = sums[i];
    if (threadIdx.x == 0) total[blockIdx.x] = all;
}
