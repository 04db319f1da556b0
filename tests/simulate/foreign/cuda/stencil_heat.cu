// Five points of a plane of doubles, borders fixed.
extern "C" __global__ void stencil_heat(const double *u, double *v, int width, int height, double k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    bool border = x == 0 || y == 0 || x == width - 1 || y == height - 1;
    v[i] = border ? u[i] : __dadd_rn(u[i], __dmul_rn(k, u[i - 1] + u[i + 1] + u[i - width] + u[i + width] - 4.0 * u[i]));
}
