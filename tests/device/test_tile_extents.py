"""Products of warpgroups whose tiles have extents that are no powers of two, on the GPU: ragged shapes against float64,
the bits of the simulator and of tiles of powers of two, and the same bits in every run."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, bf16, e4m3, f16, f32, s8
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.plan import BlockOrder, MultiplyBy, grouped, sms
from ptxgen.runtime import compute_capability
from tests.device.repeated import carried_out, check_draws, check_runs, drawn_sizes
from tests.kernels.cases import bits, random_inputs

TILINGS = (
    MatmulTiling(i=128, j=192, k=64, warps=8, depth=4),
    MatmulTiling(i=192, j=128, k=64, warps=12, depth=3),
    MatmulTiling(i=192, j=96, k=64, warps=12, depth=5),
    MatmulTiling(i=192, j=192, k=64, warps=12, depth=3),
    MatmulTiling(i=192, j=160, k=32, warps=12, depth=4),
    MatmulTiling(i=64, j=160, k=64, warps=4, depth=4),
    MatmulTiling(i=64, j=96, k=64, warps=4, depth=2),
    MatmulTiling(i=128, j=96, k=64, warps=8, depth=1, prefetch=False),
    MatmulTiling(i=128, j=24, k=64, warps=8, depth=3),
    MatmulTiling(i=128, j=224, k=64, warps=8, depth=4),
    MatmulTiling(i=64, j=40, k=16, warps=4, depth=6),
    MatmulTiling(i=128, j=128, k=96, warps=8, depth=2),
    MatmulTiling(i=128, j=144, k=32, warps=8, depth=3),
    MatmulTiling(i=256, j=160, k=64, warps=8, depth=3, group_rows=128),
    MatmulTiling(i=128, j=96, k=64, warps=4, depth=3, group_rows=128),
)
EPILOGUES = ("", "bias,relu", "bias,gelu,residual", "row_bias,keep,silu")
CLUSTERS = ((1, 1), (1, 1), (2, 1), (1, 2))


@pytest.fixture(autouse=True)
def hopper() -> None:
    if compute_capability()[0] != 9:
        pytest.skip("the plans are for devices of capability 9")


def laid_out(tiling: MatmulTiling, chance: Random) -> Layout:
    """A layout in which 32 bytes divide the rows of B's tile, and what lies outermost alone is no power of two."""
    across = tiling.j % 16 == 0 and tiling.k & (tiling.k - 1) == 0
    return chance.choice(list(Layout)) if across else Layout.NT


def fitting(tiling: MatmulTiling, output: Element) -> MatmulTiling:
    """The tiling with as many columns as a thread holds beside results of a type."""
    return evolve(tiling, j=96) if output is f32 and tiling.i * tiling.j > 128 * 32 * tiling.warps else tiling


def draw(chance: Random) -> tuple[Matmul, dict[str, int]]:
    """A product with a random tile, way of its results, work list, layout, types, epilogue and shape."""
    tiling = chance.choice(TILINGS)
    tiling = evolve(
        tiling,
        workers=chance.choice((None, None, sms, sms, 3, 40, 131)),
        raster=chance.choice((BlockOrder(1), grouped(2), grouped(16))),
        cluster=chance.choice(CLUSTERS),
    )
    if tiling.workers is not None:
        tiling = evolve(tiling, cluster=(1, 1))
    spec = MatmulSpec.of(
        chance.choice((f16, bf16)),
        layout=laid_out(tiling, chance),
        output=chance.choice((f16, f32)),
        batched=chance.random() < 0.2,
    )
    if spec.input is bf16 and spec.output is f16:
        spec = evolve(spec, output=bf16)
    spec = evolve(spec, epilogue=parse_epilogue(chance.choice(EPILOGUES)))
    tiling = fitting(tiling, spec.output)
    tiling = chance.choice(carried_out(spec, "sm_90a", [evolve(tiling, drain=drain) for drain in (0, 16, 32, 64)]))
    return Matmul(spec, "sm_90a", tiling), drawn_sizes(chance, (1, 8, 8, 8, 64))


def staying(tiling: MatmulTiling, workers: Any) -> MatmulTiling:
    """The tiling walked by blocks that drain it, where its columns can be cut into pieces that tensor copies store."""
    spec = MatmulSpec(Layout.NT)
    return carried_out(spec, "sm_90a", [evolve(tiling, workers=workers, drain=drain) for drain in (32, 0)])[0]


def test_only_narrow_granules_leave_from_registers() -> None:
    assert [tiling.j for tiling in TILINGS if not staying(tiling, sms).drain] == [24, 40]


def test_random_products() -> None:
    check_draws(draw, 0, 80)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_five_hundred_random_products(part: int) -> None:
    check_draws(draw, 1000 + 100 * part, 100)


@pytest.mark.parametrize("tiling", TILINGS, ids=str)
def test_the_bits_of_the_simulator_and_of_tiles_of_powers_of_two(tiling: MatmulTiling) -> None:
    for layout in (Layout.NT, laid_out(tiling, Random(3))):
        found: list[np.ndarray] = []
        inputs: dict[str, Any] = {}
        for other in (tiling, staying(tiling, sms), MatmulTiling(i=64, j=64, k=64, warps=4, depth=3)):
            product = Matmul(MatmulSpec(layout), "sm_90a", other)
            inputs = inputs or random_inputs(product.compute, {"M": 200, "N": 264, "K": 200})
            outcome = product(dict(inputs), on=Machine.GPU)
            (multiplied,) = (step for step in outcome.kernel.plan.steps if isinstance(step, MultiplyBy))
            assert multiplied.instruction.warpgroup
            found.append(bits(outcome.arrays["D"]))
        found.append(bits(Matmul(MatmulSpec(layout), "sm_90a", tiling)(dict(inputs)).arrays["D"]))
        assert all(np.array_equal(found[0], one) for one in found[1:]), layout


@pytest.mark.parametrize("columns", range(8, 249, 8))
def test_every_extent_that_the_instruction_has(columns: int) -> None:
    for groups in (1, 2, 3) if columns <= 200 else (1, 2):
        tiling = MatmulTiling(i=64 * groups, j=columns, k=64, warps=4 * groups, depth=2, drain=64, workers=sms)
        for layout in (Layout.NT, Layout.TN) if columns % 16 == 0 else (Layout.NT,):
            product = Matmul(MatmulSpec(layout, output=f32), "sm_90a", tiling)
            inputs = random_inputs(product.compute, {"M": 392, "N": 520, "K": 136})
            a = inputs["A"].astype(float).T if layout.a_transposed else inputs["A"].astype(float)
            b = inputs["B"].astype(float).T if layout.b_transposed else inputs["B"].astype(float)
            got = product(inputs, on=Machine.GPU).arrays["D"]
            assert np.abs(got - a @ b).max() < 1e-3, (groups, layout)


@pytest.mark.parametrize("input", [s8, e4m3], ids=str)
@pytest.mark.parametrize("columns", [96, 160, 192])
def test_bytes(input: Any, columns: int) -> None:
    tiling = MatmulTiling(i=192, j=columns, k=128, warps=12, depth=2, drain=0 if input is s8 else 32, workers=sms)
    product = Matmul(MatmulSpec.of(input, layout=Layout.NT), "sm_90a", tiling)
    inputs = random_inputs(product.compute, {"M": 392, "N": 400, "K": 272})
    on_device, on_cpu = (product(dict(inputs), on=on).arrays["D"] for on in (Machine.GPU, Machine.CPU))
    assert np.array_equal(bits(on_device), bits(on_cpu))


@pytest.mark.parametrize("size", [(3000, 3000, 3000), (3072, 768, 768)], ids=str)
@pytest.mark.parametrize("tiling", TILINGS[:4], ids=str)
def test_shapes_that_powers_of_two_do_not_divide(tiling: MatmulTiling, size: tuple[int, int, int]) -> None:
    torch = pytest.importorskip("torch")
    m, n, k = size
    rng = torch.Generator(device="cuda").manual_seed(3)
    a = torch.randn(m, k, device="cuda", dtype=torch.float16, generator=rng)
    b = torch.randn(n, k, device="cuda", dtype=torch.float16, generator=rng)
    bias = torch.randn(n, device="cuda", dtype=torch.float32, generator=rng)
    spec = MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu"))
    results = []
    for workers, drain in ((None, 0), (sms, 0), (sms, 64)):
        d = torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16)
        chosen = evolve(tiling, workers=workers, drain=drain, raster=grouped(16))
        Matmul(spec, "sm_90a", chosen)({"A": a, "B": b, "bias": bias, "D": d}, on=Machine.GPU)
        results.append(d)
    wanted = torch.relu(a.double() @ b.double().T + bias.double())
    assert float((results[0].double() - wanted).norm() / wanted.norm()) < 1e-3
    assert all(torch.equal(results[0], other) for other in results[1:])


@pytest.mark.parametrize("tiling", TILINGS, ids=str)
def test_a_thousand_runs_give_the_same_bits(tiling: MatmulTiling) -> None:
    check_runs(Matmul(MatmulSpec(Layout.NT), "sm_90a", staying(tiling, 31)), 392)
