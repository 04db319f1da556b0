// nvcc -ptx -std=c++17 -arch=sm_90
extern "C" __global__ void __launch_bounds__(128, 2) assembly(unsigned *x, const void *map) {
  unsigned r, q; unsigned s = (unsigned)__cvta_generic_to_shared((void *)x);
  asm volatile("{ .reg .pred p; .reg .b32 t<2>;\n setp.ne.b32 p, %1, 0; // a comment\n @p add.u32 %0, %1, (1 << 4) + 3;\n @!p mov.u32 %0, 0x1F; /* block */ mov.b32 t1, %0; mov.b32 %0, t1; }" : "=r"(r) : "r"(x[0]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(q) : "r"(s));
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :: "r"(s), "l"(map), "r"(r), "r"(q), "r"(s + 64) : "memory");
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, {%0, %1, %2, %3};" : "+f"(((float *)x)[1]), "+f"(((float *)x)[2]), "+f"(((float *)x)[3]), "+f"(((float *)x)[4]) : "r"(r), "r"(q));
  asm volatile("fence.proxy.async; \n lop3.b32 %0, %1, %0, 7, 0xE8;" : "+r"(r) : "r"(q));
  x[1] = r + q;
}
