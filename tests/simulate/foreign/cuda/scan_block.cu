// Inclusive prefix sums of a block by Hillis and Steele, two buffers.
extern "C" __global__ void scan_block(const int *x, int *y) {
    __shared__ int buffer[2][128];
    int from = 0, t = threadIdx.x;
    buffer[0][t] = x[blockIdx.x * 128 + t];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2, from ^= 1) {
        buffer[from ^ 1][t] = buffer[from][t] + (t >= step ? buffer[from][t - step] : 0);
        __syncthreads();
    }
    y[blockIdx.x * 128 + t] = buffer[from][t];
}
