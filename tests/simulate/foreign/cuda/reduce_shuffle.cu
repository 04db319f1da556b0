// Sum of doubles by shuffles within a warp, then by one warp over the warps.
extern "C" __global__ void reduce_shuffle(const double *x, double *total, int n) {
    __shared__ double parts[32];
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
    for (int step = 16; step; step >>= 1) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
        for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(~0u, sum, step);
        if (threadIdx.x == 0) *total = sum;
    }
}
