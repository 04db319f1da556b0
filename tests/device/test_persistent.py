"""Products by blocks that stay, on the GPU: ragged shapes and many more tiles than blocks against float64, the bits of
a block for each tile, and the same bits in every run."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import f16, f32
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, default_tiling, parse_epilogue
from ptxgen.plan import BlockOrder, grouped, sms
from ptxgen.runtime import compute_capability
from tests.device.repeated import check_draws, check_runs, check_sleeps, drawn_sizes
from tests.kernels.cases import bits, random_inputs

EPILOGUES = ("", "bias,relu", "bias,gelu,residual", "alpha,beta,row_bias,keep,clamp,silu")
WARPGROUPS = (
    MatmulTiling(i=128, j=256, k=64, warps=8, depth=4),
    MatmulTiling(i=128, j=128, k=64, warps=8, depth=5),
    MatmulTiling(i=64, j=64, k=64, warps=4, depth=3),
    MatmulTiling(i=64, j=128, k=32, warps=4, depth=6),
    MatmulTiling(i=64, j=64, k=32, warps=4, depth=2),
    MatmulTiling(i=128, j=64, k=128, warps=8, depth=2, prefetch=False),
    MatmulTiling(i=64, j=64, k=64, warps=4, depth=1, prefetch=False),
)
WARPS = (
    MatmulTiling(i=128, j=256, warps=8, depth=4),
    MatmulTiling(i=64, j=64, k=64, depth=2),
    MatmulTiling(i=64, j=64, depth=1),
)
PLANS = [("sm_90a", tiling) for tiling in WARPGROUPS] + [("sm_90", tiling) for tiling in WARPS]
RASTERS = (BlockOrder(1), grouped(2), grouped(8))
WORKERS = (sms, 1, 2, 3, 7, 40, 131, 1000)


@pytest.fixture(autouse=True)
def hopper() -> None:
    if compute_capability()[0] != 9:
        pytest.skip("the plans are for devices of capability 9")


def draw(chance: Random) -> tuple[Matmul, dict[str, int]]:
    """A product with a random plan, work list, layout, types, epilogue and shape: ragged, tiny and thin ones."""
    target, tiling = chance.choice(PLANS)
    tiling = evolve(tiling, workers=chance.choice(WORKERS), raster=chance.choice(RASTERS))
    spec = MatmulSpec(
        chance.choice(list(Layout)),
        chance.choice((f16, f32)),
        epilogue=parse_epilogue(chance.choice(EPILOGUES)),
        batched=chance.random() < 0.2,
    )
    return Matmul(spec, target, tiling), drawn_sizes(chance, rows=700)


def test_random_products() -> None:
    check_draws(draw, 0, 60)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_five_hundred_random_products(part: int) -> None:
    check_draws(draw, 1000 + 100 * part, 100)


@pytest.mark.parametrize(("target", "tiling"), PLANS, ids=str)
def test_the_same_bits_as_the_simulator_and_a_block_for_each_tile(target: str, tiling: MatmulTiling) -> None:
    for layout in (Layout.NN, Layout.NT):
        found: list[dict[str, Any]] = []
        for workers in (None, 2, sms):
            product = Matmul(MatmulSpec(layout), target, evolve(tiling, workers=workers))
            inputs = random_inputs(product.compute, {"M": 200, "N": 264, "K": 200})
            found.append(dict(product(inputs, on=Machine.GPU).arrays))
            if workers == 2:
                found.append(dict(product(inputs).arrays))
        for other in found[1:]:
            assert np.array_equal(bits(found[0]["D"]), bits(other["D"])), layout


@pytest.mark.parametrize("workers", [sms, 17], ids=str)
@pytest.mark.parametrize("size", [(8192, 4096, 96), (4104, 4104, 1032), (520, 16392, 264)], ids=str)
def test_many_more_tiles_than_blocks(size: tuple[int, int, int], workers: Any) -> None:
    torch = pytest.importorskip("torch")
    m, n, k = size
    rng = torch.Generator(device="cuda").manual_seed(3)
    a = torch.randn(m, k, device="cuda", dtype=torch.float16, generator=rng)
    b = torch.randn(n, k, device="cuda", dtype=torch.float16, generator=rng)
    bias = torch.randn(n, device="cuda", dtype=torch.float32, generator=rng)
    spec = MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu"))
    base = default_tiling(spec, "sm_90a")
    results = []
    for tiling in (base, evolve(base, workers=workers), evolve(base, workers=workers, raster=BlockOrder(1))):
        d = torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16)
        Matmul(spec, "sm_90a", tiling)({"A": a, "B": b, "bias": bias, "D": d}, on=Machine.GPU)
        results.append(d)
    wanted = torch.relu(a.double() @ b.double().T + bias.double())
    assert float((results[0].double() - wanted).norm() / wanted.norm()) < 1e-3
    assert all(torch.equal(results[0], other) for other in results[1:])


@pytest.mark.parametrize(("target", "tiling"), PLANS, ids=str)
def test_a_thousand_runs_give_the_same_bits(target: str, tiling: MatmulTiling) -> None:
    check_runs(Matmul(MatmulSpec(Layout.NT), target, evolve(tiling, workers=31)), 392)


@pytest.mark.parametrize("tiling", WARPGROUPS, ids=str)
def test_random_sleeps_change_no_bit(tiling: MatmulTiling) -> None:
    check_sleeps(Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(tiling, workers=5)))


def test_as_many_blocks_as_the_device_runs() -> None:
    torch = pytest.importorskip("torch")
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    spec = MatmulSpec(Layout.NT)
    product = Matmul(spec, "sm_90a", evolve(default_tiling(spec, "sm_90a"), workers=sms))
    arrays = product.with_outputs(random_inputs(product.compute, {"M": 8192, "N": 4096, "K": 64}))
    kernel = product.kernel_for(arrays)
    assert kernel.resident() == processors
    assert kernel.prepare(arrays).blocks == processors
