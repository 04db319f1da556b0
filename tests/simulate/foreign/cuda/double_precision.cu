// Doubles: division, square root, fused, remainders, conversions, directed roundings.
extern "C" __global__ void double_precision(const double *a, const double *b, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i], y = b[i];
    out[i] = x / y;
    out[n + i] = sqrt(fabs(x));
    out[2 * n + i] = fma(x, y, -1.0);
    out[3 * n + i] = fmod(x, y);
    out[4 * n + i] = __ddiv_rd(x, y) - __dadd_ru(x, y);
    out[5 * n + i] = (double)(long long)(x * 1e6) + (double)(float)y + rint(x) + floor(y);
    out[6 * n + i] = fmin(x, y) * fmax(x, -y) + copysign(x, y);
}
