// Counts, places and moves of bits; funnel shifts; bytes permuted; 128-bit products.
extern "C" __global__ void bit_tricks(const unsigned *a, const unsigned *b, unsigned *out, const unsigned long long *c, unsigned long long *wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    out[i] = __popc(x) + 64 * __clz(y) + 4096 * __ffs(x);
    out[n + i] = __brev(x) ^ __byte_perm(x, y, 0x5401);
    out[2 * n + i] = __funnelshift_l(x, y, y) + __funnelshift_rc(x, y, x & 63);
    out[3 * n + i] = __umulhi(x, y) + (unsigned)__mulhi((int)x, (int)y) + __umul24(x, y) + __usad(x, y, 5);
    out[4 * n + i] = __uhadd(x, y) ^ __urhadd(x, y);
    unsigned long long p = c[i], q = p ^ 0x9e3779b97f4a7c15ull;
    wide[i] = __umul64hi(p, q) + __brevll(p) + __popcll(q);
    unsigned __int128 z = (unsigned __int128)p * q + p;
    wide[n + i] = (unsigned long long)(z >> 61) + __clzll(p | 1);
    __int128 s = (__int128)(long long)p - (__int128)(long long)q;
    wide[2 * n + i] = (unsigned long long)(s / 1000003);
}
