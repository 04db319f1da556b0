// Lanes with the same key elect one that adds for all of them.
extern "C" __global__ void histogram_match(const int *keys, int *counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned active = __ballot_sync(~0u, i < n);
    if (i < n) {
        unsigned same = __match_any_sync(active, keys[i]);
        if ((threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&counts[keys[i]], __popc(same));
    }
}
