// A function that all threads of a block call, with barriers in it.
__noinline__ __device__ int block_sum(int value, int *room) {
    room[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
        __syncthreads();
    }
    int sum = room[0];
    __syncthreads();
    return sum;
}
extern "C" __global__ void barrier_in_function(const int *x, int *y) {
    __shared__ int room[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    int sum = block_sum(x[i], room);
    int count = block_sum(x[i] > 0, room);
    y[i] = sum * 1000 + count + __syncthreads_count(x[i] > 5);
}
