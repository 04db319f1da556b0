// Exclusive prefix sums of a block of any size: shuffles up, then the sums of the warps.
extern "C" __global__ void scan_warp(const unsigned long long *x, unsigned long long *y, int n) {
    __shared__ unsigned long long sums[32];
    int i = threadIdx.x, lane = i & 31, warp = i >> 5;
    unsigned long long value = i < n ? x[i] : 0, sum = value;
    for (int step = 1; step < 32; step *= 2) {
        unsigned long long other = __shfl_up_sync(0xffffffff, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        unsigned long long all = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (int step = 1; step < 32; step *= 2) {
            unsigned long long other = __shfl_up_sync(0xffffffff, all, step);
            if (lane >= step) all += other;
        }
        sums[lane] = all;
    }
    __syncthreads();
    if (i < n) y[i] = sum - value + (warp ? sums[warp - 1] : 0);
}
