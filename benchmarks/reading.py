"""The least time in which a GPU reads an array: one thread of each block has it copied to shared memory, in pieces,
as many on the way as fit. What a product that is bound by memory is held against."""

from __future__ import annotations

from typing import Any

from ptxgen.runtime import Launch, load

READER = """
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 128 .b8 pieces[];
.visible .entry read(.param .u64 source, .param .u32 count, .param .u32 piece_bytes, .param .u32 stages)
{
    .reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<8>;
    .shared .align 8 .b64 full[32];
    mov.u32 %r18, %tid.x; setp.ne.u32 %p4, %r18, 0;
    @%p4 bra DONE;
    ld.param.u64 %rd1, [source]; ld.param.u32 %r1, [count]; ld.param.u32 %r2, [piece_bytes]; ld.param.u32 %r3, [stages];
    mov.u32 %r4, %ctaid.x; mov.u32 %r5, %nctaid.x; mov.u32 %r6, full; mov.u32 %r7, pieces;
    mov.u32 %r8, 0;
START:
    shl.b32 %r9, %r8, 3; add.u32 %r9, %r9, %r6;
    mbarrier.init.shared.b64 [%r9], 1;
    add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, %r3;
    @%p1 bra START;
    fence.mbarrier_init.release.cluster;
    fence.proxy.async;
    griddepcontrol.wait;
    mov.u32 %r10, %r4; mov.u32 %r11, 0; mov.u32 %r14, 0; mov.u32 %r15, 0;
MORE:
    setp.ge.u32 %p1, %r10, %r1;
    @%p1 bra TAKE;
    sub.u32 %r16, %r15, %r14; setp.ge.u32 %p2, %r16, %r3;
    @%p2 bra TAKE;
    shl.b32 %r9, %r11, 3; add.u32 %r9, %r9, %r6;
    mad.lo.u32 %r17, %r11, %r2, %r7;
    mul.wide.u32 %rd2, %r10, %r2; add.u64 %rd2, %rd2, %rd1;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r9], %r2;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r17], [%rd2], %r2, [%r9];
    add.u32 %r10, %r10, %r5; add.u32 %r15, %r15, 1;
    add.u32 %r11, %r11, 1; setp.eq.u32 %p1, %r11, %r3; selp.u32 %r11, 0, %r11, %p1;
    bra MORE;
TAKE:
    setp.eq.u32 %p1, %r14, %r15;
    @%p1 bra DONE;
    rem.u32 %r16, %r14, %r3; div.u32 %r17, %r14, %r3; and.b32 %r17, %r17, 1;
    shl.b32 %r9, %r16, 3; add.u32 %r9, %r9, %r6;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p3, [%r9], %r17;
    @!%p3 bra WAIT;
    add.u32 %r14, %r14, 1;
    bra MORE;
DONE:
    ret;
}
"""
GRIDS = ((132, 65536, 3), (132, 32768, 6), (264, 32768, 3), (264, 16384, 6), (528, 8192, 6))


def readers(arrays: list[Any]) -> dict[str, list[Launch]]:
    """For each grid, a launch for each array that reads the whole of it, of a size that the pieces divide."""
    read = load(READER, stays=True)["read"]
    found = {}
    for blocks, piece, stages in GRIDS:
        shared = piece * stages
        found[f"{blocks} blocks, {stages} x {piece >> 10} KB"] = [
            read.prepare(
                a, a.nbytes // piece, piece, stages, grid=blocks, block=32, shared_bytes=shared, overlapped=True
            )
            for a in arrays
        ]
    return found
