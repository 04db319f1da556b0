// Threads of several blocks take turns at a lock, each lane of a warp for itself.
extern "C" __global__ void spin_lock(int *lock, volatile int *counter, volatile int *log) {
    bool done = false;
    while (!done)
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            int place = *counter;
            log[place] = blockIdx.x * blockDim.x + threadIdx.x;
            *counter = place + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}
