"""Products whose factors change places: the rows of an instruction are columns of the result."""

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import bf16, f16, f32, s8
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, matmul_compute, parse_epilogue
from ptxgen.plan import Plan, wgmma
from tests.kernels.cases import bits, random_inputs, run_matmul

NARROW = MatmulTiling(i=16, j=64, k=64, warps=4, depth=3, isolate=False, swap=True)
TILINGS = (
    NARROW,
    evolve(NARROW, i=8),
    evolve(NARROW, i=32, j=128, warps=8, depth=2),
    evolve(NARROW, i=64, drain=64),
    evolve(NARROW, workers=2, drain=64),
    evolve(NARROW, cluster=(1, 2)),
)


@pytest.mark.parametrize("tiling", TILINGS, ids=str)
def test_few_rows(tiling):
    """Eight rows in columns are 16 bytes together, which no swizzle spans: refused."""
    for layout, m in ((Layout.NT, 13), (Layout.NN, 16), (Layout.TT, 40)):
        spec = MatmulSpec(layout, epilogue=parse_epilogue("bias,relu,residual"))
        if tiling.i == 8 and layout is Layout.TT:
            with pytest.raises(PlanError, match=r"swap=True: .* spans of 16 bytes"):
                Matmul(spec, "sm_90a", tiling)
            continue
        done = run_matmul(spec, (m, 136, 200), tiling, target="sm_90a")
        assert "wgmma" in done.kernel.listing.text


@pytest.mark.parametrize("input", [f16, bf16, s8], ids=str)
def test_types(input):
    tiling = evolve(NARROW, k=128 if input.bits == 8 else 64)
    run_matmul(MatmulSpec.of(input, layout=Layout.NT), (16, 144, 256), tiling, target="sm_90a")


def test_the_bits_of_the_other_way_round():
    found = []
    for tiling in (NARROW, evolve(NARROW, i=64, swap=False)):
        product = Matmul(MatmulSpec(Layout.NT), "sm_90a", tiling)
        found.append(bits(product(random_inputs(product.compute, {"M": 16, "N": 72, "K": 264})).arrays["D"]))
    assert np.array_equal(found[0], found[1])


def test_rows_that_are_no_dim_of_the_result():
    plan = Plan(matmul_compute(MatmulSpec(Layout.NT)), "sm_90a").tile("cta", i=64, j=64, k=64)
    with pytest.raises(PlanError, match="rows of AB are one of i, j, got 'k'"):
        plan.multiply("AB", wgmma(64, f32), at="cta.k", rows="k")


def test_warps_take_over_where_no_tensor_map_can_tell_of_the_arrays():
    done = run_matmul(MatmulSpec(Layout.NT), (16, 75, 61), NARROW, target="sm_90a")
    assert "wgmma" not in done.kernel.listing.text
