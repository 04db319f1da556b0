// Steps of Collatz's sequence until 1.
extern "C" __global__ void collatz(unsigned *steps, unsigned first) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    unsigned long long n = first + i;
    while (n != 1) n = n & 1 ? 3 * n + 1 : n / 2, ++count;
    steps[i] = count;
}
