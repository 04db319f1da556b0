// nvcc -ptx -std=c++17 -arch=sm_90 -rdc=true: kernels that start kernels, and functions of other files.
extern __device__ float elsewhere(float x, int n);
extern __device__ int seen_by_all[];
__global__ void child(float *x, int n) { x[threadIdx.x] = elsewhere(x[n], n) + seen_by_all[n]; }
__device__ float offered(float x) { return x + 1; }
__global__ void parent(float *x) { child<<<2, 32, 64>>>(x, 3); child<<<1, 1, 0, cudaStreamTailLaunch>>>(x, 4); x[0] = offered(x[1]); }
