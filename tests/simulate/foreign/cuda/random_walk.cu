// Generators of random numbers in 64 and 32 bits drive walks on a grid; visits are counted.
extern "C" __global__ void random_walk(unsigned long long seed, int steps, int *ends, unsigned *visits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = 0, y = 0;
    unsigned long long s = seed + i * 0x9e3779b97f4a7c15ull;
    unsigned p = i * 747796405u + 2891336453u;
    for (int k = 0; k < steps; ++k) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        p = p * 747796405u + 2891336453u;
        unsigned word = ((p >> ((p >> 28) + 4)) ^ p) * 277803737u;
        word = (word >> 22) ^ word;
        if ((s >> 40) & 1) x += word & 1 ? 1 : -1;
        else y += word & 1 ? 1 : -1;
        atomicAdd(&visits[((y & 7) << 3) | (x & 7)], 1u);
    }
    ends[2 * i] = x, ends[2 * i + 1] = y;
}
