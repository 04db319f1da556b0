"""Sums over rows beside blocks that share a sum: tile by tile on the tile machine and in the simulator, with equal
bits; of whole rows, and across the warps of a warpgroup, refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, f16, f32
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan, parse_epilogue
from ptxgen.kernels.choosing.legal import is_legal
from ptxgen.kernels.launching.binding import bind
from ptxgen.kernels.launching.entry import program_arrays
from ptxgen.tile.machine import run
from tests.kernels.cases import bits, random_inputs
from tests.kernels.clusters import FACTS

STREAMED = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False, workers=4, stream=True)
WAYS = {
    "streamed": STREAMED,
    "streamed, drained": evolve(STREAMED, drain=64),
    "in parts": evolve(STREAMED, workers=None, stream=False, split=3),
}


def poisoned(product: Matmul, size: tuple[int, int, int]) -> dict[str, Any]:
    """Small random integers, of which every order of a sum gives the same, and outputs that are no numbers."""
    inputs = random_inputs(product.compute, dict(zip("MNK", size, strict=True)))
    inputs = {name: np.rint(array) for name, array in inputs.items()}
    whole = product.with_outputs(inputs)
    return {name: array if name in inputs else np.full_like(array, np.nan) for name, array in whole.items()}


@pytest.mark.parametrize("output", [f16, f32], ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_row_sums_of_a_shared_sum(way: str, output: Element) -> None:
    product = Matmul(MatmulSpec(Layout.NT, output=output, epilogue=parse_epilogue("bias,row_sum")), "sm_90a", WAYS[way])
    held = poisoned(product, (72, 136, 200))
    kernel = product.kernel_for(held)
    on_machine = run(kernel.program, held, dict(bind(program_arrays(kernel.program), held).sizes), seed=3).arrays
    report = kernel.simulate(held)
    assert report is not None
    report.raise_findings()
    for name in ("D", "row_sum_parts"):
        assert np.array_equal(bits(held[name]), bits(on_machine[name])), name
    wanted = held["A"].astype(float) @ held["B"].astype(float).T + held["bias"]
    assert np.array_equal(held["D"], wanted)
    assert np.array_equal(held["row_sum_parts"].sum(axis=0), wanted.sum(axis=1))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("total", ["row_sum", "column_sum"])
def test_a_plan_for_sums_of_whole_rows_is_refused_by_name(way: str, total: str) -> None:
    """`Matmul` asks for sums of tiles; who writes a plan for the sums themselves is told so."""
    spec = MatmulSpec(epilogue=parse_epilogue(f"bias,{total}"))
    with pytest.raises(PlanError, match=rf"{total} of all that there is would .* MatmulSpec\(parts=\(32, 32\)\)"):
        matmul_plan(matmul_compute(spec), spec, FACTS, WAYS[way], "sm_90a")


@pytest.mark.parametrize("epilogue", ["row_sum", "bias,row_sum"])
def test_row_sums_with_swapped_factors_are_refused_by_name(epilogue: str) -> None:
    """They would cross the warps of a warpgroup, as column sums do without."""
    spec, tiling = MatmulSpec(epilogue=parse_epilogue(epilogue)), MatmulTiling(i=16, j=64, k=64, warps=4, swap=True)
    assert not is_legal(spec, "sm_90a", tiling)
    with pytest.raises(PlanError, match=r"swap=True: only .* over the columns of a row would cross the warps"):
        Matmul(spec, "sm_90a", tiling)
