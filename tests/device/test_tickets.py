"""Products whose blocks pass sums on and take their parts by ticket, on the GPU: many more blocks than it runs at once,
against float64, the bits of blocks that all run at once and of the simulator, the same bits run after run, also where
threads sleep at random, graphs are replayed, and other kernels fill the device."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from attrs import evolve

from ptxgen.compute import bf16, f16, f32
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.plan import sms
from ptxgen.runtime import compute_capability
from tests.device.repeated import (
    TINY,
    carried_out,
    check_beside_others,
    check_draws,
    check_replays,
    check_runs,
    check_simulated,
    check_sleeps,
    check_tiny,
    drawn_sizes,
)

PARTS = (3, 5, 16)
TILINGS = (
    MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, isolate=False, tickets=True),
    MatmulTiling(i=128, j=128, k=64, warps=8, depth=5, tickets=True),
    MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False, tickets=True),
)
WAYS: dict[str, dict[str, Any]] = {
    "split": {"split": 3},
    "split, overlapped": {"split": 16, "overlap": True},
    "streamed": {"workers": 1000, "stream": True},
    "streamed, overlapped": {"workers": sms, "stream": True, "overlap": True},
}
EPILOGUES = ("", "bias,relu", "bias,gelu,residual", "row_bias,silu,keep", "alpha,beta,clamp")


@pytest.fixture(autouse=True)
def on_hopper() -> None:
    if compute_capability()[0] != 9:
        pytest.skip("the plans are for devices of capability 9")


def operands(m: int, n: int, k: int) -> tuple[Any, Any, Any]:
    """A as M x K, B as N x K, a result of no meaning yet."""
    torch = pytest.importorskip("torch")
    rng = torch.Generator(device="cuda").manual_seed(7)
    a = torch.randn(m, k, device="cuda", dtype=torch.float16, generator=rng)
    b = torch.randn(n, k, device="cuda", dtype=torch.float16, generator=rng)
    return a, b, torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16)


def draw(chance: Random) -> tuple[Matmul, dict[str, int]]:
    """A product and its sizes: any layout, types and epilogue, aligned or not, of more blocks than run at once or of
    fewer."""
    tiling = evolve(chance.choice(TILINGS), **chance.choice(list(WAYS.values())))
    element = chance.choice((f16, bf16))
    output = element if tiling.j == 256 else chance.choice((element, f32))
    spec = MatmulSpec(
        chance.choice(list(Layout)), f32, output, parse_epilogue(chance.choice(EPILOGUES)),
        batched=chance.random() < 0.2, input=element,
    )  # fmt: skip
    tiling = chance.choice(carried_out(spec, "sm_90a", [evolve(tiling, drain=drain) for drain in (0, 64)]))
    return Matmul(spec, "sm_90a", tiling), drawn_sizes(chance, rows=2000)


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_drawn_products(first: int) -> None:
    check_draws(draw, first, 20)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("tiling", TILINGS, ids=str)
def test_many_more_blocks_than_run_at_once(tiling: MatmulTiling, parts: int) -> None:
    torch = pytest.importorskip("torch")
    a, b, d = operands(4096, 4104, 2056)
    product = Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(tiling, split=parts))
    kernel = product.kernel_for({"A": a, "B": b, "D": d})
    launch = kernel.prepare({"A": a, "B": b, "D": d})
    assert launch.blocks > 4 * kernel.resident()
    assert not launch.cooperative
    again = torch.empty_like(d)
    for target in (d, again):
        kernel.run({"A": a, "B": b, "D": target})
    wanted = a.double() @ b.double().T
    assert float((d.double() - wanted).norm() / wanted.norm()) < 1e-3
    assert torch.equal(again, d)


@pytest.mark.parametrize("way", WAYS)
def test_the_bits_of_blocks_that_all_run_at_once(way: str) -> None:
    torch = pytest.importorskip("torch")
    changed = {**WAYS[way], **({"workers": 90} if "workers" in WAYS[way] else {}), "overlap": False}
    a, b, d = operands(328, 264, 1032)
    again = torch.empty_like(d)
    for target, tickets in ((d, True), (again, False)):
        tiling = evolve(TILINGS[2], **changed, tickets=tickets)
        Matmul(MatmulSpec(Layout.NT), "sm_90a", tiling)({"A": a, "B": b, "D": target}, on=Machine.GPU)
    assert torch.equal(again, d)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", TINY, ids=str)
def test_ragged_and_tiny_shapes(size: tuple[int, int, int], way: str) -> None:
    check_tiny(evolve(TILINGS[2], **WAYS[way]), size)


def test_simulated_bits_are_those_of_the_gpu() -> None:
    check_simulated(evolve(TILINGS[2], split=3), {"M": 136, "N": 136, "K": 712})
    check_simulated(evolve(TILINGS[2], workers=7, stream=True), {"M": 136, "N": 136, "K": 712})


@pytest.mark.parametrize("way", WAYS)
def test_a_thousand_runs_give_the_same_bits(way: str) -> None:
    check_runs(Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(TILINGS[2], **WAYS[way])), 776)


@pytest.mark.parametrize("way", WAYS)
def test_random_sleeps_change_no_bit(way: str) -> None:
    check_sleeps(Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(TILINGS[2], **WAYS[way])))


@pytest.mark.parametrize("way", WAYS)
def test_graphs_are_replayed(way: str) -> None:
    """Each launch leaves the counter as it found it."""
    a, b, _ = operands(1000, 1032, 776)
    check_replays(evolve(TILINGS[2], **WAYS[way]), a, b, 3)


@pytest.mark.parametrize("target", ["sm_70", "sm_80"])
def test_older_targets(target: str) -> None:
    torch = pytest.importorskip("torch")
    a, b, d = operands(3080, 2056, 1032)
    tiling = MatmulTiling(i=64, j=64, k=32, warps=4, depth=3 if target == "sm_80" else 2, split=5, tickets=True)
    Matmul(MatmulSpec(Layout.NT), target, tiling)({"A": a, "B": b, "D": d}, on=Machine.GPU)
    wanted = a.double() @ b.double().T
    assert float((d.double() - wanted).norm() / wanted.norm()) < 1e-3
    torch.cuda.synchronize()


@pytest.mark.parametrize("way", WAYS)
def test_beside_kernels_that_fill_the_device(way: str) -> None:
    torch = pytest.importorskip("torch")
    product = Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(TILINGS[1], **WAYS[way]))
    a, b, d = operands(1024, 1280, 2048)
    outs = [torch.empty_like(d) for _ in range(3)]
    check_beside_others(product.kernel_for({"A": a, "B": b, "D": d}), a, b, outs)
