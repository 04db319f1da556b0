"""Products whose blocks share the slabs of all tiles, on the GPU: against float64, the bits of the simulator, and the
same bits run after run, also where threads sleep at random, launches overlap and graphs are replayed."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from attrs import evolve

from ptxgen.compute import bf16, f16, f32
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.plan import BlockOrder, grouped, hilbert, sms
from ptxgen.runtime import compute_capability
from tests.device.repeated import (
    TINY,
    check_draws,
    check_replays,
    check_runs,
    check_simulated,
    check_sleeps,
    check_tiny,
)
from tests.kernels.cases import judge, random_inputs

STREAMED = MatmulTiling(isolate=False, workers=sms, stream=True)
TILINGS = (
    evolve(STREAMED, i=128, j=256, k=64, warps=8, depth=4, drain=64),
    evolve(STREAMED, i=128, j=128, k=64, warps=8, depth=5),
    evolve(STREAMED, i=64, j=64, k=64, warps=4, depth=3),
    evolve(STREAMED, i=64, j=256, k=64, warps=4, depth=4),
    evolve(STREAMED, i=192, j=128, k=64, warps=12, depth=4, drain=64),
    evolve(STREAMED, i=128, j=64, k=128, warps=8, depth=2, prefetch=False),
    evolve(STREAMED, i=128, j=128, k=64, warps=8, depth=4, drain=32, boxed=True),
)
PLACED = [
    (tiling, cluster) for tiling in TILINGS for cluster in ((1, 1), (2, 1)) if cluster == (1, 1) or not tiling.boxed
]
WORKERS = (sms, 1, 2, 3, 7, 40, 131, 1000)
EPILOGUES = ("", "bias,relu", "bias,gelu,residual", "row_bias,silu,keep", "alpha,beta,clamp")
RAGGED = ((3000, 3000, 3000), (2560, 2560, 2560), (5000, 1000, 1000), (1000, 776, 4096), (4096, 4096, 1000))


@pytest.fixture(autouse=True)
def on_hopper() -> None:
    if compute_capability()[0] != 9:
        pytest.skip("the plans are for devices of capability 9")


def draw(chance: Random) -> tuple[Matmul, dict[str, int]]:
    """A product and its sizes: any layout, types and epilogue, aligned or not, K from less than a slab on."""
    raster = chance.choice((BlockOrder(1), grouped(2), grouped(8), hilbert(4)))
    tiling = evolve(chance.choice(TILINGS), workers=chance.choice(WORKERS), raster=raster)
    if chance.random() < 0.3 and not tiling.boxed:
        tiling = evolve(tiling, cluster=chance.choice(((2, 1), (1, 2))))
    if chance.random() < 0.3:
        tiling = evolve(tiling, overlap=True)
    element = chance.choice((f16, bf16))
    spec = MatmulSpec(
        chance.choice(list(Layout)),
        f32,
        chance.choice((element, f32)) if tiling.j < 256 and tiling.warps < 12 else element,
        parse_epilogue(chance.choice(EPILOGUES)),
        batched=chance.random() < 0.2,
        input=element,
    )
    unit = 8 if chance.random() < 0.8 else 1
    sizes = {name: unit * chance.randint(1, most) for name, most in (("M", 90), ("N", 120), ("K", 160))}
    return Matmul(spec, "sm_90a", tiling), {**sizes, "batches": 3}


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_drawn_products(first: int) -> None:
    check_draws(draw, first, 20)


def operands(m: int, n: int, k: int, seed: int = 7) -> tuple[Any, Any, Any]:
    """A as M x K, B as N x K, a result of no meaning yet."""
    torch = pytest.importorskip("torch")
    rng = torch.Generator(device="cuda").manual_seed(seed)
    a = torch.randn(m, k, device="cuda", dtype=torch.float16, generator=rng)
    b = torch.randn(n, k, device="cuda", dtype=torch.float16, generator=rng)
    return a, b, torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16)


@pytest.mark.parametrize(("tiling", "cluster"), PLACED, ids=str)
@pytest.mark.parametrize("size", RAGGED, ids=str)
def test_rounds_that_are_not_whole(size: tuple[int, int, int], tiling: MatmulTiling, cluster: tuple[int, int]) -> None:
    torch = pytest.importorskip("torch")
    a, b, d = operands(*size)
    again = torch.empty_like(d)
    product = Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(tiling, cluster=cluster))
    for target in (d, again):
        product({"A": a, "B": b, "D": target}, on=Machine.GPU)
    wanted = a.double() @ b.double().T
    assert float((d.double() - wanted).norm() / wanted.norm()) < 1e-3
    assert torch.equal(again, d)


@pytest.mark.parametrize("size", TINY, ids=str)
@pytest.mark.parametrize("workers", [sms, 3], ids=str)
def test_ragged_and_tiny_shapes(size: tuple[int, int, int], workers: Any) -> None:
    check_tiny(evolve(TILINGS[2], workers=workers), size)


@pytest.mark.parametrize("workers", (2, 3, 5, 7))
def test_simulated_bits_are_those_of_the_gpu(workers: int) -> None:
    check_simulated(evolve(TILINGS[2], workers=workers), {"M": 136, "N": 136, "K": 712})


@pytest.mark.parametrize("workers", [sms, 31], ids=str)
@pytest.mark.parametrize("tiling", (TILINGS[0], TILINGS[2], TILINGS[4]), ids=str)
def test_a_thousand_runs_give_the_same_bits(tiling: MatmulTiling, workers: Any) -> None:
    check_runs(Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(tiling, workers=workers, overlap=True)), 776)


@pytest.mark.parametrize(("tiling", "cluster"), PLACED, ids=str)
def test_random_sleeps_change_no_bit(tiling: MatmulTiling, cluster: tuple[int, int]) -> None:
    check_sleeps(Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(tiling, workers=6, cluster=cluster)))


@pytest.mark.parametrize("target", ["sm_70", "sm_80"])
def test_older_targets(target: str) -> None:
    tiling = evolve(STREAMED, i=64, j=64, k=32, warps=4, depth=3 if target == "sm_80" else 2)
    for workers in (sms, 7):
        spec = MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu"))
        product = Matmul(spec, target, evolve(tiling, workers=workers))
        inputs = random_inputs(product.compute, {"M": 1544, "N": 1160, "K": 776})
        for _ in range(3):
            judge(product.compute, product(inputs, on=Machine.GPU).arrays, {}, exact=False, target="sm_90")


@pytest.mark.parametrize("overlap", [False, True])
def test_launches_of_other_sizes_share_a_workspace(overlap: bool) -> None:
    """Flags are zero again behind each launch, whatever its blocks; small and large launches follow each other."""
    torch = pytest.importorskip("torch")
    product = Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(TILINGS[1], overlap=overlap))
    held = [operands(*size) for size in ((264, 136, 712), (3000, 1000, 456), (136, 136, 72), (2048, 2048, 520))]
    kernel = product.kernel_for({"A": held[0][0], "B": held[0][1], "D": held[0][2]})
    firsts = []
    for a, b, d in held:
        kernel.run({"A": a, "B": b, "D": d})
        firsts.append(d.clone())
    for _ in range(50):
        for a, b, d in held:
            d.fill_(float("nan"))
            kernel.run({"A": a, "B": b, "D": d})
        for first, (_, _, d) in zip(firsts, held, strict=True):
            assert torch.equal(d, first)


@pytest.mark.parametrize("tiling", (TILINGS[0], evolve(TILINGS[1], cluster=(2, 1), overlap=True)), ids=str)
def test_a_captured_graph_runs_again_and_again(tiling: MatmulTiling) -> None:
    a, b, _ = operands(3000, 2560, 1032)
    check_replays(tiling, a, b, launches=3)


def test_as_many_blocks_as_run_at_once_or_two_for_each_tile() -> None:
    torch = pytest.importorskip("torch")
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    product = Matmul(MatmulSpec(Layout.NT), "sm_90a", TILINGS[0])
    for (m, n), blocks in (((4096, 4096), processors), ((512, 1024), 32)):
        a, b, d = operands(m, n, 1024)
        kernel = product.kernel_for({"A": a, "B": b, "D": d})
        assert kernel.resident() == processors
        assert kernel.prepare({"A": a, "B": b, "D": d}).blocks == blocks
