// PTX in the program: carries, predicates, permutations, lanes.
extern "C" __global__ void inline_ptx(const uint4 *a, const uint4 *b, uint4 *sum, unsigned *other) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 x = a[i], y = b[i], z;
    asm("add.cc.u32 %0, %4, %8;\n\taddc.cc.u32 %1, %5, %9;\n\taddc.cc.u32 %2, %6, %10;\n\taddc.u32 %3, %7, %11;"
        : "=r"(z.x), "=r"(z.y), "=r"(z.z), "=r"(z.w) : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
    sum[i] = z;
    unsigned lane, word, logic;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("{ .reg .pred p;\n\tsetp.gt.s32 p, %1, %2;\n\tselp.b32 %0, %1, %2, p;\n\t@p bfe.u32 %0, %0, 3, 11; }" : "=r"(word) : "r"(x.x), "r"(y.x));
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(logic) : "r"(x.x), "r"(x.y), "r"(x.z));
    other[i] = lane + word + logic;
}
