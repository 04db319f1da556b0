"""Products of Ampere's and Hopper's plans on the GPU: random shapes, layouts, epilogues and plans against float64, and
the same bits as the CPU simulator."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from ptxgen.compute import f16, f32
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.runtime import compute_capability
from tests.device.repeated import check_draws, check_runs
from tests.kernels.cases import bits, random_inputs

EPILOGUES = ("", "bias", "bias,relu", "bias,gelu,residual", "alpha,beta,row_bias,keep,clamp,silu")
WARPS = (
    MatmulTiling(i=128, j=256, warps=8, depth=4, isolate=False),
    MatmulTiling(depth=4),
    MatmulTiling(i=64, j=64, depth=3),
    MatmulTiling(i=64, j=64, k=64, depth=2),
    MatmulTiling(i=64, j=128, k=16, warps=2, depth=5, isolate=False),
    MatmulTiling(i=64, j=64, depth=1),
    MatmulTiling(i=128, j=256, warps=8, depth=4, isolate=False, drain=16),
    MatmulTiling(i=64, j=64, depth=3, drain=32),
)
WARPGROUPS = (
    MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, isolate=False),
    MatmulTiling(i=128, j=128, k=64, warps=8, depth=5),
    MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False),
    MatmulTiling(i=64, j=128, k=32, warps=4, depth=6, isolate=False),
    MatmulTiling(i=128, j=64, k=128, warps=8, depth=2, prefetch=False),
    MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, isolate=False, drain=64),
    MatmulTiling(i=128, j=128, k=64, warps=8, depth=4, drain=32),
    MatmulTiling(i=64, j=128, k=64, warps=4, depth=9, isolate=False, drain=64),
)
PLANS = [("sm_90", tiling) for tiling in WARPS] + [("sm_90a", tiling) for tiling in WARPGROUPS]


def runs_here(target: str) -> bool:
    major, _ = compute_capability()
    return major == 9 if target.endswith("a") else major >= int(target.removeprefix("sm_")) // 10


def draw(chance: Random) -> tuple[Matmul, dict[str, int]]:
    """A product with a random plan, layout, types, epilogue and shape: ragged and tiny ones among them."""
    target, tiling = chance.choice(PLANS)
    while not runs_here(target):
        target, tiling = chance.choice(PLANS)
    epilogue = chance.choice(EPILOGUES)
    spec = MatmulSpec(chance.choice(list(Layout)), chance.choice((f16, f32)), epilogue=parse_epilogue(epilogue))
    unit = chance.choice((1, 2, 8, 8, 8, 64))
    sizes = {
        name: unit * chance.randint(1, max(1, most // unit)) for name, most in (("M", 400), ("N", 500), ("K", 300))
    }
    return Matmul(spec, target, tiling), sizes


def test_random_products() -> None:
    check_draws(draw, 0, 60)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_five_hundred_random_products(part: int) -> None:
    check_draws(draw, 1000 + 100 * part, 100)


@pytest.mark.parametrize(("target", "tiling"), PLANS, ids=str)
def test_the_same_bits_as_the_simulator(target: str, tiling: MatmulTiling) -> None:
    if not runs_here(target):
        pytest.skip(f"the device does not run {target}")
    for layout in (Layout.NN, Layout.TN, Layout.NT, Layout.TT):
        product = Matmul(MatmulSpec(layout), target, tiling)
        inputs = random_inputs(product.compute, {"M": 72, "N": 136, "K": 200})
        here: dict[str, Any] = dict(product(inputs).arrays)
        there = product(inputs, on=Machine.GPU).arrays
        assert np.array_equal(bits(here["D"]), bits(there["D"])), layout


@pytest.mark.parametrize(("target", "tiling"), PLANS, ids=str)
def test_a_thousand_runs_give_the_same_bits(target: str, tiling: MatmulTiling) -> None:
    if not runs_here(target):
        pytest.skip(f"the device does not run {target}")
    check_runs(Matmul(MatmulSpec(Layout.NT), target, tiling), 776)
