// Reductions and votes of a warp by single instructions.
extern "C" __global__ void warp_reductions(const int *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
    out[i] = __reduce_add_sync(~0u, v);
    out[n + i] = __reduce_min_sync(~0u, v) ^ __reduce_max_sync(~0u, v);
    out[2 * n + i] = __reduce_xor_sync(~0u, (unsigned)v);
    out[3 * n + i] = __all_sync(~0u, v > -900) + 2 * __any_sync(~0u, v > 900) + 4 * __uni_sync(~0u, v & 1);
    int agree;
    unsigned mask = __match_all_sync(~0u, i / 64, &agree);
    out[4 * n + i] = (int)mask + agree;
}
