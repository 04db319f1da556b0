"""Clusters that walk a work list, warpgroups that take turns, tiles along a curve and hints to caches, on the GPU:
drawn shapes against float64, the bits of a block for each tile, the same bits in every run."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import f16, f32
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, default_tiling, parse_epilogue
from ptxgen.plan import BlockOrder, evict_first, evict_last, grouped, hilbert, sms
from ptxgen.runtime import compute_capability
from tests.device.repeated import check_draws, check_runs, check_sleeps, drawn_sizes
from tests.kernels.cases import bits, random_inputs

TOGETHER = (
    MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, drain=64),
    MatmulTiling(i=128, j=128, k=64, warps=8, depth=5, drain=32),
    MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, drain=64),
    MatmulTiling(i=64, j=64, k=32, warps=4, depth=2),
    MatmulTiling(i=128, j=64, k=128, warps=8, depth=2, prefetch=False),
)
IN_TURNS = (
    MatmulTiling(i=64, j=256, k=64, warps=8, depth=4, drain=64, turns=True),
    MatmulTiling(i=64, j=256, k=64, warps=8, depth=5, drain=32, turns=True),
    MatmulTiling(i=64, j=128, k=64, warps=8, depth=6, drain=64, turns=True),
    MatmulTiling(i=64, j=64, k=32, warps=8, depth=2, turns=True),
    MatmulTiling(i=64, j=64, k=64, warps=8, depth=1, prefetch=False, turns=True),
)
CLUSTERS = ((2, 1), (1, 2), (2, 2), (4, 1))
RASTERS = (BlockOrder(1), grouped(2), grouped(16), hilbert(2), hilbert(8), hilbert(16))
WORKERS = (sms, 1, 2, 4, 9, 40, 131, 1000)
EVICTIONS = (None, evict_first, evict_last)
EPILOGUES = ("", "bias,relu", "bias,gelu,residual", "alpha,beta,row_bias,keep,clamp,silu")
NAMED: dict[str, MatmulTiling] = {
    "pairs": evolve(TOGETHER[0], cluster=(2, 1)),
    "pairs beside": evolve(TOGETHER[1], cluster=(1, 2)),
    "fours": evolve(TOGETHER[2], cluster=(2, 2)),
    "turns": IN_TURNS[0],
    "turns, shallow": IN_TURNS[3],
    "turns, one slot": IN_TURNS[4],
    "turns in pairs": evolve(IN_TURNS[0], cluster=(2, 1)),
    "turns in fours": evolve(IN_TURNS[2], cluster=(4, 1)),
    "everything": evolve(
        IN_TURNS[1],
        cluster=(2, 1),
        raster=hilbert(16),
        evict=(evict_last, evict_last, evict_first),
        maps_early=True,
        overlap=True,
    ),
}


@pytest.fixture(autouse=True)
def hopper() -> None:
    if compute_capability()[0] != 9:
        pytest.skip("the plans are for devices of capability 9")


def draw(chance: Random) -> tuple[Matmul, dict[str, int]]:
    """A product with a random plan, layout, types, epilogue and shape: ragged, tiny and thin ones."""
    tiling = chance.choice(TOGETHER + IN_TURNS)
    cluster = chance.choice(CLUSTERS) if not tiling.turns or chance.random() < 0.5 else (1, 1)
    tiling = evolve(
        tiling,
        cluster=cluster,
        workers=chance.choice(WORKERS),
        raster=chance.choice(RASTERS),
        evict=(chance.choice(EVICTIONS), chance.choice(EVICTIONS), chance.choice(EVICTIONS) if tiling.drain else None),
        maps_early=chance.random() < 0.5,
    )
    spec = MatmulSpec(
        chance.choice(list(Layout)),
        chance.choice((f16, f32)),
        epilogue=parse_epilogue(chance.choice(EPILOGUES)),
        batched=chance.random() < 0.2,
    )
    return Matmul(spec, "sm_90a", tiling), drawn_sizes(chance)


def test_random_products() -> None:
    check_draws(draw, 0, 60)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_five_hundred_random_products(part: int) -> None:
    check_draws(draw, 1000 + 100 * part, 100)


@pytest.mark.parametrize("name", NAMED)
def test_the_same_bits_as_the_simulator_and_a_block_for_each_tile(name: str) -> None:
    tiling = NAMED[name]
    rows, across = (2 if tiling.turns else 1), evolve(tiling, turns=False, cluster=(1, 1), overlap=False)
    depth = min(tiling.depth, 4)
    alone = evolve(across, i=tiling.i * rows, depth=depth, workers=None, raster=BlockOrder(1), drain=0)
    alone = evolve(alone, evict=(*tiling.evict[:2], None))
    for layout in (Layout.NN, Layout.NT):
        found: list[dict[str, Any]] = []
        for each in (alone, evolve(tiling, workers=2), evolve(tiling, workers=4), evolve(tiling, workers=sms)):
            product = Matmul(MatmulSpec(layout), "sm_90a", each)
            inputs = random_inputs(product.compute, {"M": 200, "N": 264, "K": 200})
            found.append(dict(product(inputs, on=Machine.GPU).arrays))
            if each.workers == 2:
                found.append(dict(product(inputs).arrays))
        for other in found[1:]:
            assert np.array_equal(bits(found[0]["D"]), bits(other["D"])), layout


@pytest.mark.parametrize("slabs", [0, 1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("name", NAMED)
def test_every_end_of_the_ring_with_few_and_many_tiles(name: str, slabs: int) -> None:
    """One block or cluster with one tile, two, three and many, the last slab not full."""
    tiling = NAMED[name]
    for rows, columns in ((tiling.i, 8), (2 * tiling.i, 8), (3 * tiling.i, tiling.j), (7 * tiling.i - 8, 2 * tiling.j)):
        for workers in (1, sms):
            product = Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(tiling, workers=workers))
            sizes = {"M": rows, "N": columns, "K": max(0, tiling.k * slabs - 8)}
            inputs = random_inputs(product.compute, sizes, slabs)
            got = product(inputs, on=Machine.GPU).arrays["D"].astype(float)
            wanted = inputs["A"].astype(float) @ inputs["B"].astype(float).T
            assert np.abs(got - wanted).max(initial=0) < 2e-3 * (np.abs(wanted).max(initial=0) + 1)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("size", [(8192, 4096, 96), (4104, 4104, 1032), (520, 16392, 264)], ids=str)
def test_many_more_tiles_than_blocks(size: tuple[int, int, int], name: str) -> None:
    torch = pytest.importorskip("torch")
    m, n, k = size
    rng = torch.Generator(device="cuda").manual_seed(3)
    a = torch.randn(m, k, device="cuda", dtype=torch.float16, generator=rng)
    b = torch.randn(n, k, device="cuda", dtype=torch.float16, generator=rng)
    bias = torch.randn(n, device="cuda", dtype=torch.float32, generator=rng)
    spec = MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu"))
    results = []
    for tiling in (default_tiling(spec, "sm_90a"), *(evolve(NAMED[name], workers=w) for w in (sms, 17))):
        d = torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16)
        Matmul(spec, "sm_90a", tiling)({"A": a, "B": b, "bias": bias, "D": d}, on=Machine.GPU)
        results.append(d)
    wanted = torch.relu(a.double() @ b.double().T + bias.double())
    assert float((results[0].double() - wanted).norm() / wanted.norm()) < 1e-3
    assert all(torch.equal(results[0], other) for other in results[1:])


@pytest.mark.parametrize("name", NAMED)
def test_a_thousand_runs_give_the_same_bits(name: str) -> None:
    check_runs(Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(NAMED[name], workers=31)), 392)


@pytest.mark.parametrize("name", NAMED)
def test_random_sleeps_change_no_bit(name: str) -> None:
    check_sleeps(Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(NAMED[name], workers=5, overlap=False)))


@pytest.mark.parametrize("cluster", [(2, 1), (1, 2), (4, 1)], ids=str)
def test_as_many_clusters_as_the_device_finds_room_for(cluster: tuple[int, int]) -> None:
    torch = pytest.importorskip("torch")
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    product = Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(TOGETHER[0], cluster=cluster, workers=sms))
    arrays = product.with_outputs(random_inputs(product.compute, {"M": 8192, "N": 4096, "K": 64}))
    kernel = product.kernel_for(arrays)
    size = cluster[0] * cluster[1]
    assert kernel.resident() % size == 0
    assert processors // 2 < kernel.resident() <= processors // size * size
    assert kernel.prepare(arrays).blocks == kernel.resident()


@pytest.mark.parametrize("raster", [hilbert(2), hilbert(8), hilbert(16)], ids=str)
@pytest.mark.parametrize("workers", [None, sms], ids=str)
def test_tiles_along_a_curve_give_the_bits_of_rows(raster: BlockOrder, workers: Any) -> None:
    base = evolve(TOGETHER[2], isolate=False, workers=workers)
    for m, n in ((1096, 2056), (64, 4104), (4104, 64)):
        found = []
        for order in (BlockOrder(1), raster):
            product = Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(base, raster=order))
            inputs = random_inputs(product.compute, {"M": m, "N": n, "K": 72})
            found.append(product(inputs, on=Machine.GPU).arrays["D"])
        assert np.array_equal(bits(found[0]), bits(found[1])), (m, n)
