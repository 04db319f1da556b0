"""Products whose blocks share operands, on the GPU: against float64, and the same bits as blocks by themselves."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import f16, f32
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.kernels.launching.generated import generate
from ptxgen.runtime import compute_capability
from tests.device.repeated import check_runs
from tests.kernels.cases import bits, judge, random_inputs, scalars_of
from tests.kernels.clusters import memories, plan_of, with_slices

CLUSTERS = ((1, 1), (2, 1), (1, 2), (2, 2), (4, 1))
TILINGS = (
    MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, isolate=False),
    MatmulTiling(i=128, j=128, k=64, warps=8, depth=5),
    MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False),
    MatmulTiling(i=128, j=64, k=128, warps=8, depth=2, prefetch=False),
)
EPILOGUES = ("", "bias,relu", "bias,gelu,residual")


@pytest.fixture(autouse=True)
def on_hopper() -> None:
    if compute_capability()[0] != 9:
        pytest.skip("clusters of these plans are for sm_90a")


@pytest.mark.parametrize("cluster", CLUSTERS, ids=str)
@pytest.mark.parametrize("tiling", TILINGS, ids=str)
def test_random_products(cluster: tuple[int, int], tiling: MatmulTiling) -> None:
    for number in range(6):
        chance = Random(number)
        layout, accumulate = chance.choice(list(Layout)), chance.choice((f16, f32))
        spec = MatmulSpec(layout, accumulate, epilogue=parse_epilogue(chance.choice(EPILOGUES)))
        product = Matmul(spec, "sm_90a", evolve(tiling, cluster=cluster))
        sizes = {name: 8 * chance.randint(1, most) for name, most in (("M", 80), ("N", 100), ("K", 60))}
        scalars = scalars_of(product.compute)
        arrays = product(random_inputs(product.compute, sizes, number), scalars, on=Machine.GPU).arrays
        judge(product.compute, arrays, scalars, exact=False, target="sm_90")


@pytest.mark.parametrize("cluster", CLUSTERS, ids=str)
@pytest.mark.parametrize("size", [(8, 8, 8), (8, 264, 64), (264, 8, 448), (520, 136, 8), (1000, 776, 512)], ids=str)
def test_ragged_and_tiny_shapes(cluster: tuple[int, int], size: tuple[int, int, int]) -> None:
    tiling = TILINGS[2]
    for layout in Layout:
        alone, together = (
            Matmul(MatmulSpec(layout), "sm_90a", each) for each in (tiling, evolve(tiling, cluster=cluster))
        )
        inputs = random_inputs(alone.compute, dict(zip("MNK", size, strict=True)))
        found = together(inputs, on=Machine.GPU).arrays
        judge(together.compute, found, {}, exact=False, target="sm_90")
        assert np.array_equal(bits(found["D"]), bits(alone(inputs, on=Machine.GPU).arrays["D"]))


@pytest.mark.parametrize("cluster", [(2, 1), (1, 2), (2, 2)], ids=str)
@pytest.mark.parametrize("slabs", [1, 2, 3, 4, 7])
def test_one_block_brings_all(cluster: tuple[int, int], slabs: int) -> None:
    kernel = generate(with_slices(plan_of(cluster), 1))
    held, _, wanted = memories(Layout.NN, 200, 72, 16 * slabs)
    kernel.run(held)
    assert np.abs(held["D"] - wanted).max() < 3e-2


@pytest.mark.parametrize("cluster", CLUSTERS[1:], ids=str)
def test_a_thousand_runs_give_the_same_bits(cluster: tuple[int, int]) -> None:
    check_runs(Matmul(MatmulSpec(Layout.NT), "sm_90a", evolve(TILINGS[0], cluster=cluster)), 776)
