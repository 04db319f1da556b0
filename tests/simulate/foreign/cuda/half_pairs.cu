// Pairs of f16: fused products, comparisons, conversions, roots.
#include <cuda_fp16.h>
extern "C" __global__ void half_pairs(const half2 *a, const half2 *b, half2 *out, float2 *wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half2 x = a[i], y = b[i];
    out[i] = __hfma2(x, y, __hadd2(x, y));
    out[n + i] = __hmin2(__hmul2(x, y), __hsub2(x, y));
    out[2 * n + i] = __hgt2(x, y);
    out[3 * n + i] = __h2div(x, __habs2(y));
    wide[i] = __half22float2(__halves2half2(__low2half(y), __high2half(x)));
    wide[n + i] = make_float2(__hlt(x.x, y.y) ? 1.0f : 0.0f, __half2float(hsqrt(__habs(x.x))));
}
