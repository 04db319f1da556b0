// Vectors of 16 bytes: the parts of a double2, float4 and uchar4 shuffled.
extern "C" __global__ void copy_vectors(const float4 *a, float4 *b, const double2 *c, double2 *d, const uchar4 *e, uchar4 *f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = a[i];
    b[i] = make_float4(v.w, v.z, v.y, v.x);
    double2 w = c[i];
    d[i] = make_double2(w.y, w.x);
    uchar4 u = e[i];
    f[i] = make_uchar4(u.y, u.x, u.w, u.z);
}
