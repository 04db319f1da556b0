"""Who takes part: masks that do not name their lanes, barriers of fewer threads than come, misaligned at the edge."""

import numpy as np
import pytest

from ptxgen.parse import parse
from ptxgen.simulate import simulate

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry main(.param .u64 out)
{{
.reg .pred %p<6>; .reg .b32 %r<12>; .reg .b64 %rd<4>;
.shared .align 4 .b8 tile[512];
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
and.b32 %r2, %r1, 31; setp.lt.u32 %p1, %r2, 16;
mov.u32 %r9, tile; mad.lo.u32 %r9, %r1, 4, %r9;
{body}
st.global.u32 [%rd1], %r3;
ret;
}}
"""


def run(body, block=32, seed=None):
    out = np.zeros(block, np.uint32)
    report = simulate(parse(HEAD.format(body=body)), grid=1, block=block, args=(out,), seed=seed)
    return {(each.code, each.text.split()[0]) for each in report.findings}, out


OTHERS = "selp.u32 %r4, 0x0000FFFF, 0xFFFF0000, %p1;\n"
GOOD = {
    "halves that name themselves": OTHERS + "shfl.sync.idx.b32 %r3, %r1, 3, 31, %r4;",
    "a mask of all in a register": "mov.u32 %r4, -1; vote.sync.ballot.b32 %r3, %p1, %r4;",
    "half of a warp alone": "mov.u32 %r3, 0; @!%p1 bra PAST;\nredux.sync.add.u32 %r3, %r1, 0xFFFF;\nPAST:",
}
BAD = {
    "a shuffle": ("shfl.sync.bfly.b32 %r3, %r1, 1, 31, 0x7FFFFFFF;", "shfl.sync.bfly.b32"),
    "a vote": ("vote.sync.ballot.b32 %r3, %p1, 0xFFFFFFFE;", "vote.sync.ballot.b32"),
    "a match": ("match.any.sync.b32 %r3, %r1, 0xFFFF;", "match.any.sync.b32"),
    "a sum": ("redux.sync.add.u32 %r3, %r1, 0xFFFF0000;", "redux.sync.add.u32"),
    "an election": ("elect.sync %r3|%p2, 0x7FFFFFFF;", "elect.sync"),
    "a barrier": ("mov.u32 %r3, 0; bar.warp.sync 0xFFFFFFFE;", "bar.warp.sync"),
    "masks that differ": (
        "selp.u32 %r4, 0xFFFFFFFF, 0xFFFF0000, %p1;\nshfl.sync.idx.b32 %r3, %r1, 3, 31, %r4;", "shfl.sync.idx.b32"),
    "half of a warp": (
        "mov.u32 %r3, 0; @!%p1 bra PAST;\nredux.sync.add.u32 %r3, %r1, 0xFFFE;\nPAST:", "redux.sync.add.u32"),
}  # fmt: skip


@pytest.mark.parametrize("what", GOOD)
def test_lanes_that_name_themselves(what):
    assert run(GOOD[what])[0] == set()


@pytest.mark.parametrize("what", BAD)
def test_lanes_that_their_mask_does_not_name(what):
    body, name = BAD[what]
    assert run(body)[0] == {("warp.mask", name)}


EXCHANGE = "st.shared.u32 [%r9], %r1; {barrier} xor.b32 %r5, %r9, {turn}; ld.shared.u32 %r3, [%r5];"


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_a_barrier_of_fewer_threads_lets_no_more_pass(seed):
    """Four warps come to a barrier of two: two at a time pass, and no barrier is left over."""
    found, _ = run("bar.sync 1, 64; mov.u32 %r3, 1;", 128, seed)
    assert found == set()
    found, _ = run("bar.sync 1, 96; mov.u32 %r3, 1;", 128, seed)
    assert found == {("deadlock", "bar.sync")}


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_two_by_two_is_not_all(seed):
    found, out = run(".shared .align 512 .b8 t[512]; mov.u32 %r9, t; mad.lo.u32 %r9, %r1, 4, %r9;"
                     + EXCHANGE.format(barrier="bar.sync 1;", turn=256), 128, seed)  # fmt: skip
    assert found == set()
    assert out.tolist() == (np.arange(128) ^ 64).tolist()
    found, _ = run(".shared .align 512 .b8 t[512]; mov.u32 %r9, t; mad.lo.u32 %r9, %r1, 4, %r9;"
                   + EXCHANGE.format(barrier="bar.sync 1, 64;", turn=256), 128, seed)  # fmt: skip
    assert ("race.shared", "ld.shared.u32") in found or ("race.shared", "st.shared.u32") in found


def test_votes_of_a_barrier_are_of_those_that_pass():
    body = "setp.lt.u32 %p2, %r1, 96; barrier.red.popc.aligned.u32 %r3, 1, 64, %p2;"
    found, out = run(body, 128)
    assert found == set()
    assert out.tolist() == [64] * 64 + [32] * 64


def test_misaligned_at_the_end_of_memory_is_misaligned():
    found, _ = run("mov.u32 %r5, tile; ld.shared.u32 %r3, [%r5+510];")
    assert found == {("memory.misaligned", "ld.shared.u32")}
