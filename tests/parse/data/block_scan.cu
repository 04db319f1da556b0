// nvcc -ptx -std=c++17 -arch=sm_80: a library's reduction and scan over a block.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
extern "C" __global__ void __launch_bounds__(128) block_scan(int *x, float *f) {
  using Reduce = cub::BlockReduce<float, 128>; using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Reduce::TempStorage r; __shared__ typename Scan::TempStorage s;
  int v = x[threadIdx.x], total; Scan(s).ExclusiveSum(v, v, total); float all = Reduce(r).Sum(f[threadIdx.x]);
  x[threadIdx.x] = v + total; if (threadIdx.x == 0) f[0] = all;
}
