// nvcc -ptx -std=c++17 -arch=sm_90: bounds of launches and registers.
extern "C" __global__ void __launch_bounds__(256, 2, 8) bounded(float *x) { x[threadIdx.x] += 1; }
extern "C" __global__ void __maxnreg__(64) few_registers(float *x) { x[threadIdx.x] *= 2; }
extern "C" __global__ void __block_size__((64, 2, 1), (2, 1, 1)) sized(float *x) { x[threadIdx.x + blockIdx.x] -= 1; }
extern "C" __global__ void __cluster_dims__(2) clustered(float *x) { x[threadIdx.x] += 3; }
