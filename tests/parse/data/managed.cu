// nvcc -ptx -std=c++17 -arch=sm_80: managed variables, dynamic and static shared memory of several names.
__managed__ int counter = 5;
__managed__ double history[8];
extern __shared__ unsigned char dynamic[];
extern "C" __global__ void managed(int *x) {
  __shared__ int one; __shared__ double2 pairs[16]; __shared__ char text[3];
  int i = threadIdx.x;
  if (i == 0) { one = atomicAdd(&counter, 1); text[1] = 'x'; }
  dynamic[i] = (unsigned char)i; pairs[i & 15].y = history[i & 7];
  __syncthreads();
  x[i] = one + dynamic[i ^ 1] + (int)pairs[(i + 1) & 15].y + text[1];
}
