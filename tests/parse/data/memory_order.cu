// nvcc -ptx -std=c++17 -arch=sm_90: orders, scopes, cache operators, prefetches and volatile accesses.
#include <cuda/atomic>
extern "C" __global__ void memory_order(int *x, volatile float *v, const float4 *c, cuda::atomic<long, cuda::thread_scope_system> *a, cuda::atomic<unsigned, cuda::thread_scope_block> *b) {
  int i = threadIdx.x; v[i] += 2; float4 f = __ldg(c + i); f.x += __ldcs(x + 1); __stcg(x + 2, __ldca(x + 3)); __stwt(x + 4, __ldcv(x + 5)); __stcs((float4 *)x, f);
  a->fetch_max(i, cuda::memory_order_release); b->fetch_xor(3, cuda::memory_order_relaxed); x[i] = a->exchange(4, cuda::memory_order_acquire) + b->load();
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device); long e = 3; a->compare_exchange_strong(e, 9, cuda::memory_order_acq_rel); __threadfence_block();
}
