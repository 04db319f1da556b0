"""What goes wrong with products of warpgroups, on the line that is wrong."""

import numpy as np
import pytest

from isa.descriptors import SharedMatrix
from tests.simulate.asynchronous.kernels import codes, run

FORM = SharedMatrix(0, 128, 256).bits
VARIABLES = """
.reg .f32 %d<8>; .reg .b32 %a<4>; .shared .align 1024 .b8 a[2048]; .shared .align 1024 .b8 b[256];
"""
FILLED = """
mov.u32 %r2, a; mov.u32 %r3, b; mad.lo.u32 %r4, %t, 16, %r2; mad.lo.u32 %r5, %t, 16, %r3;
mov.u32 %r6, 0x3C003C00; mov.b32 %a0, %r6; mov.b32 %a1, %r6; mov.b32 %a2, %r6; mov.b32 %a3, %r6;
setp.lt.u32 %p1, %t, 16;
st.shared.v4.u32 [%r4], {%r6, %r6, %r6, %r6};
@%p1 st.shared.v4.u32 [%r5], {%r6, %r6, %r6, %r6};
fence.proxy.async.shared::cta;
bar.sync 0;
shr.u32 %r7, %r2, 4; cvt.u64.u32 %rd2, %r7; or.b64 %rd2, %rd2, FORM;
shr.u32 %r7, %r3, 4; cvt.u64.u32 %rd3, %r7; or.b64 %rd3, %rd3, FORM;
mov.f32 %d0, 0f00000000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0; mov.f32 %d4, %d0;
""".replace("FORM", str(FORM))
FENCE = "wgmma.fence.sync.aligned;\n"
NAME = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
PRODUCT = f"{NAME} {{%d0, %d1, %d2, %d3}}, %rd2, %rd3, 1, 1, 1, 0, 0;\n"
OF_REGISTERS = f"{NAME} {{%d0, %d1, %d2, %d3}}, {{%a0, %a1, %a2, %a3}}, %rd3, 1, 1, 1, 0;\n"
COMMIT, WAIT = "wgmma.commit_group.sync.aligned;\n", "wgmma.wait_group.sync.aligned 0;\n"
STORE = "st.global.f32 [%out], %d0;\n"
GOOD = FILLED + FENCE + PRODUCT + COMMIT + WAIT + STORE
FAULTY = {
    "no fence at the start": (GOOD.replace(FENCE, ""), "wgmma.fence", NAME),
    "no fence behind an access": (
        FILLED + FENCE + PRODUCT + COMMIT + WAIT + "add.f32 %d1, %d1, %d0;\n" + PRODUCT + COMMIT + WAIT + STORE,
        "wgmma.fence", NAME,
    ),
    "no fence behind a change of A": (
        FILLED + FENCE + "mov.b32 %a1, 0;\n" + OF_REGISTERS + COMMIT + WAIT + STORE, "wgmma.fence", NAME,
    ),
    "accumulators read too early": (
        FILLED + FENCE + PRODUCT + COMMIT + STORE + WAIT, "wgmma.in_flight", "st.global.f32"),
    "accumulators written too early": (
        FILLED + FENCE + PRODUCT + COMMIT + "mov.f32 %d2, 0f00000000;\n" + WAIT + STORE, "wgmma.in_flight", "mov.f32"),
    "A changed too early": (
        FILLED + FENCE + OF_REGISTERS + COMMIT + "mov.b32 %a3, 0;\n" + WAIT + STORE, "wgmma.in_flight", "mov.b32"),
    "never committed": (FILLED + FENCE + PRODUCT + WAIT + STORE, "wgmma.in_flight", "st.global.f32"),
    "never waited for": (FILLED + FENCE + PRODUCT + COMMIT, "async.leaked", NAME),
    "accumulators shifted while under way": (
        FILLED + FENCE + PRODUCT + PRODUCT.replace("%d0, %d1, %d2, %d3", "%d1, %d2, %d3, %d4") + COMMIT + WAIT,
        "wgmma.in_flight", NAME,
    ),
    "shared memory overwritten too early": (
        FILLED + FENCE + PRODUCT + COMMIT + "st.shared.u32 [%r4], %r6;\n" + WAIT + STORE, "race.shared",
        "st.shared.u32",
    ),
    "shared memory of which nothing is written": (
        GOOD.replace("@%p1 st.shared.v4.u32 [%r5], {%r6, %r6, %r6, %r6};", ""), "uninitialised.shared", NAME),
    "no proxy fence": (GOOD.replace("fence.proxy.async.shared::cta;", ""), "proxy.shared", NAME),
    "no barrier": (GOOD.replace("bar.sync 0;", ""), "race.shared", NAME),
    "a place outside": (GOOD.replace("mov.f32 %d0", "add.s64 %rd3, %rd3, 4096; mov.f32 %d0"), "memory.bounds", NAME),
    "bits that no descriptor has": (
        GOOD.replace("mov.f32 %d0", f"or.b64 %rd3, %rd3, {1 << 55}; mov.f32 %d0"), "wgmma.descriptor", NAME),
    "a descriptor for each lane": (
        GOOD.replace("mov.f32 %d0", "cvt.u64.u32 %rd4, %t; add.s64 %rd3, %rd3, %rd4; mov.f32 %d0", 1),
        "wgmma.descriptor", NAME,
    ),
    "a warp that goes elsewhere": (
        GOOD.replace(FENCE, FENCE + "setp.ge.u32 %p2, %t, 96; @%p2 bra END;\n") + "END:", "warpgroup.divergent", NAME),
}  # fmt: skip


def launched(body, seed):
    out = np.zeros(128, np.float32)
    return run(body, VARIABLES, out=out, block=128, directives=".reqntid 128, 1, 1", seed=seed), out


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_nothing_is_found_where_nothing_is_wrong(seed):
    for body in (GOOD, FILLED + FENCE + OF_REGISTERS + COMMIT + WAIT + STORE):
        report, out = launched(body, seed)
        report.raise_findings()
        assert set(out.tolist()) == {16.0}


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("what", FAULTY)
def test_faults_are_found_on_their_line(what, seed):
    body, code, name = FAULTY[what]
    report, _ = launched(body, seed)
    assert (code, name) in codes(report), report.findings
