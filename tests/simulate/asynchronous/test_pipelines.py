"""Whole pipelines: right in every order, equal to numpy and to the arithmetic of `mma` bit for bit, and no fault of
synchronisation goes unseen."""

import numpy as np
import pytest
from attrs import evolve

from isa.numerics import numerics
from isa.targets import target
from ptxgen.kernels import Matmul, MatmulSpec, MatmulTiling
from ptxgen.parse import parse
from ptxgen.simulate import simulate
from ptxgen.simulate.exact_products import chained, operand
from tests.kernels.cases import random_inputs
from tests.oracles.ptxas import verdict
from tests.simulate.asynchronous import hopper
from tests.simulate.asynchronous.faults import faults
from tests.simulate.asynchronous.pipelines import PIPELINES, Pipeline

SM_90A = target("sm_90a")
ROWS, COLUMNS = 2 * hopper.ROWS, hopper.COLUMNS
STEPS = 2 * hopper.STAGES
# What says that a fault of a kind was seen; a fault is seen too where nothing but the result tells.
KINDS = {
    "drop init": {"mbarrier.missing"},
    "wrong count": {"deadlock", "race.shared", "async.shared", "cluster.left", "mbarrier.count"},
    "wrong bytes": {"deadlock", "mbarrier.transactions"},
    "wrong parity": {"deadlock", "race.shared", "async.shared", "cluster.left"},
    "drop wait": {
        "race.shared",
        "async.shared",
        "async.leaked",
        "cluster.left",
        "wgmma.in_flight",
        "uninitialised.shared",
        "deadlock",
    },
    "late wait": {"race.shared", "wgmma.in_flight"},
    "early arrive": {"race.shared", "deadlock", "mbarrier.count"},
    "early commit": {"async.leaked", "race.shared", "wgmma.in_flight"},
    "weaken wait": {"race.shared", "async.shared", "async.leaked", "wgmma.in_flight"},
    "drop commit": {"async.leaked", "wgmma.in_flight"},
    "drop fence": {"proxy.shared", "wgmma.fence"},
    "drop arrive": {"deadlock", "mbarrier.transactions"},
    "drop copy": {"deadlock"},
    "drop barrier": {"race.shared", "mbarrier.unordered"},
    "drop cluster barrier": {"cluster.early", "cluster.left", "cluster.barrier", "mbarrier.unordered"},
    "weaken barrier": {"cluster.early", "mbarrier.unordered"},
}
# Faults that change nothing, and why.
EQUIVALENT = {
    ("drop fence", "fence.mbarrier_init"): "the barrier of the cluster behind it releases and acquires",
    ("weaken barrier", "barrier.cluster"): "the fence before it makes the barriers seen",
    ("wrong parity", "TAIL"): "with parity 1 only the last wait at the end waits, and it is behind all others",
}


def inputs(steps):
    rng = np.random.default_rng(0)
    depth = hopper.DEPTH * steps
    return (rng.standard_normal((ROWS, depth)).astype(np.float16),
            rng.standard_normal((COLUMNS, depth)).astype(np.float16))  # fmt: skip


def run(module, a, b, seed=None):
    d = np.zeros((ROWS, COLUMNS), np.float16)
    maps = hopper.maps(ROWS, COLUMNS, a.shape[1])
    args = [(a, maps[0]), (b, maps[1]), (d, maps[2]), a.shape[1] // hopper.DEPTH]
    return simulate(module, grid=(2, 1), block=hopper.THREADS, args=args, seed=seed, limit=60_000), d


def test_the_product_is_exact_to_the_bit():
    text = hopper.text()
    judged = verdict(text, SM_90A)
    assert judged.ok, judged.messages
    a, b = inputs(STEPS + 1)
    report, d = run(parse(text), a, b)
    report.raise_findings()
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.abs(d - exact).max() <= 2.0**-11 * np.abs(exact).max()
    record = numerics(SM_90A, "mma", "m16n8k16", "f16")
    left, right = (operand(np.ascontiguousarray(each.T.astype(np.float64))[..., None], -14) for each in (a, b))
    sums = chained(left, right, np.zeros((ROWS, COLUMNS, 1), np.float32), record, False)[..., 0]
    assert np.array_equal(d, sums.astype(np.float16))


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[] if seed < 3 else pytest.mark.slow) for seed in range(20)])
def test_no_order_finds_anything(seed):
    a, b = inputs(STEPS)
    module = parse(hopper.text())
    report, d = run(module, a, b, seed)
    report.raise_findings()
    assert np.array_equal(d, run(module, a, b)[1])


def survivors(wanted):
    """The faults of the kinds wanted that nothing tells."""
    a, b = inputs(STEPS)
    module = parse(hopper.text())
    _, good = run(module, a, b)
    left = []
    for fault in faults(module):
        if fault.operation not in wanted:
            continue
        report, d = run(fault.module, a, b)
        seen = {each.code for each in report.findings} & KINDS[fault.operation]
        changed = not report.findings and not np.array_equal(d, good)
        if not seen and not changed:
            left.append((fault.operation, fault.statement, fault.text, [str(each) for each in report.findings]))
    return left


@pytest.mark.parametrize("kinds", [
    ("drop fence", "drop barrier", "drop cluster barrier", "weaken barrier"), ("drop commit", "weaken wait"),
    ("late wait", "early arrive", "early commit"),
    pytest.param(("drop wait", "wrong count", "wrong parity"), marks=pytest.mark.slow),
    pytest.param(("drop init", "wrong bytes", "drop arrive", "drop copy"), marks=pytest.mark.slow),
], ids=lambda kinds: kinds[0])  # fmt: skip
def test_every_fault_of_the_product_is_seen(kinds):
    left = survivors(kinds)
    unexplained = [
        each for each in left
        if not any(each[0] == kind and (word in each[2] or word.endswith("TAIL")) for kind, word in EQUIVALENT)
    ]  # fmt: skip
    assert not unexplained, unexplained
    assert len(left) <= sum(kind in kinds for kind, _ in EQUIVALENT), left


def launched(pipeline: Pipeline, module, seed=None):
    args = pipeline.args()
    report = simulate(
        module, grid=pipeline.grid, block=pipeline.block, cluster=pipeline.cluster, args=args, seed=seed, limit=20_000
    )
    return report, args[-1]


@pytest.mark.parametrize("name", PIPELINES)
def test_small_pipelines_are_right_in_twenty_orders(name):
    pipeline = PIPELINES[name]()
    for seed in (None, *range(20)):
        report, made = launched(pipeline, pipeline.module, seed)
        report.raise_findings()
        assert np.array_equal(made, pipeline.wanted), seed


@pytest.mark.parametrize("seed", [None, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
@pytest.mark.parametrize("name", PIPELINES)
def test_every_fault_of_small_pipelines_is_seen(name, seed):
    pipeline = PIPELINES[name]()
    found = 0
    for fault in faults(pipeline.module):
        report, made = launched(pipeline, fault.module, seed)
        seen = {each.code for each in report.findings} & KINDS[fault.operation]
        changed = not report.findings and not np.array_equal(made, pipeline.wanted)
        assert seen or changed, (fault.operation, fault.statement, fault.text, report.findings)
        found += 1
    assert found >= 8


# Faults of the derived product that change nothing: how many of a kind, and why.
UNSEEN = {
    "drop fence": 1,  # of initialisations: one CTA, and a barrier behind it
    "wrong parity": 1,  # the constant is the parity that the wait has anyway
    "drop arrive": 1,  # the last one, for which nobody waits
    "early arrive": 1,  # before a load that has nothing to do with the stage
}


@pytest.mark.slow
def test_every_fault_of_the_derived_product_is_seen():
    """The product that is derived from its statement, with tensor copies, a ring and a warpgroup."""
    tiling = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False)
    product = Matmul(MatmulSpec(), "sm_90a", tiling)
    arrays = product.with_outputs(random_inputs(product.compute, {"M": 64, "N": 64, "K": 448}))
    kernel = product.kernel_for(arrays)

    def judged(module):
        given = {name: each.copy() for name, each in arrays.items()}
        return evolve(kernel, module=module).simulate(given), given["D"]

    clean, wanted = judged(kernel.module)
    clean.raise_findings()
    left: dict[str, list[str]] = {}
    for fault in faults(kernel.module):
        report, made = judged(fault.module)
        if not {each.code for each in report.findings} & KINDS[fault.operation] and np.array_equal(made, wanted):
            left.setdefault(fault.operation, []).append(f"{fault.statement}: {fault.text}")
    assert {kind: len(each) for kind, each in left.items() if len(each) > UNSEEN.get(kind, 0)} == {}, left
