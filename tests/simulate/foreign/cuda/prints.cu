// printf from some threads: numbers of every kind, strings, widths.
#include <stdio.h>
extern "C" __global__ void prints(const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] < 0) printf("thread %d of block %u has %+5d, %s, %.3f and %c%%\n", threadIdx.x, blockIdx.x, x[i], i & 1 ? "odd" : "even", x[i] / 8.0, 'a' + i % 26);
    if (i == 0) printf("%llx %p %5s|%-5s|%08x %e\n", 0x123456789abcdefull, (void *)0, "ab", "cd", 48879, 12345.678);
}
