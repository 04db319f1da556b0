"""Products whose k neighbouring blocks sum in parts, on the GPU: against float64, and the same bits run after run."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import bf16, f16, f32
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.runtime import compute_capability
from tests.device.repeated import (
    TINY,
    carried_out,
    check_draws,
    check_replays,
    check_runs,
    check_simulated,
    check_sleeps,
    check_tiny,
    runs_at_once,
)
from tests.kernels.cases import judge, random_inputs, scalars_of

PARTS = (2, 4, 8)
PASSED_ON = (3, 5, 16)
TILINGS = (
    MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, isolate=False),
    MatmulTiling(i=128, j=128, k=64, warps=8, depth=5),
    MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False),
    MatmulTiling(i=64, j=256, k=64, warps=4, depth=4, isolate=False),
    MatmulTiling(i=128, j=64, k=128, warps=8, depth=2, prefetch=False),
)
EPILOGUES = ("", "bias,relu", "bias,gelu,residual", "row_bias,silu,keep", "alpha,beta,clamp")
SMALL_GRIDS = ((128, 4096, 4096), (512, 4096, 4096), (1024, 1024, 1024), (3072, 768, 768))


@pytest.fixture(autouse=True)
def on_hopper() -> None:
    if compute_capability()[0] != 9:
        pytest.skip("clusters of these plans are for sm_90a")


def draw(chance: Random) -> tuple[Matmul, dict[str, int]]:
    """A product and its sizes: any layout, types and epilogue, aligned or not, K from less than a slab on."""
    tiling = evolve(chance.choice(TILINGS), split=chance.choice((*PARTS, *PASSED_ON)))
    if tiling.split < 8 and chance.random() < 0.3:
        tiling = evolve(tiling, cluster=chance.choice(((2, 1), (1, 2))))
    element = chance.choice((f16, bf16))
    joined = tiling.split in PARTS and tiling.split * tiling.cluster[0] * tiling.cluster[1] <= 8
    spec = MatmulSpec(
        chance.choice(list(Layout)),
        chance.choice((f16, f32)) if element is f16 and joined else f32,
        chance.choice((element, f32)) if joined or tiling.j < 256 else element,
        parse_epilogue(chance.choice(EPILOGUES)),
        batched=chance.random() < 0.2,
        input=element,
    )
    tiling = chance.choice(carried_out(spec, "sm_90a", [evolve(tiling, drain=drain) for drain in (0, 64)]))
    unit = 8 if chance.random() < 0.8 else 1
    sizes = {name: unit * chance.randint(1, most) for name, most in (("M", 60), ("N", 80), ("K", 120))}
    return Matmul(spec, "sm_90a", tiling), {**sizes, "batches": 3}


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_drawn_products(first: int) -> None:
    check_draws(draw, first, 20)


@pytest.mark.parametrize("parts", (*PARTS, *PASSED_ON))
@pytest.mark.parametrize("tiling", TILINGS[:4], ids=str)
@pytest.mark.parametrize("size", SMALL_GRIDS, ids=str)
def test_small_grids(size: tuple[int, int, int], tiling: MatmulTiling, parts: int) -> None:
    spec = MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu"))
    product = Matmul(spec, "sm_90a", evolve(tiling, split=parts))
    inputs = random_inputs(product.compute, dict(zip("MNK", size, strict=True)))
    a, b = inputs["A"].astype(np.float32), inputs["B"].astype(np.float32)
    wanted = np.maximum(a @ b.T + inputs["bias"], 0)
    if not runs_at_once(product, inputs):
        return
    found = product(inputs, scalars_of(product.compute), on=Machine.GPU).arrays["D"].astype(np.float32)
    assert np.abs(found - wanted).max() < 2.0**-10 * np.abs(wanted).max()


@pytest.mark.parametrize("parts", (*PARTS, *PASSED_ON))
@pytest.mark.parametrize("size", TINY, ids=str)
def test_ragged_and_tiny_shapes(size: tuple[int, int, int], parts: int) -> None:
    check_tiny(evolve(TILINGS[2], split=parts), size)


@pytest.mark.parametrize("parts", (2, 4, 8, 3, 5))
def test_simulated_bits_are_those_of_the_gpu(parts: int) -> None:
    check_simulated(evolve(TILINGS[2], split=parts), {"M": 136, "N": 72, "K": 712})


@pytest.mark.parametrize("parts", (*PARTS, *PASSED_ON))
def test_a_thousand_runs_give_the_same_bits(parts: int) -> None:
    check_runs(Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(TILINGS[0], split=parts)), 776)


@pytest.mark.parametrize("parts", (*PARTS, *PASSED_ON))
def test_random_sleeps_change_no_bit(parts: int) -> None:
    check_sleeps(Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(TILINGS[2], split=parts)))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_five_hundred_drawn_products(part: int) -> None:
    check_draws(draw, 1000 + 100 * part, 100)


@pytest.mark.parametrize("parts", (2, 3, 8))
@pytest.mark.parametrize("target", ["sm_70", "sm_80"])
def test_targets_without_clusters_pass_their_sums_on(target: str, parts: int) -> None:
    tiling = MatmulTiling(i=64, j=64, k=32, warps=4, depth=3 if target == "sm_80" else 2, isolate=False, split=parts)
    product = Matmul(MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu")), target, tiling)
    inputs = random_inputs(product.compute, {"M": 520, "N": 392, "K": 776})
    for _ in range(3 if runs_at_once(product, inputs) else 0):
        outcome = product(inputs, on=Machine.GPU)
        judge(product.compute, outcome.arrays, {}, exact=False, target="sm_90")


@pytest.mark.parametrize("parts", (4, 5))
def test_a_captured_graph_runs_again_and_again(parts: int) -> None:
    torch = pytest.importorskip("torch")
    a, b = (torch.randn(512, 1024, device="cuda", dtype=torch.float16) for _ in range(2))
    check_replays(evolve(TILINGS[1], split=parts), a, b, launches=1)
