// A switch that the compiler turns into a jump by a table.
extern "C" __global__ void switch_table(const int *op, const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    switch (op[i]) {
        case 0: v = v * 3 + y[i]; break;
        case 1: v = v << 2; y[i] = 5; v += y[(i + 1) % n] * 0; break;
        case 2: for (int k = 0; k < (v & 7); ++k) v += k * v; break;
        case 3: v = v / 7; break;
        case 4: v = v % 13 - 4; break;
        case 5: v = __popc(v); break;
        case 6: v = v * v * v; break;
        case 7: while (v > 100) v = v / 2 - 1; break;
        default: v = -1;
    }
    y[i] = v;
}
