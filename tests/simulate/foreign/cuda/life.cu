// Conway's game of life on a torus of bytes.
extern "C" __global__ void life(const unsigned char *in, unsigned char *out, int n) {
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= n || y >= n) return;
    int count = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (dx || dy) count += in[(y + dy + n) % n * n + (x + dx + n) % n];
    out[y * n + x] = count == 3 || (count == 2 && in[y * n + x]);
}
