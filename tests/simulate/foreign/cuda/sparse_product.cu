// A sparse matrix in rows times a vector, a warp for each row.
extern "C" __global__ void sparse_product(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= rows) return;
    float sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * __ldg(&x[columns[i]]);
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) y[row] = sum;
}
