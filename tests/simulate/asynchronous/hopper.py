"""A matrix product as it is written for Hopper: a ring of stages filled by tensor copies, one of them multicast to the
two CTAs of a cluster, a producer warp and two warpgroups that multiply, results stored by tensor copies."""

from isa.descriptors import Swizzle
from isa.tensor_maps import TensorMap, tiled

ROWS, COLUMNS, DEPTH = 128, 64, 64
STAGES = 3
A_BYTES, B_BYTES = ROWS * DEPTH * 2, COLUMNS * DEPTH * 2
THREADS = 384
VALUES = COLUMNS // 2

LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"

HEADER = """.version 8.4
.target sm_90a
.address_size 64
.visible .entry product(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128], .param .align 64 .b8 d[128],
                        .param .u32 steps)
.reqntid {threads}, 1, 1
.maxnreg 168
.reqnctapercluster 2, 1, 1
{{
    .reg .pred %p<8>;
    .reg .b32 %r<60>;
    .reg .b64 %rd<24>;
    .reg .f32 %f<{values}>;
    .reg .b16 %h<2>;
    .shared .align 1024 .b8 a_ring[{a_ring}];
    .shared .align 1024 .b8 b_ring[{b_ring}];
    .shared .align 128 .b8 results[{results}];
    .shared .align 8 .b64 full[{stages}];
    .shared .align 8 .b64 empty[{stages}];
"""

PROLOGUE = """
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, a_ring;
    mov.u32 %r3, b_ring;
    mov.u32 %r4, full;
    mov.u32 %r5, empty;
    mov.u32 %r6, %cluster_ctarank;
    ld.param.u32 %r7, [steps];
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra INITIALISED;
{init}
    fence.mbarrier_init.release.cluster;
INITIALISED:
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    shr.u32 %r8, %r1, 7;
    setp.ne.u32 %p2, %r8, 0;
    @%p2 bra MULTIPLY;
"""

PRODUCER = """
    setmaxnreg.dec.sync.aligned.u32 40;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra MEET;
    mov.b64 %rd1, a;
    cvta.param.u64 %rd1, %rd1;
    mov.b64 %rd2, b;
    cvta.param.u64 %rd2, %rd2;
    mov.u32 %r10, %ctaid.x;
    shl.b32 %r11, %r10, 7;
    mov.u32 %r12, %ctaid.y;
    shl.b32 %r12, %r12, 6;
    shl.b32 %r13, %r6, 5;
    add.u32 %r12, %r12, %r13;
    shl.b32 %r14, %r6, 12;
    mov.u32 %r15, 0;
    mov.u32 %r16, 0;
    mov.u32 %r17, 1;
    mov.b16 %h0, 3;
LOAD:
    setp.ge.u32 %p3, %r15, %r7;
    @%p3 bra LOADED;
    shl.b32 %r18, %r16, 3;
    add.u32 %r19, %r5, %r18;
    add.u32 %r20, %r4, %r18;
WAIT_EMPTY:
    mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r19], %r17;
    @!%p4 bra WAIT_EMPTY;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], {stage_bytes};
    mad.lo.u32 %r21, %r16, {a_bytes}, %r2;
    mad.lo.u32 %r22, %r16, {b_bytes}, %r3;
    add.u32 %r22, %r22, %r14;
    shl.b32 %r23, %r15, 6;
    {load}
        [%r21], [%rd1, {{%r23, %r11}}], [%r20];
    {load}.multicast::cluster
        [%r22], [%rd2, {{%r23, %r12}}], [%r20], %h0;
    add.u32 %r15, %r15, 1;
    add.u32 %r16, %r16, 1;
    setp.ne.u32 %p5, %r16, {stages};
    @%p5 bra LOAD;
    mov.u32 %r16, 0;
    xor.b32 %r17, %r17, 1;
    bra LOAD;
LOADED:
    mov.u32 %r24, 0;
TAIL:
    shl.b32 %r18, %r16, 3;
    add.u32 %r19, %r5, %r18;
WAIT_TAIL:
    mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r19], %r17;
    @!%p4 bra WAIT_TAIL;
    add.u32 %r24, %r24, 1;
    add.u32 %r16, %r16, 1;
    setp.ne.u32 %p5, %r16, {stages};
    @%p5 bra SAME_TURN;
    mov.u32 %r16, 0;
    xor.b32 %r17, %r17, 1;
SAME_TURN:
    setp.lt.u32 %p5, %r24, {stages};
    @%p5 bra TAIL;
    bra MEET;
"""

CONSUMER = """
MULTIPLY:
    setmaxnreg.inc.sync.aligned.u32 232;
    sub.u32 %r8, %r8, 1;
    xor.b32 %r30, %r6, 1;
    mapa.shared::cluster.u32 %r31, %r5, %r30;
    mapa.shared::cluster.u32 %r32, %r5, %r6;
    and.b32 %r33, %r1, 127;
    setp.eq.u32 %p6, %r33, 0;
    mov.u32 %r34, 0;
    mov.u32 %r35, 0;
    mov.u32 %r36, 0;
    setp.ne.u32 %p7, 0, 0;
STEP:
    setp.ge.u32 %p3, %r34, %r7;
    @%p3 bra DONE;
    shl.b32 %r37, %r35, 3;
    add.u32 %r38, %r4, %r37;
WAIT_FULL:
    mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r38], %r36;
    @!%p4 bra WAIT_FULL;
    mad.lo.u32 %r39, %r35, {a_bytes}, %r2;
    mad.lo.u32 %r39, %r8, 8192, %r39;
    mad.lo.u32 %r40, %r35, {b_bytes}, %r3;
    and.b32 %r39, %r39, 262143;
    and.b32 %r40, %r40, 262143;
    shr.u32 %r39, %r39, 4;
    shr.u32 %r40, %r40, 4;
    cvt.u64.u32 %rd5, %r39;
    cvt.u64.u32 %rd6, %r40;
    or.b64 %rd5, %rd5, {descriptor};
    or.b64 %rd6, %rd6, {descriptor};
    wgmma.fence.sync.aligned;
{products}
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    add.u32 %r41, %r31, %r37;
    add.u32 %r42, %r32, %r37;
    @%p6 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r41];
    @%p6 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r42];
    add.u32 %r34, %r34, 1;
    add.u32 %r35, %r35, 1;
    setp.ne.u32 %p5, %r35, {stages};
    @%p5 bra STEP;
    mov.u32 %r35, 0;
    xor.b32 %r36, %r36, 1;
    bra STEP;
DONE:
    mov.u32 %r43, results;
    mad.lo.u32 %r43, %r8, 8192, %r43;
    shr.u32 %r44, %r33, 5;
    shr.u32 %r45, %r33, 2;
    and.b32 %r45, %r45, 7;
    and.b32 %r46, %r33, 3;
    mad.lo.u32 %r47, %r44, 16, %r45;
    shl.b32 %r47, %r47, 7;
    add.u32 %r48, %r43, %r47;
    mad.lo.u32 %r48, %r46, 4, %r48;
{stores}
    fence.proxy.async.shared::cta;
    add.u32 %r50, %r8, 1;
    barrier.sync %r50, 128;
    @!%p6 bra MEET;
    mov.b64 %rd3, d;
    cvta.param.u64 %rd3, %rd3;
    mov.u32 %r51, %ctaid.x;
    shl.b32 %r51, %r51, 7;
    mad.lo.u32 %r51, %r8, 64, %r51;
    mov.u32 %r52, %ctaid.y;
    shl.b32 %r52, %r52, 6;
    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {{%r52, %r51}}], [%r43];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
MEET:
    ret;
}}
"""


def products() -> str:
    """Four products of depth 16, the first of the first step without what was there."""
    values = ", ".join(f"%f{each}" for each in range(VALUES))
    lines = []
    for part in range(DEPTH // 16):
        lines += [f"    add.s64 %rd7, %rd5, {2 * part};", f"    add.s64 %rd8, %rd6, {2 * part};"]
        lines.append(
            f"    wgmma.mma_async.sync.aligned.m64n{COLUMNS}k16.f32.f16.f16 {{{values}}}, %rd7, %rd8, %p7, 1, 1, 0, 0;"
        )
        if part == 0:
            lines.append("    setp.eq.u32 %p7, 0, 0;")
    return "\n".join(lines)


def stores() -> str:
    """The accumulators of a thread as halves to its rows of the staged results."""
    lines = []
    for column in range(COLUMNS // 8):
        for half in range(2):
            low = 4 * column + 2 * half
            lines.append(f"    cvt.rn.f16x2.f32 %r49, %f{low + 1}, %f{low};")
            lines.append(f"    st.shared.b32 [%r48+{16 * column + 1024 * half}], %r49;")
    return "\n".join(lines)


def text() -> str:
    """The module."""
    init = "\n".join(
        f"    mbarrier.init.shared::cta.b64 [%r4+{8 * stage}], 1;\n"
        f"    mbarrier.init.shared::cta.b64 [%r5+{8 * stage}], 4;"
        for stage in range(STAGES)
    )
    descriptor = (1 << 62) | ((1024 >> 4) << 32) | (1 << 16)
    return (HEADER + PROLOGUE + PRODUCER + CONSUMER).format(
        threads=THREADS, values=VALUES, a_ring=STAGES * A_BYTES, b_ring=STAGES * B_BYTES, results=2 * 64 * COLUMNS * 2,
        stages=STAGES, init=init, stage_bytes=A_BYTES + B_BYTES, a_bytes=A_BYTES, b_bytes=B_BYTES,
        descriptor=descriptor, load=LOAD, products=products(), stores=stores(),
    )  # fmt: skip


def maps(rows: int, columns: int, depth: int) -> tuple[TensorMap, TensorMap, TensorMap]:
    """The maps of A [rows, depth], B [columns, depth] and D [rows, columns], all halves."""
    swizzle = Swizzle.BYTES_128
    return (
        tiled("f16", (rows, depth), (ROWS, DEPTH), swizzle=swizzle),
        tiled("f16", (columns, depth), (COLUMNS // 2, DEPTH), swizzle=swizzle),
        tiled("f16", (rows, columns), (64, COLUMNS)),
    )
