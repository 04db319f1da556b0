// The mathematical library in single precision, arguments large enough for the slow reduction.
extern "C" __global__ void float_functions(const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], p = fabsf(v) + 0.5f;
    out[i] = sinf(v * 1e6f);
    out[n + i] = cosf(v);
    out[2 * n + i] = expf(v);
    out[3 * n + i] = logf(p);
    out[4 * n + i] = powf(p, 1.7f);
    out[5 * n + i] = tanhf(v);
    out[6 * n + i] = rsqrtf(p);
    out[7 * n + i] = atan2f(v, p);
    out[8 * n + i] = __expf(v) + __sinf(v) + __fdividef(v, p);
    out[9 * n + i] = lgammaf(p);
}
