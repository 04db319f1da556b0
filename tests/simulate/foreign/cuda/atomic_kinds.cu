// Atomic operations of all kinds, in shared and global memory.
extern "C" __global__ void atomic_kinds(const int *x, int *ints, unsigned *words, unsigned long long *wide, float *floats, double *doubles, int n) {
    __shared__ int least;
    __shared__ unsigned long long most;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) least = 1 << 30, most = 0;
    __syncthreads();
    if (i < n) {
        atomicMin(&least, x[i]);
        atomicMax(&most, (unsigned long long)(x[i] + (1 << 20)));
        atomicMin(&ints[0], x[i]), atomicMax(&ints[1], x[i]), atomicSub(&ints[2], x[i]);
        atomicAnd(&words[0], ~(1u << (x[i] & 31))), atomicOr(&words[1], 1u << (x[i] & 31)), atomicXor(&words[2], (unsigned)x[i]);
        atomicInc(&words[3], 9), atomicDec(&words[4], 6);
        atomicAdd(&wide[0], (unsigned long long)x[i] * x[i]);
        atomicAdd(&floats[0], (float)(x[i] & 15)), atomicAdd(&doubles[0], x[i] * 0.25);
        unsigned old = *(volatile unsigned *)&words[5], seen;
        do { seen = old; old = atomicCAS(&words[5], seen, seen * 1 + (x[i] & 3)); } while (old != seen);
        if (x[i] == 77) atomicExch(&ints[3], 1234);
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicMin(&ints[4], least), atomicMax(&wide[1], most);
}
