// Seven points in a row, weights in constant memory, a halo in shared memory.
__constant__ float weights[7] = {-0.5f, 1.25f, 2.0f, -3.0f, 0.75f, 0.125f, 1.0f};
extern "C" __global__ void stencil_constant(const float *x, float *y, int n) {
    __shared__ float s[128 + 6];
    int i = blockIdx.x * 128 + threadIdx.x;
    for (int k = threadIdx.x; k < 134; k += 128) {
        int at = blockIdx.x * 128 + k - 3;
        s[k] = at >= 0 && at < n ? x[at] : 0.0f;
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 7; ++k) sum = fmaf(weights[k], s[threadIdx.x + k], sum);
    y[i] = sum;
}
