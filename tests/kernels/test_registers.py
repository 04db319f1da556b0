"""The default plan fits into the registers of a thread, as ptxas counts them."""

from __future__ import annotations

from itertools import product

import pytest

from ptxgen.compute import Element, f16, f32
from ptxgen.kernels import Layout, Matmul, MatmulSpec, parse_epilogue
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.kernels.launching.views import DTYPES, outline
from ptxgen.plan import Fact

Case = tuple[Layout, Element, Element, str, bool]

SHORT = ("", "bias", "bias,relu", "bias,gelu,residual")
LONG = (
    "alpha,beta,bias,row_bias,gelu,keep,residual,clamp",
    "alpha,beta,bias,gelu,keep,row_sum,column_sum",
    "row_sum,column_sum",
    "bias,gelu,row_sum,relu,column_sum",
    "alpha,bias,row_bias,gelu,clamp",
    "bias,row_bias,bias,silu",
    "bias,silu,beta",
    "gelu,keep,row_bias",
    "residual,residual,gelu,keep,keep",
)
MATRIX: tuple[Case, ...] = (
    *product(Layout, (f32, f16), (f16,), SHORT, (False,)),
    *product((Layout.TN, Layout.NT), (f32, f16), (f16, f32), LONG, (False,)),
    *product((Layout.TN,), (f32, f16), (f16,), ("", "bias,relu", LONG[0]), (True,)),
)
SOME: tuple[Case, ...] = (
    (Layout.TN, f32, f16, "bias,relu", False),
    (Layout.TN, f16, f16, LONG[0], False),
    (Layout.NT, f32, f16, LONG[8], False),
)


def aligned_facts(matmul: Matmul) -> tuple[Fact, ...]:
    """What holds of arrays of 128 by 128 at aligned addresses."""
    sizes = dict.fromkeys(matmul.compute.parameters, 128)
    arrays = {}
    for array in arrays_in_memory(matmul.compute):
        shape = tuple(extent.evaluate(sizes) for extent in array.extents)
        arrays[array.name] = outline(DTYPES[array.element], shape)
    return facts_of(matmul.compute, bind(arrays_in_memory(matmul.compute), arrays))


def check(case: Case, aligned: bool) -> None:
    layout, accumulate, output, epilogue, batched = case
    matmul = Matmul(MatmulSpec(layout, accumulate, output, parse_epilogue(epilogue), batched))
    facts = aligned_facts(matmul) if aligned else ()
    assert len(facts) >= 6 or not aligned
    cubin = matmul.kernel(facts).assembled()
    assert (cubin.spills, cubin.registers <= 255) == (0, True), f"{cubin.spills} bytes spilled on {matmul.tiled.warps}"


def name(case: Case) -> str:
    layout, accumulate, output, epilogue, batched = case
    return f"{layout.value}-{accumulate}-{output}-{epilogue or 'plain'}{'-batched' * batched}"


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize("aligned", (False, True), ids=("any", "aligned"))
@pytest.mark.parametrize("case", SOME, ids=name)
def test_some_default_plans_do_not_spill(case: Case, aligned: bool) -> None:
    check(case, aligned)


@pytest.mark.slow
@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize("aligned", (False, True), ids=("any", "aligned"))
@pytest.mark.parametrize("case", MATRIX, ids=name)
def test_no_default_plan_spills(case: Case, aligned: bool) -> None:
    check(case, aligned)


def test_the_fast_plan_is_kept_where_it_fits() -> None:
    warps = {
        (accumulate, epilogue): Matmul(MatmulSpec(accumulate=accumulate, epilogue=parse_epilogue(epilogue))).tiled.warps
        for accumulate, epilogue in product((f32, f16), SHORT)
    }
    assert warps == {key: 8 if key == (f32, "bias,gelu,residual") else 4 for key in warps}
