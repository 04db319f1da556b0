// nvcc -ptx -std=c++17 -arch=sm_80 --extended-lambda: lambdas as arguments of kernels, calls through pointers to functions.
template <typename F> __global__ void apply(F f, float *x) { x[threadIdx.x] = f(x[threadIdx.x]); }
void host(float *x, float a) { auto f = [=] __device__(float v) { return v * a + 1; }; apply<<<1, 32>>>(f, x); }
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ int (*operations[2])(int, int) = {plus, minus};
extern "C" __global__ void chosen(int *x) { x[0] = operations[x[1] & 1](x[2], x[3]); }
