// Kept elements moved together: ballots within a warp, an atomic for each warp.
extern "C" __global__ void compaction(const int *x, int *y, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, base = 0;
    bool keep = i < n && x[i] % 3 == 0;
    unsigned kept = __ballot_sync(~0u, keep);
    if (lane == 0 && kept) base = atomicAdd(count, __popc(kept));
    base = __shfl_sync(~0u, base, 0);
    if (keep) y[base + __popc(kept & ((1u << lane) - 1))] = x[i];
}
