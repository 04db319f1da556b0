"""Clusters: who is where, each other's shared memory, their barrier, copies to several CTAs."""

import numpy as np
import pytest

from ptxgen.errors import LaunchError
from tests.simulate.asynchronous.kernels import codes, run

SHARED = ".shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 bar;"
MEET = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
MINE = "mov.u32 %r2, tile; mad.lo.u32 %r1, %t, 4, %r2;\n"


def test_special_registers_of_a_grid_of_clusters():
    names = ["%ctaid.x", "%ctaid.y", "%clusterid.x", "%clusterid.y", "%nclusterid.x", "%nclusterid.y",
             "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_ctarank",
             "%cluster_nctarank"]  # fmt: skip
    reads = "".join(
        f"mov.u32 %r1, {name}; st.global.u32 [%out+{4 * place}], %r1;\n" for place, name in enumerate(names)
    )
    body = "ld.param.u64 %out, [outputs]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y; mad.lo.u32 %r2, %r3, 4, %r2;\n"
    body += "mad.lo.u32 %r2, %r2, 48, 0; cvt.u64.u32 %rd1, %r2; add.s64 %out, %out, %rd1;\n" + reads
    out = np.zeros((6, 4, 12), np.uint32)
    run(body, out=out, grid=(4, 6), block=1, cluster=(2, 3)).raise_findings()
    for y in range(6):
        for x in range(4):
            wanted = [x, y, x // 2, y // 3, 2, 2, x % 2, y % 3, 2, 3, x % 2 + 2 * (y % 3), 6]
            assert out[y, x].tolist() == wanted


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
@pytest.mark.parametrize("generic", [False, True])
def test_words_of_another_cta(generic, seed):
    """Every CTA of four writes its shared memory and reads that of the next."""
    out = np.zeros(128, np.uint32)
    body = (
        MINE
        + """
    mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, 1000, %t;
    st.shared.u32 [%r1], %r4;
    """
        + MEET
        + "add.u32 %r5, %r3, 1; and.b32 %r5, %r5, 3;\n"
    )
    if generic:
        body += """
        cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd1, %rd1; mapa.u64 %rd2, %rd1, %r5;
        getctarank.u64 %r7, %rd2; ld.u32 %r6, [%rd2];
        """
    else:
        body += """
        mapa.shared::cluster.u32 %r8, %r1, %r5;
        getctarank.shared::cluster.u32 %r7, %r8; ld.shared::cluster.u32 %r6, [%r8];
        """
    body += "mad.lo.u32 %r6, %r7, 0, %r6; st.global.u32 [%out], %r6;\n" + MEET
    run(body, SHARED, out=out, grid=4, cluster=4, seed=seed).raise_findings()
    assert out.tolist() == [1000 * ((cta + 1) % 4) + thread for cta in range(4) for thread in range(32)]


def test_atomics_reach_the_first_cta():
    out = np.zeros(64, np.uint32)
    body = (
        """
    mov.u32 %r3, %cluster_ctarank;
    setp.ne.u32 %p1, %t, 0;
    @!%p1 st.shared.u32 [tile], 0;
    """
        + MEET
        + """
    mov.u32 %r2, tile; mapa.shared::cluster.u32 %r2, %r2, 0;
    red.relaxed.cluster.shared::cluster.add.u32 [%r2], %t;
    """
        + MEET
        + "ld.shared::cluster.u32 %r4, [%r2]; st.global.u32 [%out], %r4;\n"
        + MEET
    )
    run(body, SHARED, out=out, grid=2, cluster=2).raise_findings()
    assert set(out.tolist()) == {2 * sum(range(32))}


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_copy_is_sent_to_the_ctas_of_its_mask(seed):
    source, out = np.arange(96, dtype=np.uint32), np.zeros(128, np.uint32)
    body = (
        MINE
        + """
    mov.u32 %r3, %cluster_ctarank;
    setp.ne.u32 %p1, %t, 0; @%p1 bra MADE;
    mbarrier.init.shared::cta.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 384;
    fence.mbarrier_init.release.cluster;
    MADE:
    """
        + MEET
        + """
    setp.eq.u32 %p3, %r3, 3; or.pred %p4, %p1, %p3; @%p4 bra SENT;
    ld.param.u64 %rd1, [in0]; mad.wide.u32 %rd1, %r3, 128, %rd1;
    mad.lo.u32 %r4, %r3, 128, %r2;
    mov.b16 %h1, 0xF;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4], [%rd1], 128, [bar], %h1;
    SENT:
    W:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra W;
    ld.shared.u32 %r5, [%r1]; ld.shared.u32 %r6, [%r1+128]; ld.shared.u32 %r7, [%r1+256];
    add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7; st.global.u32 [%out], %r5;
    """
        + MEET
    )
    run(body, SHARED, args=(source,), out=out, grid=4, cluster=4, seed=seed).raise_findings()
    assert out.reshape(4, 32).tolist() == [source.reshape(3, 32).sum(axis=0).tolist()] * 4


def exchange(operation, size):
    """Each of two CTAs sends something to the other, which waits for it at its own barrier."""
    return (
        MINE
        + """
    mov.u32 %r3, %cluster_ctarank; xor.b32 %r4, %r3, 1;
    st.shared.u32 [%r1], 5;
    setp.ne.u32 %p1, %t, 0; @%p1 bra MADE;
    mbarrier.init.shared::cta.b64 [bar], 1;
    """
        + f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {size};"
        + """
    MADE:
    fence.proxy.async;
    """
        + MEET
        + """
    mad.lo.u32 %r5, %r3, 100, %t;
    mov.u32 %r6, bar; mapa.shared::cluster.u32 %r6, %r6, %r4;
    mapa.shared::cluster.u32 %r7, %r1, %r4;
    """
        + operation
        + """
    W:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra W;
    ld.shared.u32 %r8, [%r1+{back}];
    st.global.u32 [%out], %r8;
    """
        + MEET
    )


SENT = {
    "st.async": ("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7], %r5, [%r6];", 128, 0,
                 lambda cta, thread: 100 * (1 - cta) + thread),
    "red.async": ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r7], %r5, [%r6];",
                  128, 0, lambda cta, thread: 100 * (1 - cta) + thread + 5),
    "copy": ("""
             add.u32 %r7, %r7, 512;
             @!%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], [%r1], 128, [%r6];
             """, 128, 512, lambda cta, thread: 5),
    "reduction": ("""
             @!%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32
                 [%r7], [%r1], 128, [%r6];
             """, 128, 0, lambda cta, thread: 10),
}  # fmt: skip


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("what", SENT)
def test_words_are_sent_to_another_cta(what, seed):
    operation, size, back, model = SENT[what]
    out = np.zeros(64, np.uint32)
    body = exchange(operation, size).replace("{back}", str(back))
    report = run(body, SHARED, out=out, grid=2, cluster=2, seed=seed)
    if what == "reduction":  # each CTA's words are read by its own copy and changed by the other's at the same time
        assert codes(report)
        return
    report.raise_findings()
    assert out.tolist() == [model(cta, thread) for cta in range(2) for thread in range(32)]


FAULTY = {
    "no barrier before": (MINE + """
        mov.u32 %r3, %ctaid.x; xor.b32 %r4, %r3, 1;
        mapa.shared::cluster.u32 %r5, %r1, %r4; st.shared::cluster.u32 [%r5], %t;
        """ + MEET, ("cluster.early", "st.shared::cluster.u32")),
    "no barrier after": (MINE + MEET + """
        mov.u32 %r3, %ctaid.x; xor.b32 %r4, %r3, 1;
        mapa.shared::cluster.u32 %r5, %r1, %r4; st.shared::cluster.u32 [%r5], %t;
        """, ("cluster.left", "st.shared::cluster.u32")),
    "long after the other has ended": (MINE + MEET + """
        mov.u32 %r3, %cluster_ctarank; setp.eq.u32 %p1, %r3, 1; @%p1 bra END;
        mov.u32 %r4, 0;
        SPIN: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 100; @%p2 bra SPIN;
        mapa.shared::cluster.u32 %r5, %r1, 1; st.shared::cluster.u32 [%r5], %t;
        END:
        """, ("cluster.left", "st.shared::cluster.u32")),
    "no barrier between": (MINE + "st.shared.u32 [%r1], %t;\n" + MEET + """
        mov.u32 %r3, %ctaid.x; xor.b32 %r4, %r3, 1;
        mapa.shared::cluster.u32 %r5, %r1, %r4; st.shared::cluster.u32 [%r5], %t;
        ld.shared.u32 %r6, [%r1]; st.global.u32 [%out], %r6;
        """ + MEET, ("race.shared", None)),
    "an arrival without a wait": (
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
        ("cluster.barrier", "barrier.cluster.arrive.aligned;")),
    "a wait without an arrival": (
        "barrier.cluster.wait.aligned;", ("cluster.barrier", "barrier.cluster.wait.aligned;")),
    "a CTA that does not come": ("mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 0; @%p1 bra ALONE;\nbar.sync 1, 64;\n"
        "ALONE:\n" + MEET, ("deadlock", "barrier.cluster.wait.aligned;")),
    "a relaxed arrival": (MINE + "st.shared.u32 [%r1], %t;\nbarrier.cluster.arrive.relaxed.aligned;\n"
        "barrier.cluster.wait.aligned;\nmov.u32 %r3, %ctaid.x; xor.b32 %r4, %r3, 1;\n"
        "mapa.shared::cluster.u32 %r5, %r1, %r4; ld.shared::cluster.u32 %r6, [%r5];\n"
        "st.global.u32 [%out], %r6;\n" + MEET, ("race.shared", "ld.shared::cluster.u32")),
    "a rank that the cluster has not": (MINE + MEET + "mapa.shared::cluster.u32 %r5, %r1, 2;\n"
        "st.shared::cluster.u32 [%r5], %t;\n" + MEET, ("memory.bounds", "st.shared::cluster.u32")),
    "another CTA's memory as its own": (MINE + MEET + "mov.u32 %r3, %ctaid.x; xor.b32 %r4, %r3, 1;\n"
        "mapa.shared::cluster.u32 %r5, %r1, %r4; setp.eq.u32 %p1, %r4, 1; @%p1 st.shared.u32 [%r5], %t;\n" + MEET,
        ("memory.bounds", "st.shared.u32")),
    "a barrier made here and used there": ("""
        setp.ne.u32 %p1, %t, 0; @%p1 bra MADE;
        mbarrier.init.shared::cta.b64 [bar], 64;
        MADE:
        bar.sync 0;
        mov.u32 %r6, bar; mapa.shared::cluster.u32 %r6, %r6, 0;
        mbarrier.arrive.shared::cluster.b64 _, [%r6];
        """ + MEET, ("cluster.early", "mbarrier.arrive.shared::cluster.b64")),
}  # fmt: skip


@pytest.mark.parametrize("seed", [None, 5, 6])
@pytest.mark.parametrize("what", FAULTY)
def test_faults_are_found_on_their_line(what, seed):
    body, (code, name) = FAULTY[what]
    report = run(body, SHARED, out=np.zeros(64, np.uint32), grid=2, cluster=2, seed=seed)
    assert any(each == code and name in (None, text) for each, text in codes(report)), report.findings


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_a_flag_in_another_cta_orders_what_was_written_before(seed):
    out = np.zeros(64, np.uint32)
    body = (
        MINE
        + """
    mov.u32 %r3, %cluster_ctarank; setp.ne.u32 %p1, %t, 0;
    @!%p1 st.shared.u32 [tile+512], 0;
    """
        + MEET
        + """
    setp.ne.u32 %p3, %r3, 0; @%p3 bra TAKE;
    mapa.shared::cluster.u32 %r4, %r1, 1; mad.lo.u32 %r5, %t, 7, 3;
    st.shared::cluster.u32 [%r4], %r5;
    bar.warp.sync -1;
    @%p1 bra END;
    mapa.shared::cluster.u32 %r6, %r2, 1;
    st.release.cluster.shared::cluster.u32 [%r6+512], 1;
    bra END;
    TAKE:
    ld.acquire.cluster.shared::cta.u32 %r7, [%r2+512];
    setp.eq.u32 %p4, %r7, 0; @%p4 bra TAKE;
    ld.shared.u32 %r8, [%r1];
    st.global.u32 [%out], %r8;
    END:
    """
        + MEET
    )
    run(body, SHARED, out=out, grid=2, cluster=2, seed=seed).raise_findings()
    assert out[32:].tolist() == [7 * each + 3 for each in range(32)]


def test_findings_name_the_cta_of_a_grid_of_clusters():
    body = """
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y;
    setp.ne.u32 %p1, %r1, 3; setp.ne.or.u32 %p1, %r2, 4, %p1;
    mov.u32 %r3, 8; @!%p1 st.shared.u32 [%r3], %r1;
    """
    (finding,) = run(body, SHARED, out=np.zeros(4096, np.uint32), grid=(4, 6), cluster=(2, 3)).findings
    assert (finding.code, finding.cta, finding.thread) == ("memory.bounds", (3, 4, 0), (0, 0, 0))


def test_a_relaxed_arrival_behind_a_fence_orders():
    body = MINE + "st.shared.u32 [%r1], %t;\nfence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed.aligned;\n"
    body += "barrier.cluster.wait.aligned;\nmov.u32 %r3, %ctaid.x; xor.b32 %r4, %r3, 1;\n"
    body += "mapa.shared::cluster.u32 %r5, %r1, %r4; ld.shared::cluster.u32 %r6, [%r5]; st.global.u32 [%out], %r6;\n"
    out = np.zeros(64, np.uint32)
    run(body + MEET, SHARED, out=out, grid=2, cluster=2).raise_findings()
    assert out.tolist() == [*range(32), *range(32)]


@pytest.mark.parametrize("fence, wanted", [("fence.mbarrier_init.release.cluster;", []), ("", ["mbarrier.unordered"])])
def test_barriers_are_seen_behind_a_fence_and_a_relaxed_arrival(fence, wanted):
    """As CUTLASS begins its kernels."""
    body = (
        """
    setp.ne.u32 %p1, %t, 0; @%p1 bra MADE;
    mbarrier.init.shared::cta.b64 [bar], 64;
    """
        + fence
        + """
    MADE:
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.acquire.aligned;
    mov.u32 %r6, bar; mapa.shared::cluster.u32 %r7, %r6, 0; mapa.shared::cluster.u32 %r8, %r6, 1;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];
    W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra W;
    """
        + MEET
    )
    report = run(body, SHARED, out=np.zeros(64, np.uint32), grid=2, cluster=2)
    assert sorted({each.code for each in report.findings}) == wanted


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("arrive, wait, wanted", [
    (".release.cluster", ".acquire.cluster", []), (".release.cluster", "", []), ("", "", []),
    (".release.cluster", ".acquire.cta", ["race.shared"]), (".release.cta", ".acquire.cluster", ["race.shared"]),
    (".relaxed.cluster", ".acquire.cluster", ["race.shared"]),
])  # fmt: skip
def test_arrivals_from_another_cta_release_to_who_acquires_for_the_cluster(arrive, wait, wanted, seed):
    """One that names no scope counts for the cluster, as CUTLASS has it."""
    body = (
        """
    mov.u32 %r6, bar; mapa.shared::cluster.u32 %r7, %r6, 0; mapa.shared::cluster.u32 %r8, %r1, 0;
    setp.ne.u32 %p1, %t, 0; mov.u32 %r9, %cluster_ctarank; setp.eq.u32 %p3, %r9, 0;
    @%p1 bra MADE;
    mbarrier.init.shared::cta.b64 [bar], 32;
    MADE:
    """
        + MEET
        + f"""
    @%p3 bra TAKE;
    st.shared::cluster.u32 [%r8], 7;
    mbarrier.arrive{arrive}.shared::cluster.b64 _, [%r7];
    bra DONE;
    TAKE:
    W: mbarrier.try_wait.parity{wait}.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra W;
    xor.b32 %r1, %r1, 64; ld.shared.u32 %r3, [%r1]; st.global.u32 [%out], %r3;
    DONE:
    """
        + MEET
    )
    report = run(MINE + body, SHARED, out=np.zeros(64, np.uint32), grid=2, cluster=2, seed=seed)
    assert sorted({each.code for each in report.findings}) == wanted


@pytest.mark.parametrize("more, words", [
    ({"grid": 3, "cluster": 2}, "no whole number of clusters"),
    ({"grid": 32, "cluster": 32}, "at most 16 CTAs"),
    ({"grid": 4, "cluster": 4, "directives": ".reqnctapercluster 2, 1, 1"}, "demands clusters of"),
])  # fmt: skip
def test_clusters_that_cannot_be_are_refused(more, words):
    with pytest.raises(LaunchError, match=words):
        run("", out=np.zeros(32, np.uint32), **more)


def test_the_kernel_says_how_large_its_clusters_are():
    out = np.zeros(128, np.uint32)
    body = "mov.u32 %r1, %cluster_nctarank; st.global.u32 [%out], %r1;"
    run(body, out=out, grid=4, directives=".reqnctapercluster 2, 1, 1").raise_findings()
    assert set(out.tolist()) == {2}
