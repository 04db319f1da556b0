"""Whole pipelines: right in every order, equal to numpy and to the arithmetic of `mma` bit for bit. Faults put into
them are in `tests/simulate/faults`."""

import numpy as np
import pytest

from isa.numerics import numerics
from isa.targets import target
from ptxgen.parse import parse
from ptxgen.simulate import simulate
from ptxgen.simulate.exact_products import chained, operand
from tests.oracles.ptxas import verdict
from tests.simulate.asynchronous import hopper
from tests.simulate.asynchronous.pipelines import PIPELINES, Pipeline

SM_90A = target("sm_90a")
ROWS, COLUMNS = 2 * hopper.ROWS, hopper.COLUMNS
STEPS = 2 * hopper.STAGES


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
