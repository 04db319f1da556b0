// y = a * x + y with a grid-stride loop.
extern "C" __global__ void axpy(float a, const float *__restrict__ x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
