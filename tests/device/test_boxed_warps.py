"""Warps whose slabs a warp beside them has copied as boxes, on the GPU: drawn shapes against float64, the bits of the
simulator and of warps that copy for themselves, the same bits in every run."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, bf16, f16, s8, tf32
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.plan import sms
from ptxgen.runtime import compute_capability
from tests.device.repeated import check_draws, check_runs, check_sleeps, drawn_sizes
from tests.kernels.cases import bits, random_inputs

BASE = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False, boxed=True)
TILINGS = (
    BASE,
    evolve(BASE, drain=32, overlap=True),
    evolve(BASE, depth=1),
    evolve(BASE, depth=2, k=32, prefetch=False),
    evolve(BASE, workers=sms, drain=32),
    evolve(BASE, workers=7),
    evolve(BASE, isolate=True, fragment_depth=1),
    evolve(BASE, split=2),
    evolve(BASE, i=32, j=32, warps=1, depth=4),
    evolve(BASE, i=128, j=128, warps=8, drain=32),
)
LARGE = evolve(BASE, i=128, j=256, warps=8, drain=32, overlap=True)
TYPES = (f16, bf16, tf32, s8)
EPILOGUES = ("", "bias,relu", "bias,gelu,residual", "alpha,beta,row_bias,keep,clamp,silu")


@pytest.fixture(autouse=True)
def boxes() -> None:
    if compute_capability()[0] < 9:
        pytest.skip("the device copies no tensors")


def draw(chance: Random) -> tuple[Matmul, dict[str, int]]:
    """A product with a random plan, layout, types, epilogue and shape: ragged, tiny and thin ones."""
    element: Element = chance.choice(TYPES)
    tiling = chance.choice(TILINGS)
    target = "sm_90"
    if element.byte_count == 2 and chance.random() < 0.2:
        tiling, target = LARGE, "sm_90a"
    if element.byte_count != 2:
        tiling = evolve(tiling, k=128 // element.byte_count, drain=0, depth=min(2, tiling.depth))
    if element is s8:
        tiling = evolve(tiling, split=1)
    layout = chance.choice(list(Layout))
    epilogue = parse_epilogue("" if element is s8 or target == "sm_90a" else chance.choice(EPILOGUES))
    spec = MatmulSpec.of(element, layout=layout, epilogue=epilogue, batched=chance.random() < 0.2)
    return Matmul(spec, target, tiling), drawn_sizes(chance, (1, 2, 8, 8, 16, 64))


def test_random_products() -> None:
    check_draws(draw, 0, 60)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_five_hundred_random_products(part: int) -> None:
    check_draws(draw, 1000 + 100 * part, 100)


@pytest.mark.parametrize("layout", Layout, ids=lambda layout: layout.value)
def test_the_same_bits_as_the_simulator_and_as_warps_that_copy(layout: Layout) -> None:
    spec = MatmulSpec(layout)
    found = []
    for target, tiling in (("sm_90", BASE), ("sm_90", evolve(BASE, boxed=False)), ("sm_90a", evolve(LARGE, drain=0))):
        product = Matmul(spec, target, tiling)
        inputs = random_inputs(product.compute, {"M": 200, "N": 264, "K": 200})
        found.append(product(inputs, on=Machine.GPU).arrays["D"])
        if tiling is BASE:
            found.append(product(inputs).arrays["D"])
    for other in found[1:]:
        assert np.array_equal(bits(found[0]), bits(other))


@pytest.mark.parametrize("tiling", [*TILINGS[:7], LARGE], ids=str)
def test_a_thousand_runs_give_the_same_bits(tiling: MatmulTiling) -> None:
    check_runs(Matmul(MatmulSpec(Layout.NT), "sm_90a", tiling), 392)


@pytest.mark.parametrize("tiling", [*TILINGS[:7], LARGE], ids=str)
def test_random_sleeps_change_no_bit(tiling: MatmulTiling) -> None:
    check_sleeps(Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(tiling, overlap=False)))
