"""Copies and reductions of runs of bytes, and stores that end at an mbarrier."""

import numpy as np
import pytest

from tests.simulate.asynchronous.kernels import codes, run

SHARED = ".shared .align 128 .b8 tile[1024]; .shared .align 128 .b8 other[1024]; .shared .align 8 .b64 bar;"
MAKE = """
setp.ne.u32 %p1, %t, 0;
mov.u32 %r2, tile; mad.lo.u32 %r1, %t, 4, %r2;
@%p1 bra MADE;
mbarrier.init.shared::cta.b64 [bar], 1;
MADE:
bar.sync 0;
"""
WAIT = """
W:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
@!%p2 bra W;
"""
LOAD = """
ld.param.u64 %rd1, [in0];
@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
@!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 128, [bar];
"""
STORE = """
fence.proxy.async.shared::cta;
bar.sync 0;
@%p1 bra END;
ld.param.u64 %rd1, [in0];
{copy}
cp.async.bulk.commit_group;
cp.async.bulk.wait_group{read} 0;
END:
"""


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_into_shared_memory_and_out_again(seed):
    source, out = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)
    body = (
        MAKE
        + LOAD.replace("128", "256")
        + WAIT
        + """
    ld.shared.u32 %r3, [%r1];
    add.u32 %r3, %r3, 1;
    st.shared.u32 [%r1], %r3;
    """
        + STORE.format(
            copy="""
    ld.param.u64 %rd2, [outputs];
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 256;
    """,
            read=".read",
        )
    )
    run(body, SHARED, args=(source,), out=out, block=64, seed=seed).raise_findings()
    assert out.tolist() == (source + 1).tolist()


REDUCTIONS = [
    ("add", "u32", np.add), ("add", "f32", np.add), ("min", "s32", np.minimum), ("max", "u64", np.maximum),
    ("xor", "b64", np.bitwise_xor), ("add.noftz", "f16", np.add), ("max", "f16", np.maximum),
    ("inc", "u32", lambda old, new: np.where(old >= new, 0, old + 1)),
    ("dec", "u32", lambda old, new: np.where((old == 0) | (old > new), new, old - 1)),
]  # fmt: skip


@pytest.mark.parametrize("op, element, model", REDUCTIONS)
def test_runs_are_combined_with_global_memory_by_every_cta(op, element, model):
    dtype = {"u": "u", "s": "i", "f": "f", "b": "u"}[element[0]] + str(int(element[1:]) // 8)
    rng = np.random.default_rng(2)
    there, come = (rng.integers(0, 30, 128 // int(dtype[1:])).astype(dtype) for _ in range(2))
    wanted = there
    for _ in range(3):
        wanted = model(wanted, come).astype(dtype)
    body = MAKE + "ld.param.u64 %rd3, [in1]; mad.wide.u32 %rd3, %t, 4, %rd3; ld.global.u32 %r3, [%rd3];\n"
    body += "st.shared.u32 [%r1], %r3;\n" + STORE.format(
        copy=f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{element} [%rd1], [tile], 128;", read=""
    )
    out = np.zeros(96, np.uint32)
    run(body, SHARED, args=(there, come), out=out, grid=3).raise_findings()
    assert there.tolist() == wanted.tolist()


def test_chosen_bytes_are_written():
    there, out = np.full(128, 7, np.uint8), np.zeros(32, np.uint32)
    body = (
        MAKE
        + "st.shared.u32 [%r1], 0x04030201;\nmov.b16 %h1, 0x8105;\n"
        + STORE.format(copy="cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [tile], 128, %h1;", read="")
    )
    made = run(body, SHARED, args=(there,), out=out, judged=False)
    made.raise_findings()
    wanted = [[7] * 16 for _ in range(8)]
    for row in wanted:
        for byte in (0, 2, 8, 15):
            row[byte] = byte % 4 + 1
    assert there.reshape(8, 16).tolist() == wanted


def test_prefetches_only_look():
    source, out = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    body = "ld.param.u64 %rd1, [in0]; cp.async.bulk.prefetch.L2.global [%rd1], {size};"
    run(body.format(size=128), args=(source,), out=out).raise_findings()
    assert codes(run(body.format(size=2048), args=(source,), out=out)) == [
        ("memory.bounds", "cp.async.bulk.prefetch.L2.global")]  # fmt: skip


FAULTY = {
    "no wait": (MAKE + LOAD + "ld.shared.u32 %r3, [%r1]; st.global.u32 [%out], %r3;", "async.shared", "ld.shared.u32"),
    "a wait of one thread, and nothing that orders the others behind it": (
        MAKE + LOAD + "@%p1 bra PAST;" + WAIT + "PAST: setp.lt.u32 %p4, %t, 32; @%p4 bra END;\n"
        "ld.shared.u32 %r3, [%r2]; st.global.u32 [%out], %r3;\nEND:", ("async.shared", "race.shared"), "ld.shared.u32",
    ),
    "a write where a copy is to write": (
        MAKE + LOAD + "@!%p1 st.shared.u32 [tile+16], 1;\n" + WAIT, "async.shared", "st.shared.u32",
    ),
    "a copy over what others still read": (
        MAKE + "st.shared.u32 [%r1], %t;\nfence.proxy.async;\nbar.sync 0;\nld.shared.u32 %r4, [%r1];\n" + LOAD + WAIT,
        "race.shared", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
    ),
    "no fence before a copy out": (
        MAKE + "st.shared.u32 [%r1], %t;\nbar.sync 0;\n@%p1 bra END;\nld.param.u64 %rd1, [in0];\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;\ncp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group.read 0;\nEND:", "proxy.shared", "cp.async.bulk.global.shared::cta.bulk_group",
    ),
    "a fence for global memory before a copy out of shared memory": (
        MAKE + "st.shared.u32 [%r1], %t;\nfence.proxy.async.global;\nbar.sync 0;\n@%p1 bra END;\n"
        "ld.param.u64 %rd1, [in0];\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nEND:",
        "proxy.shared", "cp.async.bulk.global.shared::cta.bulk_group",
    ),
    "no barrier before a copy out": (
        MAKE + "st.shared.u32 [%r1], %t;\n" + STORE.replace("bar.sync 0;", "").format(
            copy="cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;", read=".read"),
        "race.shared", "cp.async.bulk.global.shared::cta.bulk_group",
    ),
    "a source overwritten before it was read": (
        MAKE + "st.shared.u32 [%r1], %t;\nfence.proxy.async;\nbar.sync 0;\n@%p1 bra END;\nld.param.u64 %rd1, [in0];\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;\ncp.async.bulk.commit_group;\n"
        "st.shared.u32 [tile], 9;\ncp.async.bulk.wait_group 0;\nEND:", "race.shared", "st.shared.u32",
    ),
    "a result read before it was written": (
        MAKE + "st.shared.u32 [%r1], %t;\nfence.proxy.async;\nbar.sync 0;\n@%p1 bra END;\nld.param.u64 %rd1, [in0];\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;\ncp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group.read 0;\nld.global.u32 %r3, [%rd1];\nEND:", "async.global", "ld.global.u32",
    ),
    "a group that nobody commits": (
        MAKE + "st.shared.u32 [%r1], %t;\n" + STORE.replace("cp.async.bulk.commit_group;", "").format(
            copy="cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;", read=".read"),
        "async.leaked", "cp.async.bulk.global.shared::cta.bulk_group",
    ),
    "a copy that nobody waits for": (
        MAKE + LOAD, "async.leaked", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
    ),
    "fewer bytes expected than come": (
        MAKE + LOAD.replace("_, [bar], 128", "_, [bar], 112") + WAIT, "mbarrier.transactions",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
    ),
    "more bytes expected than come": (
        MAKE + LOAD.replace("_, [bar], 128", "_, [bar], 144") + WAIT, "deadlock",
        "mbarrier.try_wait.parity.shared::cta.b64",
    ),
    "no barrier at its end": (
        MAKE + LOAD.replace("128, [bar]", "128, [other]"), "mbarrier.missing",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
    ),
    "a source that ends early": (
        MAKE + LOAD.replace("128", "1024"), "memory.bounds",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
    ),
    "a place that is no multiple of 16": (
        MAKE + LOAD.replace("[tile]", "[tile+8]"), "memory.misaligned",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
    ),
    "bytes that nothing wrote": (
        MAKE + STORE.format(copy="cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;", read=".read"),
        "uninitialised.shared", "cp.async.bulk.global.shared::cta.bulk_group",
    ),
}  # fmt: skip


@pytest.mark.parametrize("seed", [None, 7, 8])
@pytest.mark.parametrize("what", FAULTY)
def test_faults_are_found_on_their_line(what, seed):
    body, code, name = FAULTY[what]
    block = 64 if "others" in what else 32
    report = run(body, SHARED, args=(np.zeros(64, np.uint32),), out=np.zeros(block, np.uint32), block=block, seed=seed)
    wanted = {(each, name) for each in ((code,) if isinstance(code, str) else code)}
    assert wanted & set(codes(report)), report.findings
