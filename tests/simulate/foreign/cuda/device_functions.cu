// Functions that are called: structures by value and returned, pointers to locals, doubles.
struct Vector { float x, y, z; int tag; };
__noinline__ __device__ Vector cross(Vector a, Vector b) {
    return {__fmul_rn(a.y, b.z) - __fmul_rn(a.z, b.y), __fmul_rn(a.z, b.x) - __fmul_rn(a.x, b.z), __fmul_rn(a.x, b.y) - __fmul_rn(a.y, b.x), a.tag + b.tag};
}
__noinline__ __device__ void normalise(Vector *v) {
    float length = sqrtf(v->x * v->x + v->y * v->y + v->z * v->z);
    v->x /= length, v->y /= length, v->z /= length;
}
__noinline__ __device__ double dot(Vector a, Vector b) { return (double)a.x * b.x + (double)a.y * b.y + (double)a.z * b.z; }
extern "C" __global__ void device_functions(const float *p, float *out, double *dots, int *tags) {
    int i = threadIdx.x;
    Vector a = {p[6 * i], p[6 * i + 1], p[6 * i + 2], i}, b = {p[6 * i + 3], p[6 * i + 4], p[6 * i + 5], 1000};
    Vector c = cross(a, b);
    if (i % 3) normalise(&c);
    out[3 * i] = c.x, out[3 * i + 1] = c.y, out[3 * i + 2] = c.z;
    dots[i] = dot(c, a);
    tags[i] = c.tag;
}
