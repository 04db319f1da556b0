// libcu++: a barrier in shared memory whose phases order asynchronous copies, and atomics with scopes and orders.
#include <cuda/barrier>
#include <cuda/atomic>
extern "C" __global__ void barrier_pipeline(const int *x, int *y, unsigned *count, int tiles) {
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    __shared__ alignas(16) int tile[256];
    if (threadIdx.x == 0) init(&ready, blockDim.x);
    __syncthreads();
    int sum = 0;
    for (int t = 0; t < tiles; ++t) {
        cuda::memcpy_async(tile + 4 * threadIdx.x, x + t * 256 + 4 * threadIdx.x, cuda::aligned_size_t<16>(16), ready);
        ready.arrive_and_wait();
        for (int i = 0; i < 4; ++i) sum += tile[(4 * threadIdx.x + i + 100) % 256];
        ready.arrive_and_wait();
    }
    y[threadIdx.x] = sum;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*count);
    counter.fetch_add(sum & 1, cuda::memory_order_relaxed);
    counter.fetch_max(3, cuda::memory_order_acq_rel);
}
