// nvcc -ptx -std=c++17 -arch=sm_100a: tensor memory through the library's own functions.
#include <cuda/ptx>
namespace p = cuda::ptx;
extern "C" __global__ void fifth_generation(uint32_t *out, uint64_t a, uint64_t b) {
  __shared__ uint32_t place; __shared__ uint64_t bar;
  p::tcgen05_alloc(p::cta_group_1, &place, 64u); p::tcgen05_relinquish_alloc_permit(p::cta_group_1);
  uint32_t t = place; p::tcgen05_mma(p::kind_f16, p::cta_group_1, t, a, b, 0x8000490u, true); p::tcgen05_commit(p::cta_group_1, &bar);
  p::tcgen05_fence_before_thread_sync(); uint32_t r[4]; p::tcgen05_ld_32x32b(r, t); p::tcgen05_wait_ld(); out[threadIdx.x] = r[0] + r[3]; p::tcgen05_dealloc(p::cta_group_1, t, 64u);
}
