// Functions by pointers of a table, and virtual ones of objects in local memory.
typedef float (*Operation)(float, float);
__device__ float plus(float a, float b) { return a + b; }
__device__ float times(float a, float b) { return a * b; }
__device__ float less(float a, float b) { return a - b; }
__device__ Operation table[3] = {plus, times, less};
struct Shape {
    __device__ virtual float area() const = 0;
};
struct Square : Shape {
    float side;
    __device__ Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};
struct Strip : Shape {
    float a, b;
    __device__ Strip(float x, float y) : a(x), b(y) {}
    __device__ float area() const override { return a * b + 1.0f; }
};
__noinline__ __device__ float measure(const Shape *shape) { return shape->area(); }
extern "C" __global__ void function_pointers(const float *x, const float *y, float *z, float *areas) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    z[i] = table[i % 3](x[i], y[i]);
    Square square(x[i]);
    Strip strip(x[i], y[i]);
    areas[i] = measure(i & 1 ? (const Shape *)&square : (const Shape *)&strip);
}
