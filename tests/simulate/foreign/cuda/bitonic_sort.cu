// 512 keys sorted in shared memory by 256 threads.
extern "C" __global__ void bitonic_sort(int *keys) {
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < 512; i += blockDim.x) s[i] = keys[blockIdx.x * 512 + i];
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int i = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            bool up = (i & size) == 0;
            int a = s[i], b = s[i + stride];
            if ((a > b) == up) s[i] = b, s[i + stride] = a;
        }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += blockDim.x) keys[blockIdx.x * 512 + i] = s[i];
}
