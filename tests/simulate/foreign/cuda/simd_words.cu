// Four bytes or two shorts of a word at once.
extern "C" __global__ void simd_words(const unsigned *a, const unsigned *b, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = __vadd4(a[i], b[i]);
    out[n + i] = __vabsdiffu4(a[i], b[i]);
    out[2 * n + i] = __vmaxs2(a[i], b[i]);
    out[3 * n + i] = __vsubss4(a[i], b[i]);
    out[4 * n + i] = __vcmpgtu4(a[i], b[i]);
    out[5 * n + i] = __vavgs4(a[i], b[i]);
    out[6 * n + i] = __vsadu4(a[i], b[i]);
    out[7 * n + i] = __vaddus2(a[i], b[i]);
}
