// nvcc -ptx -std=c++17 -arch=sm_80: names with templates, namespaces and operators in them.
namespace outer { namespace inner {
template <typename T, int N> struct Box { T values[N]; __device__ __noinline__ T operator()(int i) const { return values[i % N] + T(N); } };
template <typename T> __device__ __noinline__ T twice(T x) { return x + x; }
template <> __device__ __noinline__ double twice(double x) { return x * 3; }
} }
template <typename T, int N> __global__ void fill(outer::inner::Box<T, N> *boxes, T *out) { out[threadIdx.x] = boxes[blockIdx.x](threadIdx.x) + outer::inner::twice(out[0]); }
template __global__ void fill<float, 3>(outer::inner::Box<float, 3> *, float *);
template __global__ void fill<double, 5>(outer::inner::Box<double, 5> *, double *);
template __global__ void fill<unsigned char, 16>(outer::inner::Box<unsigned char, 16> *, unsigned char *);
