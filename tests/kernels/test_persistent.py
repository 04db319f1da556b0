"""Kernels whose blocks stay and walk the tiles, on the CPU simulator: no finding, the bits of a block for each tile."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Compute, Element, f16, f32
from ptxgen.kernels import (
    Layout,
    Matmul,
    MatmulSpec,
    MatmulTiling,
    Outcome,
    chained_compute,
    chained_plan,
    default_tiling,
    generate,
    parse_epilogue,
    softmax_compute,
    softmax_plan,
    transpose_compute,
    transpose_plan,
)
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.kernels.launching.launch import BLOCKS_ON_THE_CPU, prepare
from ptxgen.plan import Fact, Plan, Workers, grouped, sms
from tests.derive.test_persistent_programs import persisted
from tests.kernels.cases import bits, judge, random_inputs, run_matmul, scalars_of

GROUPS = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3)
PLANS: dict[str, tuple[str, MatmulTiling]] = {
    "one warpgroup": ("sm_90a", GROUPS),
    "five slots": ("sm_90a", evolve(GROUPS, k=32, depth=5)),
    "none in flight": ("sm_90a", evolve(GROUPS, depth=2, prefetch=False)),
    "two warpgroups": ("sm_90a", evolve(GROUPS, i=128, warps=8, raster=grouped(2))),
    "ampere": ("sm_80", MatmulTiling(i=64, j=64, depth=3)),
    "volta": ("sm_70", MatmulTiling(i=64, j=64, k=16)),
}
TILES = (72, 136, 136)


@cache
def in_single_tiles(name: str) -> Outcome:
    target, tiling = PLANS[name]
    return run_matmul(MatmulSpec(), TILES, tiling, target=target)


@pytest.mark.parametrize("workers", [1, 2, sms], ids=str)
@pytest.mark.parametrize("name", PLANS)
def test_the_same_bits_as_a_block_for_each_tile(name: str, workers: int | Workers) -> None:
    target, tiling = PLANS[name]
    alone = in_single_tiles(name)
    walked = run_matmul(MatmulSpec(), TILES, evolve(tiling, workers=workers), target=target)
    assert np.array_equal(bits(walked.arrays["D"]), bits(alone.arrays["D"]))
    assert walked.report is not None
    assert alone.report is not None
    tiles = alone.report.grid[0]
    assert walked.report.grid[0] == (tiles if isinstance(workers, Workers) else workers)
    assert tiles > 2


@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.value)
@pytest.mark.parametrize("accumulate", [f16, f32], ids=str)
def test_every_layout(layout: Layout, accumulate: Element) -> None:
    run_matmul(MatmulSpec(layout, accumulate), (72, 136, 96), evolve(GROUPS, workers=2), target="sm_90a")


@pytest.mark.parametrize("epilogue", ["alpha,beta,bias,gelu", "bias,residual,silu,keep"])
def test_epilogues_and_batches(epilogue: str) -> None:
    spec = MatmulSpec(Layout.TN, epilogue=parse_epilogue(epilogue), batched=True)
    run_matmul(spec, (72, 80, 72), evolve(GROUPS, workers=4), target="sm_90a")


@pytest.mark.parametrize(
    "slabs", [0, 1, 3, 4, pytest.param(2, marks=pytest.mark.slow), pytest.param(7, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("columns", [pytest.param(40, marks=pytest.mark.slow), 72, 136])
def test_every_end_of_the_ring_with_one_to_three_tiles(columns: int, slabs: int) -> None:
    run_matmul(MatmulSpec(), (40, columns, 64 * slabs), evolve(GROUPS, workers=1), target="sm_90a")


Case = tuple[Callable[[], Compute], Callable[[Compute, Iterable[Fact], str], Plan], dict[str, int]]
OTHERS: dict[str, Case] = {
    "softmax": (softmax_compute, softmax_plan, {"M": 9, "N": 300}),
    "transpose": (transpose_compute, transpose_plan, {"M": 65, "N": 200}),
    "chained": (chained_compute, chained_plan, {"M": 70, "J": 24, "K": 40, "N": 9}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_kernels(name: str) -> None:
    make, planner, sizes = OTHERS[name]
    compute = make()
    inputs: dict[str, Any] = random_inputs(compute, sizes)
    outputs = {a.name: a for a in arrays_in_memory(compute) if a.name not in inputs}
    found = []
    for workers in (None, 1):
        blank = {
            name: np.full([e.evaluate(sizes) for e in a.extents], np.nan, np.float16) for name, a in outputs.items()
        }
        arrays = {**inputs, **blank}
        plan = planner(compute, facts_of(compute, bind(arrays_in_memory(compute), arrays)), "sm_70")
        report = generate(plan if workers is None else persisted(plan, workers)).simulate(arrays)
        assert report is not None
        report.raise_findings()
        judge(compute, arrays, {}, exact=False)
        found.append({name: arrays[name].tobytes() for name in outputs})
    assert found[0] == found[1]


@pytest.mark.parametrize(("workers", "resident", "blocks"), [(sms, 5, 5), (sms, 100, 6), (4, 100, 4), (12, 3, 6)])
def test_as_many_blocks_as_run_at_once_and_no_more_than_tiles(
    workers: int | Workers, resident: int, blocks: int
) -> None:
    product = Matmul(MatmulSpec(), "sm_90a", evolve(GROUPS, workers=workers))
    arrays = product.with_outputs(random_inputs(product.compute, dict(zip("MNK", TILES, strict=True))))
    entry = product.kernel_for(arrays).entry
    assert prepare(entry, arrays, {}, resident=resident).blocks == blocks
    assert prepare(entry, arrays, {}).blocks == min(6, BLOCKS_ON_THE_CPU if isinstance(workers, Workers) else workers)
    empty = product.with_outputs(random_inputs(product.compute, {"M": 0, "N": 8, "K": 8}))
    assert prepare(entry, empty, {}).blocks == 0


@pytest.mark.parametrize("layout", [Layout.NN, Layout.NT, Layout.TN, Layout.TT], ids=lambda layout: layout.value)
@pytest.mark.parametrize("epilogue", ["", "bias,relu", "bias,gelu,residual"])
def test_the_default_tile_is_assembled_without_a_note_and_without_spills(layout: Layout, epilogue: str) -> None:
    """What an assembler takes back of asynchronous products is an error of `assembled`."""
    spec = MatmulSpec(layout, epilogue=parse_epilogue(epilogue))
    product = Matmul(spec, "sm_90a", evolve(default_tiling(spec, "sm_90a"), workers=sms))
    arrays = product.with_outputs(random_inputs(product.compute, {"M": 256, "N": 256, "K": 256}))
    cubin = product.kernel_for(arrays).assembled()
    assert cubin.spills == 0


def test_a_tiling_says_who_walks() -> None:
    assert str(evolve(GROUPS, workers=sms)).endswith("guarded, grouped(8), walked by as many blocks as run at once")
    assert str(evolve(GROUPS, workers=3)).endswith("guarded, grouped(8), walked by 3 blocks")
    assert str(GROUPS).endswith("isolated, grouped(8)")


def test_scalars_reach_every_item() -> None:
    spec = MatmulSpec(epilogue=parse_epilogue("alpha,beta"))
    product = Matmul(spec, "sm_90a", evolve(GROUPS, workers=1))
    inputs = random_inputs(product.compute, {"M": 72, "N": 72, "K": 72})
    assert set(scalars_of(product.compute)) == {"alpha", "beta"}
    judge(product.compute, product(inputs, scalars_of(product.compute)).arrays, SCALARS, exact=False, target="sm_90a")


SCALARS = {"alpha": 0.75, "beta": -1.5}
