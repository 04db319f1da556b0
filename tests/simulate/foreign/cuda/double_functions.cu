// The mathematical library in double precision.
extern "C" __global__ void double_functions(const double *x, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i], p = fabs(v) + 0.5;
    out[i] = sin(v);
    out[n + i] = exp(v);
    out[2 * n + i] = log(p);
    out[3 * n + i] = atan2(v, p);
    out[4 * n + i] = cbrt(v);
    out[5 * n + i] = pow(p, v);
    out[6 * n + i] = erf(v);
    out[7 * n + i] = tgamma(p);
    out[8 * n + i] = sinh(v);
}
