"""Products of warpgroups that have several products' rows of a tile each: no finding, the bits of the plain loop, and
of their synchronisation nothing can be left out."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, bf16, f16, f32
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.plan import MultiplyBy, Workers, sms
from ptxgen.prove.trees import check_program
from ptxgen.tile import Multiply, RegisterFence, show
from ptxgen.tile.mutants import without_each_synchronisation
from ptxgen.tile.reading import read
from ptxgen.tile.trees import ends_of
from ptxgen.verify import verify
from tests.kernels import clusters
from tests.kernels.cases import bits, run_matmul

TALL = MatmulTiling(i=256, j=160, k=64, warps=8, depth=3, isolate=False, group_rows=128)
ALONE = MatmulTiling(i=128, j=96, k=32, warps=4, depth=2, isolate=False, group_rows=128)
SWAPPED = MatmulTiling(i=160, j=256, k=64, warps=8, depth=4, isolate=False, swap=True, group_rows=128)
SMALL = evolve(clusters.TINY, i=128, group_rows=128, workers=2, drain=16)
SIZES = (264, 200, 72)
Case = tuple[MatmulTiling, Layout, Element, Workers | None, int]
SOME: tuple[Case, ...] = ((ALONE, Layout.TN, bf16, sms, 32), (ALONE, Layout.NT, f32, None, 0))
MORE: tuple[Case, ...] = (
    (TALL, Layout.NT, f16, sms, 32),
    (evolve(TALL, j=96), Layout.NN, f32, None, 0),
    (SWAPPED, Layout.NT, f16, None, 64),
    (evolve(TALL, j=128), Layout.TT, f16, sms, 64),
)


def check(tiling: MatmulTiling, layout: Layout, output: Element, workers: Workers | None, drain: int) -> None:
    spec = MatmulSpec.of(bf16 if output is bf16 else f16, layout=layout, output=output)
    spec = evolve(spec, epilogue=parse_epilogue("bias,relu"))
    outcome = run_matmul(spec, SIZES, evolve(tiling, workers=workers, drain=drain), target="sm_90a")
    (step,) = (step for step in outcome.kernel.plan.steps if isinstance(step, MultiplyBy))
    assert step.instruction.warpgroup
    assert step.instruction.n == (tiling.i if tiling.swap else tiling.j)
    products = [n for role in outcome.kernel.program.roles for n in ends_of(role.body) if isinstance(n, Multiply)]
    assert {node.repeats[0] for node in products} == {2}
    assert verify(outcome.kernel.module) == ()


@pytest.mark.parametrize(("tiling", "layout", "output", "workers", "drain"), SOME, ids=str)
def test_a_warpgroup_with_two_products_of_rows(
    tiling: MatmulTiling, layout: Layout, output: Element, workers: Workers | None, drain: int
) -> None:
    check(tiling, layout, output, workers, drain)


@pytest.mark.slow
@pytest.mark.parametrize(("tiling", "layout", "output", "workers", "drain"), MORE, ids=str)
def test_large_tiles(
    tiling: MatmulTiling, layout: Layout, output: Element, workers: Workers | None, drain: int
) -> None:
    check(tiling, layout, output, workers, drain)


def test_the_bits_of_one_product_of_rows() -> None:
    one = MatmulTiling(i=128, j=96, k=32, warps=8, depth=2, isolate=False)
    outcomes = [run_matmul(MatmulSpec(Layout.NT), SIZES, tiling, target="sm_90a") for tiling in (one, ALONE)]
    known, other = (bits(outcome.arrays["D"]) for outcome in outcomes)
    assert np.array_equal(known, other)


def test_what_is_derived_is_accepted_and_nothing_of_it_can_be_left_out() -> None:
    """But for the fences of later products, without which the machine runs as well."""
    text = show(clusters.derived((1, 1), tiling=SMALL).program)
    program = read(text)
    assert "2x1x1 of wgmma" in text
    assert check_program(program).accepted
    for mutant in without_each_synchronisation(program):
        accepted = check_program(mutant.program).accepted
        assert not accepted or isinstance(mutant.removed, RegisterFence), mutant.removed


def test_rows_that_are_no_products_or_do_not_make_the_tile_are_for_warps() -> None:
    for rows in (96, 64):
        assert not evolve(ALONE, group_rows=rows).fits_warpgroups
    assert ALONE.fits_warpgroups
    with pytest.raises(PlanError, match="group_rows"):
        evolve(ALONE, group_rows=0)
    assert str(ALONE).endswith("128 rows a warpgroup")
