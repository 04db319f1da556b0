// Dynamic shared memory shared out to two arrays of different types.
extern "C" __global__ void reverse_dynamic(const short *a, short *b, const double *c, double *d, int n) {
    extern __shared__ __align__(16) unsigned char raw[];
    double *wide = (double *)raw;
    short *narrow = (short *)(wide + n);
    for (int i = threadIdx.x; i < n; i += blockDim.x) wide[i] = c[i], narrow[i] = a[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) d[i] = wide[n - 1 - i], b[i] = narrow[n - 1 - i];
}
