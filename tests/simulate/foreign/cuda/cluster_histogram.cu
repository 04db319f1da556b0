// A cluster of CTAs shares out the bins of a histogram among their shared memories.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_histogram(const int *x, int *bins, int n) {
    __shared__ int part[32];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 32; i += blockDim.x) part[i] = 0;
    cluster.sync();
    int first = (blockIdx.x / 2) * (n / (gridDim.x / 2)), count = n / (gridDim.x / 2);
    for (int i = cluster.block_rank() * blockDim.x + threadIdx.x; i < count; i += 2 * blockDim.x) {
        int bin = x[first + i];
        int *there = cluster.map_shared_rank(part, bin / 32);
        atomicAdd(there + bin % 32, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < 32; i += blockDim.x) atomicAdd(&bins[32 * cluster.block_rank() + i], part[i]);
}
