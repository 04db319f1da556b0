// nvcc -ptx -std=c++17 -arch=sm_80
#include <cuda/atomic>
extern "C" __global__ void atomics(int *x, unsigned long long *u, double *d, float *f, cuda::atomic<int, cuda::thread_scope_device> *a) {
  atomicMax(x, 3); atomicCAS(u, 4ull, 5ull); atomicAdd(d, 2.0); atomicExch(f, 1.5f); atomicAnd_block(x + 1, 7); atomicAdd_system(x + 2, 1);
  a->fetch_add(3, cuda::memory_order_acq_rel); a->store(2, cuda::memory_order_release); x[3] = a->load(cuda::memory_order_acquire); __threadfence(); __threadfence_system(); __threadfence_block();
  x[4] = __match_any_sync(~0u, x[5]); int p; x[6] = __match_all_sync(~0u, x[7], &p) + p; x[8] = __reduce_add_sync(~0u, x[9]); __nanosleep(20); x[10] = clock64() + __activemask(); __syncwarp();
  if (__isGlobal(x)) __trap(); x[11] = __ldg(x + 12) + __ldcg(x + 13) + __ldcs(x + 14); __stwt(x + 15, 1); x[16] = __syncthreads_count(x[17]) + __syncthreads_or(x[18]);
}
