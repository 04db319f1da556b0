// C = A * B in tiles of 16 by 16, f32.
extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float as[16][16], bs[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < k; start += 16) {
        as[threadIdx.y][threadIdx.x] = row < m && start + threadIdx.x < k ? a[row * k + start + threadIdx.x] : 0;
        bs[threadIdx.y][threadIdx.x] = column < n && start + threadIdx.y < k ? b[(start + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
