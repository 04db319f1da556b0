"""Small pipelines by hand, each with what it computes: copies in bulk into a ring, out of two buffers, words sent
between the CTAs of a cluster, copies by lane that arrive at a barrier, products with two groups under way.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

from isa.descriptors import SharedMatrix, Swizzle
from ptxgen.ir import Module
from tests.simulate.asynchronous import test_wgmma
from tests.simulate.asynchronous.kernels import module


@frozen
class Pipeline:
    """A kernel, how it is launched, its arguments (made anew), and what the last of them is to hold afterwards."""

    module: Module
    grid: int
    block: int
    cluster: int
    args: Callable[[], list[Any]]
    wanted: Any


def words(count: int) -> Any:
    return np.arange(count, dtype=np.uint32) * np.uint32(2654435761) >> np.uint32(20)


RING = """
setp.ne.u32 %p1, %t, 0;
mov.u32 %r2, tile; mov.u32 %r3, full; mov.u32 %r4, empty;
@%p1 bra MADE;
mbarrier.init.shared::cta.b64 [full], 1; mbarrier.init.shared::cta.b64 [full+8], 1;
mbarrier.init.shared::cta.b64 [empty], 64; mbarrier.init.shared::cta.b64 [empty+8], 64;
MADE:
bar.sync 0;
mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r10, 0;
setp.lt.u32 %p3, %t, 64;
@%p3 bra TAKE;
setp.ne.u32 %p4, %t, 64;
@%p4 bra END;
mov.u32 %r6, 1;
ld.param.u64 %rd1, [in0];
FILL:
and.b32 %r7, %r5, 1; shl.b32 %r8, %r7, 3; add.u32 %r9, %r4, %r8; add.u32 %r11, %r3, %r8;
W1:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], %r6;
@!%p2 bra W1;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 256;
shl.b32 %r12, %r7, 8; add.u32 %r12, %r12, %r2;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%rd1], 256, [%r11];
add.s64 %rd1, %rd1, 256;
add.u32 %r5, %r5, 1;
and.b32 %r7, %r5, 1; setp.eq.u32 %p5, %r7, 0; @%p5 xor.b32 %r6, %r6, 1;
setp.lt.u32 %p5, %r5, 6; @%p5 bra FILL;
bra END;
TAKE:
and.b32 %r7, %r5, 1; shl.b32 %r8, %r7, 3; add.u32 %r9, %r4, %r8; add.u32 %r11, %r3, %r8;
W2:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r11], %r6;
@!%p2 bra W2;
shl.b32 %r12, %r7, 8; add.u32 %r12, %r12, %r2; mad.lo.u32 %r12, %t, 4, %r12;
ld.shared.u32 %r13, [%r12];
mbarrier.arrive.shared::cta.b64 _, [%r9];
mad.lo.u32 %r10, %r10, 3, %r13;
add.u32 %r5, %r5, 1;
and.b32 %r7, %r5, 1; setp.eq.u32 %p5, %r7, 0; @%p5 xor.b32 %r6, %r6, 1;
setp.lt.u32 %p5, %r5, 6; @%p5 bra TAKE;
st.global.u32 [%out], %r10;
END:
"""


def ring() -> Pipeline:
    """Six tiles through two stages: a thread that copies, two warps that take; it wraps twice."""
    variables = ".shared .align 128 .b8 tile[512]; .shared .align 8 .b64 full[2]; .shared .align 8 .b64 empty[2];"
    source = words(6 * 64)
    total = np.zeros(64, np.uint32)
    for tile in source.reshape(6, 64):
        total = total * np.uint32(3) + tile
    made = module(RING, variables, ["in0"])
    return Pipeline(made, 1, 96, 1, lambda: [source.copy(), np.zeros(64, np.uint32)], total)


OUT = """
mov.u32 %r2, tile; mad.lo.u32 %r3, %t, 4, %r2; setp.ne.u32 %p1, %t, 0; mov.u32 %r4, 0;
ld.param.u64 %rd1, [outputs];
NEXT:
@!%p1 cp.async.bulk.wait_group.read 1;
bar.sync 0;
and.b32 %r5, %r4, 1; shl.b32 %r5, %r5, 8;
add.u32 %r6, %r3, %r5; mad.lo.u32 %r7, %r4, 100, %t;
st.shared.u32 [%r6], %r7;
fence.proxy.async.shared::cta;
bar.sync 1;
add.u32 %r8, %r2, %r5;
@!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r8], 256;
@!%p1 cp.async.bulk.commit_group;
add.s64 %rd1, %rd1, 256;
add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 5; @%p2 bra NEXT;
@!%p1 cp.async.bulk.wait_group.read 0;
"""


def stores() -> Pipeline:
    """Five tiles out through two buffers, one copy under way while the next is made."""
    wanted = (100 * np.arange(5)[:, None] + np.arange(64)).astype(np.uint32).reshape(-1)
    made = module(OUT, ".shared .align 128 .b8 tile[512];")
    return Pipeline(made, 1, 64, 1, lambda: [np.zeros(320, np.uint32)], wanted)


SENT = """
mov.u32 %r2, tile; mad.lo.u32 %r3, %t, 4, %r2; setp.ne.u32 %p1, %t, 0;
mov.u32 %r4, %cluster_ctarank; xor.b32 %r5, %r4, 1;
@%p1 bra MADE;
mbarrier.init.shared::cta.b64 [full], 1; mbarrier.init.shared::cta.b64 [full+8], 1;
mbarrier.init.shared::cta.b64 [empty], 32; mbarrier.init.shared::cta.b64 [empty+8], 32;
MADE:
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
mov.u32 %r6, full; mov.u32 %r7, empty;
mapa.shared::cluster.u32 %r8, %r6, %r5; mapa.shared::cluster.u32 %r9, %r7, %r5;
mapa.shared::cluster.u32 %r10, %r3, %r5;
mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r20, 1; mad.lo.u32 %r13, %r4, 1000, %t;
STEP:
and.b32 %r14, %r11, 1; shl.b32 %r15, %r14, 3; shl.b32 %r16, %r14, 7;
add.u32 %r17, %r7, %r15;
W1:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r17], %r20;
@!%p2 bra W1;
add.u32 %r17, %r6, %r15;
@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r17], 128;
add.u32 %r18, %r10, %r16; add.u32 %r19, %r8, %r15;
st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r18], %r13, [%r19];
W2:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r17], %r12;
@!%p2 bra W2;
add.u32 %r18, %r3, %r16;
ld.shared.u32 %r21, [%r18];
mad.lo.u32 %r13, %r13, 3, %r21;
add.u32 %r19, %r9, %r15;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19];
add.u32 %r11, %r11, 1; and.b32 %r14, %r11, 1;
setp.eq.u32 %p3, %r14, 0; @%p3 xor.b32 %r12, %r12, 1; @%p3 xor.b32 %r20, %r20, 1;
setp.lt.u32 %p4, %r11, 5; @%p4 bra STEP;
st.global.u32 [%out], %r13;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
"""


def exchange() -> Pipeline:
    """Two CTAs send each other five rounds of words through two buffers."""
    variables = ".shared .align 128 .b8 tile[256]; .shared .align 8 .b64 full[2]; .shared .align 8 .b64 empty[2];"
    state = np.stack([np.arange(32), 1000 + np.arange(32)]).astype(np.uint32)
    for _ in range(5):
        state = state * np.uint32(3) + state[::-1]
    made = module(SENT, variables)
    return Pipeline(made, 2, 32, 2, lambda: [np.zeros(64, np.uint32)], state.reshape(-1))


LANES = """
mov.u32 %r2, tile; mad.lo.u32 %r3, %t, 4, %r2; setp.ne.u32 %p1, %t, 0;
@%p1 bra MADE;
mbarrier.init.shared::cta.b64 [full], 32; mbarrier.init.shared::cta.b64 [full+8], 32;
mbarrier.init.shared::cta.b64 [empty], 32; mbarrier.init.shared::cta.b64 [empty+8], 32;
MADE:
bar.sync 0;
mov.u32 %r4, full; mov.u32 %r5, empty; mov.u32 %r6, 0; mov.u32 %r10, 0;
setp.lt.u32 %p3, %t, 32;
mov.u32 %r7, 1;
@%p3 bra TAKE;
and.b32 %r8, %t, 31;
ld.param.u64 %rd1, [in0]; mad.wide.u32 %rd1, %r8, 4, %rd1; mad.lo.u32 %r9, %r8, 4, %r2;
FILL:
and.b32 %r11, %r6, 1; shl.b32 %r12, %r11, 3; add.u32 %r13, %r5, %r12; add.u32 %r14, %r4, %r12;
W1:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r13], %r7;
@!%p2 bra W1;
shl.b32 %r15, %r11, 7; add.u32 %r15, %r15, %r9;
cp.async.ca.shared.global [%r15], [%rd1], 4;
cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r14];
add.s64 %rd1, %rd1, 128;
add.u32 %r6, %r6, 1; and.b32 %r11, %r6, 1; setp.eq.u32 %p5, %r11, 0; @%p5 xor.b32 %r7, %r7, 1;
setp.lt.u32 %p5, %r6, 5; @%p5 bra FILL;
cp.async.wait_all;
bra END;
TAKE:
mov.u32 %r7, 0;
LOOP:
and.b32 %r11, %r6, 1; shl.b32 %r12, %r11, 3; add.u32 %r13, %r5, %r12; add.u32 %r14, %r4, %r12;
W2:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r14], %r7;
@!%p2 bra W2;
shl.b32 %r15, %r11, 7; xor.b32 %r16, %r3, 32; add.u32 %r15, %r15, %r16;
ld.shared.u32 %r17, [%r15];
mbarrier.arrive.shared::cta.b64 _, [%r13];
mad.lo.u32 %r10, %r10, 3, %r17;
add.u32 %r6, %r6, 1; and.b32 %r11, %r6, 1; setp.eq.u32 %p5, %r11, 0; @%p5 xor.b32 %r7, %r7, 1;
setp.lt.u32 %p5, %r6, 5; @%p5 bra LOOP;
st.global.u32 [%out], %r10;
END:
"""


def lanes() -> Pipeline:
    """Five tiles that a warp copies lane by lane and another takes, each lane another's word."""
    variables = ".shared .align 128 .b8 tile[256]; .shared .align 8 .b64 full[2]; .shared .align 8 .b64 empty[2];"
    source = words(5 * 32)
    total = np.zeros(32, np.uint32)
    for tile in source.reshape(5, 32):
        total = total * np.uint32(3) + tile[np.arange(32) ^ 8]
    made = module(LANES, variables, ["in0"])
    return Pipeline(made, 1, 64, 1, lambda: [source.copy(), np.zeros(32, np.uint32)], total)


def _groups() -> str:
    """Two chains of products in two sets of accumulators, each stored while the other is under way."""
    first, second = (", ".join(f"%{name}{each}" for each in range(4)) for name in "de")
    product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
    stores = "\n".join(f"st.global.f32 [%out+{512 * each}], %{{name}}{each};" for each in range(4))
    return f"""
    .reg .f32 %d<4>; .reg .f32 %e<4>;
    mov.u32 %r2, a; mov.u32 %r3, b; ld.param.u64 %rd1, [in0]; mad.wide.u32 %rd1, %t, 16, %rd1;
    mad.lo.u32 %r4, %t, 16, %r2; mad.lo.u32 %r5, %t, 16, %r3;
    ld.global.v4.u32 {{%r10, %r11, %r12, %r13}}, [%rd1]; st.shared.v4.u32 [%r4], {{%r10, %r11, %r12, %r13}};
    setp.ge.u32 %p1, %t, 16; @%p1 bra COPIED;
    ld.global.v4.u32 {{%r10, %r11, %r12, %r13}}, [%rd1+2048]; st.shared.v4.u32 [%r5], {{%r10, %r11, %r12, %r13}};
    COPIED:
    fence.proxy.async.shared::cta;
    bar.sync 0;
    shr.u32 %r6, %r2, 4; cvt.u64.u32 %rd2, %r6; or.b64 %rd2, %rd2, {SharedMatrix(0, 128, 256).bits};
    shr.u32 %r6, %r3, 4; cvt.u64.u32 %rd3, %r6; or.b64 %rd3, %rd3, {SharedMatrix(0, 128, 256).bits};
    wgmma.fence.sync.aligned;
    {product} {{{first}}}, %rd2, %rd3, 0, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    {product} {{{second}}}, %rd2, %rd3, 0, 1, 1, 0, 0;
    {product} {{{second}}}, %rd2, %rd3, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 1;
    {stores.replace("{name}", "d")}
    wgmma.fence.sync.aligned;
    {product} {{{first}}}, %rd2, %rd3, 1, -1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 1;
    add.s64 %out, %out, 2048;
    {stores.replace("{name}", "e")}
    wgmma.wait_group.sync.aligned 0;
    add.s64 %out, %out, 2048;
    {stores.replace("{name}", "d")}
    """


def groups() -> Pipeline:
    """Products in two groups under way at once."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(-4, 5, (64, 16)).astype(np.float16), rng.integers(-4, 5, (8, 16)).astype(np.float16)
    laid = [test_wgmma.k_major(each.view(np.uint8).reshape(-1, 32), Swizzle.NONE)[0] for each in (a, b)]
    source = np.concatenate(laid).view(np.uint32)
    once = test_wgmma.accumulators(a.astype(np.float32) @ b.astype(np.float32).T)
    made = module(_groups(), ".shared .align 128 .b8 a[2048]; .shared .align 128 .b8 b[256];", ["in0"],
                  ".reqntid 128, 1, 1")  # fmt: skip
    wanted = np.concatenate([once, 2 * once, 0 * once]).reshape(-1)
    return Pipeline(made, 1, 128, 1, lambda: [source.copy(), np.zeros(3 * 4 * 128, np.float32)], wanted)


PIPELINES = {each.__name__: each for each in (ring, stores, exchange, lanes, groups)}
