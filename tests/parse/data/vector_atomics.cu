// nvcc -ptx -std=c++17 -arch=sm_90: atomics of halves, of vectors and of 128 bits.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void vector_atomics(float4 *v, __half2 *h, __nv_bfloat162 *b, float2 *p, unsigned short *s) {
  int i = threadIdx.x; float4 old = atomicAdd(v + i, make_float4(1, 2, 3, 4)); atomicAdd(h + i, __float2half2_rn(old.x)); atomicAdd(b + i, __float2bfloat162_rn(old.y));
  atomicAdd(p, make_float2(old.z, old.w)); atomicCAS(s + i, (unsigned short)1, (unsigned short)2);
}
