// nvcc -ptx -std=c++17 -arch=sm_80
struct Big { double a[3]; int n; char tail[5]; };
struct Small { float x, y, z; };
__managed__ int shared_with_host = 3; __device__ Small points[2] = {{1, 2, 3}, {4, 5, 6}}; __device__ const char *words[2] = {"one", "two"};
__device__ int grid2[2][3] = {{1, 2, 3}, {4, -5, 6}}; __device__ double pi = 3.14159265358979; __device__ int *inside = &grid2[1][1];
__device__ __noinline__ Big pass(Big b, Small s) { b.n += (int)s.y; b.a[1] = s.x; return b; }
extern "C" __global__ void structs(const __grid_constant__ Big big, Small s, Big *out, int i) {
  int local[16]; for (int k = 0; k < 16; k++) local[k] = big.n * k; Big r = pass(big, points[i]); r.n += local[i] + shared_with_host + words[i][1] + grid2[i][2] + *inside; r.a[0] = pi; out[threadIdx.x] = r;
}
