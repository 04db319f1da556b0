// A pipeline of two stages that fills shared memory by asynchronous copies.
#include <cuda_pipeline.h>
extern "C" __global__ void async_copies(const float *x, float *y, int tiles) {
    __shared__ __align__(16) float stage[2][256];
    int t = threadIdx.x;
    const float *own = x + blockIdx.x * tiles * 256;
    __pipeline_memcpy_async(&stage[0][4 * t], own + 4 * t, 16);
    __pipeline_commit();
    float sum = 0;
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) __pipeline_memcpy_async(&stage[(k + 1) & 1][4 * t], own + (k + 1) * 256 + 4 * t, 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int i = 0; i < 4; ++i) sum += stage[k & 1][(4 * t + i + 17) % 256];
        __syncthreads();
    }
    y[blockIdx.x * 64 + t] = sum;
}
