// nvcc -ptx -std=c++17 -arch=sm_90a
extern "C" __global__ void __launch_bounds__(128) group(float *c, unsigned long long da, unsigned long long db) {
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;\n");
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(da), "l"(db), "r"(1));
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; setmaxnreg.inc.sync.aligned.u32 240;" ::: "memory");
  for (int i = 0; i < 4; i++) c[threadIdx.x * 4 + i] = d[i];
}
