// A producer and a consumer warp, lanes that spin for each other, and a sum by lanes that come together late.
extern "C" __global__ void volta_warps(const int *x, int *y, int *order) {
    __shared__ volatile int box[32];
    __shared__ volatile int turn;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    if (warp == 0) {
        box[lane] = x[lane] * 2;
        __threadfence_block();
        asm volatile("barrier.arrive 1, 64;" ::: "memory");
    } else if (warp == 1) {
        asm volatile("barrier.sync 1, 64;" ::: "memory");
        y[lane] = box[31 - lane];
    } else {
        while (true) {
            if (turn == lane) {
                order[lane] = turn * 10;
                __threadfence_block();
                turn = lane + 1;
                break;
            }
            __nanosleep(10);
        }
        __syncwarp();
        int sum = 0;
        for (int k = 0; k <= lane % 5; ++k) sum += k;
        unsigned mask = __activemask();
        (void)mask;
        y[32 + lane] = __shfl_xor_sync(~0u, sum, 1);
    }
}
