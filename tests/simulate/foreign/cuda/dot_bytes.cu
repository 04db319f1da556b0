// Products of bytes, four at once, signed and unsigned, and of shorts with bytes.
extern "C" __global__ void dot_bytes(const int *a, const int *b, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = __dp4a(a[i], b[i], 100);
    out[n + i] = (int)__dp4a((unsigned)a[i], (unsigned)b[i], 7u);
    out[2 * n + i] = __dp2a_lo(a[i], b[i], -5) + __dp2a_hi(a[i], b[i], 1);
}
