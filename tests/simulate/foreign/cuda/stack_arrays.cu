// Arrays of a size known only as the thread runs, on the stack: by alloca, in loops and in a function that is called.
__noinline__ __device__ int mirrored(const int *x, int n) {
    int *copy = (int *)alloca(n * sizeof(int));
    for (int i = 0; i < n; ++i) copy[n - 1 - i] = x[i];
    int value = 0;
    for (int i = 0; i < n; ++i) value = value * 7 + copy[i];
    return value;
}
extern "C" __global__ void stack_arrays(const int *x, int *y) {
    int i = threadIdx.x, total = 0;
    for (int round = 1; round <= 3; ++round) {
        int n = (i * round) % 5 + 1;
        int *own = (int *)alloca(n * sizeof(int));
        for (int k = 0; k < n; ++k) own[k] = x[(i + k) % 32] + round;
        total += mirrored(own, n);
    }
    y[i] = total;
}
