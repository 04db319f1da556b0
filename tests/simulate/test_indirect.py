"""Indirect branches by a list of labels."""

import numpy as np
import pytest

from ptxgen.parse import parse
from ptxgen.simulate import simulate

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry main(.param .u64 out, .param .u64 index)
{
    .reg .b32 %t, %i, %v; .reg .b64 %p<4>; .reg .pred %q;
    ld.param.u64 %p1, [out]; ld.param.u64 %p2, [index];
    mov.u32 %t, %tid.x; mul.wide.u32 %p3, %t, 4; add.s64 %p1, %p1, %p3; add.s64 %p2, %p2, %p3;
    ld.global.u32 %i, [%p2]; mov.u32 %v, 1000;
    setp.ne.u32 %q, %t, 7;
table: .branchtargets ZERO, ONE, AGAIN, ZERO;
    @%q brx.idx %i, table;
    add.u32 %v, %v, 7; bra DONE;
ZERO:
    add.u32 %v, %v, 10; bra DONE;
AGAIN:
    add.u32 %v, %v, 100; sub.u32 %i, %i, 1; brx.idx %i, table;
ONE:
    add.u32 %v, %v, 1;
DONE:
    bar.warp.sync 0xffffffff;
    st.global.u32 [%p1], %v; ret;
}
"""


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_each_lane_goes_its_way_and_all_meet(seed: int | None):
    index, out = np.random.default_rng(1).integers(0, 4, 64, dtype=np.uint32), np.zeros(64, np.uint32)
    simulate(parse(TEXT), grid=1, block=64, args=(out, index), seed=seed).raise_findings()
    exact = np.choose(index, [1010, 1001, 1101, 1010])
    exact[7] = 1007
    assert (out == exact).all()


def test_an_index_beyond_the_list_is_found():
    index, out = np.ones(32, np.uint32), np.zeros(32, np.uint32)
    index[5] = 4
    report = simulate(parse(TEXT), grid=1, block=32, args=(out, index))
    found = {finding.code: finding for finding in report.findings}
    assert (found["branch.index"].count, found["branch.index"].thread) == (1, (5, 0, 0))
    assert (out == np.where(np.arange(32) == 5, 0, np.where(np.arange(32) == 7, 1007, 1001))).all()
