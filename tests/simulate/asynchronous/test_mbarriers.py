"""mbarriers: counts, phases, states, transactions, and what goes wrong with them."""

import numpy as np
import pytest

from tests.simulate.asynchronous.kernels import codes, run

BARRIER = ".shared .align 8 .b64 bar; .shared .align 16 .b8 tile[1024];"
MAKE = """
setp.ne.u32 %p1, %t, 0;
@%p1 bra MADE;
mbarrier.init.shared::cta.b64 [bar], {count};
MADE:
bar.sync 0;
"""
WAIT = """
{label}:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], {parity};
@!%p2 bra {label};
"""


def test_states_tell_the_phase_and_what_was_pending():
    """One warp, a barrier of 4: lanes arrive one after the other, so that every fourth completes a phase; which is
    told.
    """
    out = np.zeros(32, np.uint32)
    body = (
        MAKE.format(count=4)
        + """
    mbarrier.arrive.shared::cta.b64 %rd1, [bar];
    mbarrier.pending_count.b64 %r1, %rd1;
    st.global.u32 [%out], %r1;
    mbarrier.test_wait.shared::cta.b64 %p3, [bar], %rd1;
    """
    )
    report = run(body, BARRIER, out=out)
    assert codes(report) == [("mbarrier.count", "mbarrier.arrive.shared::cta.b64")]
    assert out.tolist() == [4, 3, 2, 1] * 8


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_phases_alternate_and_order_what_was_written(seed):
    """Three rounds: every thread writes, arrives, waits for the phase and reads its neighbour's word."""
    out = np.zeros(64, np.uint32)
    body = MAKE.format(count=64) + "mad.lo.u32 %r1, %t, 4, 0; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2;\n"
    body += "xor.b32 %r3, %t, 33; mad.lo.u32 %r3, %r3, 4, %r2; mov.u32 %r9, %t;\n"
    for turn in range(3):
        body += "st.shared.u32 [%r1], %r9;\nmbarrier.arrive.shared::cta.b64 _, [bar];\n"
        body += WAIT.format(label=f"W{turn}", parity=turn & 1)
        body += "ld.shared.u32 %r4, [%r3]; add.u32 %r9, %r9, %r4;\nbar.sync 0;\n"
    body += "st.global.u32 [%out], %r9;"
    run(body, BARRIER, out=out, block=64, seed=seed).raise_findings()
    wanted = np.arange(64)
    for _ in range(3):
        wanted = wanted + wanted[np.arange(64) ^ 33]
    assert out.tolist() == wanted.tolist()


def test_a_state_is_waited_for():
    out = np.zeros(32, np.uint32)
    body = (
        MAKE.format(count=32)
        + """
    mbarrier.arrive.release.cta.shared::cta.b64 %rd1, [bar];
    W:
    mbarrier.try_wait.acquire.cta.shared::cta.b64 %p2, [bar], %rd1, 1000;
    @!%p2 bra W;
    mbarrier.test_wait.shared::cta.b64 %p3, [bar], %rd1;
    selp.u32 %r1, 1, 0, %p3;
    st.global.u32 [%out], %r1;
    """
    )
    run(body, BARRIER, out=out).raise_findings()
    assert out.all()


def test_dropping_out_lowers_the_count_for_good():
    """Thread 0 drops out in the first phase; the others alone complete the second."""
    out = np.zeros(32, np.uint32)
    body = (
        MAKE.format(count=32)
        + """
    setp.ne.u32 %p4, %t, 0;
    @!%p4 mbarrier.arrive_drop.shared::cta.b64 _, [bar];
    @!%p4 bra END;
    mbarrier.arrive.shared::cta.b64 _, [bar];
    """
        + WAIT.format(label="W0", parity=0)
        + """
    mbarrier.arrive.shared::cta.b64 %rd1, [bar];
    mbarrier.pending_count.b64 %r1, %rd1;
    st.global.u32 [%out], %r1;
    """
        + WAIT.format(label="W1", parity=1)
        + "END:"
    )
    run(body, BARRIER, out=out).raise_findings()
    assert out.tolist() == [0, *range(31, 0, -1)]


def test_counts_of_several_and_arrivals_that_do_not_complete():
    out = np.zeros(32, np.uint32)
    body = (
        MAKE.format(count=97)
        + """
    mbarrier.arrive.noComplete.shared::cta.b64 %rd1, [bar], 2;
    bar.warp.sync -1;
    mbarrier.arrive.shared::cta.b64 %rd2, [bar], 1;
    setp.eq.u32 %p4, %t, 0;
    @%p4 mbarrier.arrive.shared::cta.b64 _, [bar];
    """
        + WAIT.format(label="W0", parity=0)
        + """
    mbarrier.pending_count.b64 %r1, %rd2;
    st.global.u32 [%out], %r1;
    """
    )
    run(body, BARRIER, out=out).raise_findings()
    assert out.tolist() == list(range(33, 1, -1))


def test_transactions_keep_a_phase_open():
    out = np.zeros(32, np.uint32)
    body = (
        MAKE.format(count=1)
        + """
    setp.ne.u32 %p4, %t, 0;
    @%p4 bra WAITING;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 96;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 32;
    mbarrier.test_wait.parity.shared::cta.b64 %p5, [bar], 0;
    selp.u32 %r1, 1, 2, %p5;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 128;
    WAITING:
    """
        + WAIT.format(label="W", parity=0)
        + "st.global.u32 [%out], %r1;"
    )
    body = "mov.u32 %r1, 0;" + body
    run(body, BARRIER, out=out).raise_findings()
    assert out.tolist() == [2, *[0] * 31]


def test_copies_by_lane_arrive_when_they_are_there():
    source, out = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    body = (
        MAKE.format(count=32)
        + """
    ld.param.u64 %rd3, [in0]; mad.wide.u32 %rd3, %t, 4, %rd3;
    mov.u32 %r2, tile; mad.lo.u32 %r1, %t, 4, %r2;
    cp.async.ca.shared.global [%r1], [%rd3], 4;
    cp.async.mbarrier.arrive{noinc}.shared::cta.b64 [bar];
    {arrive}
    """
        + WAIT.format(label="W", parity=0)
        + """
    xor.b32 %r3, %t, 7; mad.lo.u32 %r3, %r3, 4, %r2;
    ld.shared.u32 %r4, [%r3];
    st.global.u32 [%out], %r4;
    """
    )
    for noinc, arrive in ((".noinc", ""), ("", "mbarrier.arrive.shared::cta.b64 _, [bar];")):
        out[:] = 0
        run(body.format(noinc=noinc, arrive=arrive), BARRIER, args=(source,), out=out).raise_findings()
        assert out.tolist() == (source[np.arange(32) ^ 7]).tolist()
    unwaited = body.format(noinc=".noinc", arrive="").replace("@!%p2 bra W;", "")
    assert ("async.shared", "ld.shared.u32") in codes(run(unwaited, BARRIER, args=(source,), out=out))


FAULTY = {
    "never made": (
        "mbarrier.arrive.shared::cta.b64 _, [bar];", ("mbarrier.missing", "mbarrier.arrive.shared::cta.b64"), 32
    ),
    "made by another warp without a barrier": (
        MAKE.format(count=64).replace("bar.sync 0;", "") + "mbarrier.arrive.shared::cta.b64 _, [bar];",
        ("mbarrier.unordered", "mbarrier.arrive.shared::cta.b64"), 64,
    ),
    "ended before its use": (
        MAKE.format(count=32) + """
        @!%p1 mbarrier.inval.shared::cta.b64 [bar];
        bar.sync 0;
        mbarrier.arrive.shared::cta.b64 _, [bar];
        """, ("mbarrier.missing", "mbarrier.arrive.shared::cta.b64"), 32,
    ),
    "ended while others may use it": (
        MAKE.format(count=64) + "mbarrier.arrive.shared::cta.b64 _, [bar];" + WAIT.format(label="W", parity=0)
        + "@!%p1 mbarrier.inval.shared::cta.b64 [bar];",
        ("mbarrier.unordered", "mbarrier.inval.shared::cta.b64"), 64,
    ),
    "made twice": (
        MAKE.format(count=32) + "@!%p1 mbarrier.init.shared::cta.b64 [bar], 32;",
        ("mbarrier.access", "mbarrier.init.shared::cta.b64"), 32,
    ),
    "overwritten": (
        MAKE.format(count=32) + "@!%p1 st.shared.u32 [bar], 7;", ("mbarrier.access", "st.shared.u32"), 32,
    ),
    "read": (
        MAKE.format(count=32) + "ld.shared.u32 %r1, [bar+4];", ("mbarrier.access", "ld.shared.u32"), 32,
    ),
    "count of nothing": (
        MAKE.format(count="%r7").replace("bar.sync 0;", "bar.sync 0;").replace("setp", "mov.u32 %r7, 0;\nsetp", 1),
        ("mbarrier.count", "mbarrier.init.shared::cta.b64"), 32,
    ),
    "more arrivals than are awaited": (
        MAKE.format(count=4) + "@!%p1 mbarrier.arrive.shared::cta.b64 _, [bar], 5;",
        ("mbarrier.count", "mbarrier.arrive.shared::cta.b64"), 32,
    ),
    "completion that was to be none": (
        MAKE.format(count=1) + "@!%p1 mbarrier.arrive.noComplete.shared::cta.b64 %rd1, [bar], 1;",
        ("mbarrier.count", "mbarrier.arrive.noComplete.shared::cta.b64"), 32,
    ),
    "too few arrivals": (
        MAKE.format(count=33) + "mbarrier.arrive.shared::cta.b64 _, [bar];" + WAIT.format(label="W", parity=0),
        ("deadlock", "mbarrier.try_wait.parity.shared::cta.b64"), 32,
    ),
    "the phase after the next": (
        MAKE.format(count=32) + "mbarrier.arrive.shared::cta.b64 _, [bar];" + WAIT.format(label="V", parity=0)
        + WAIT.format(label="W", parity=1), ("deadlock", "mbarrier.try_wait.parity.shared::cta.b64"), 32,
    ),
    "bytes that nothing brings": (
        MAKE.format(count=32) + "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4;"
        + WAIT.format(label="W", parity=0), ("deadlock", "mbarrier.try_wait.parity.shared::cta.b64"), 32,
    ),
    "more bytes than are expected": (
        MAKE.format(count=32) + "mbarrier.arrive.shared::cta.b64 _, [bar];\n"
        "@!%p1 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 64;\nbar.sync 0;\n"
        "mbarrier.arrive.shared::cta.b64 _, [bar];",
        ("mbarrier.transactions", "mbarrier.arrive.shared::cta.b64"), 32,
    ),
    "an address that is none of its own": (
        MAKE.format(count=32) + "mbarrier.arrive.shared::cta.b64 _, [bar+4];",
        ("memory.misaligned", "mbarrier.arrive.shared::cta.b64"), 32,
    ),
}  # fmt: skip


@pytest.mark.parametrize("seed", [None, 4, 5])
@pytest.mark.parametrize("what", FAULTY)
def test_faults_are_found_on_their_line(what, seed):
    body, wanted, block = FAULTY[what]
    report = run(body, BARRIER, out=np.zeros(block, np.uint32), block=block, seed=seed)
    assert wanted in codes(report), report.findings


def test_a_deadlock_says_who_waits_where_for_what():
    body = (
        MAKE.format(count=3)
        + """
    setp.ge.u32 %p4, %t, 32;
    @%p4 bra OTHERS;
    @!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
    """
        + WAIT.format(label="W", parity=0)
        + "bra END;\nOTHERS:\nbar.sync 1, 64;\nEND:"
    )
    report = run(body, BARRIER, out=np.zeros(64, np.uint32), block=64)
    told = {each.text.split()[0]: str(each) for each in report.findings if each.code == "deadlock"}
    waiting = told["mbarrier.try_wait.parity.shared::cta.b64"]
    assert "waits for the phase of parity 0 of the mbarrier at 0x" in waiting
    assert "whose phase 0 still wants 2 of 3 arrivals and 64 bytes, of which 0 are on their way" in waiting
    assert "others wait at statement" in waiting
    assert "bar.sync 1, 64" in waiting
    assert "bar.sync" in told


@pytest.mark.parametrize("guard, wanted", [("@!%p1", []), ("@%p1", ["mbarrier.access"]), ("", ["mbarrier.access"])])
def test_one_thread_initialises(guard, wanted):
    body = f"""
    setp.ne.u32 %p1, %t, 0;
    {guard} mbarrier.init.shared::cta.b64 [bar], 32;
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 _, [bar];
    """
    report = run(body, BARRIER, out=np.zeros(32, np.uint32))
    assert codes(report) == [(each, "mbarrier.init.shared::cta.b64") for each in wanted]
