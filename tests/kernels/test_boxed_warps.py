"""Warps whose slabs a warp beside them has copied as boxes: products in the simulator and on the tile machine, which
targets and arguments allow them, and what an assembler says of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, bf16, e4m3, f16, f64, s8, tf32
from ptxgen.derive import derive
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, default_tiling, matmul_compute, matmul_plan
from ptxgen.kernels import parse_epilogue as pieces
from ptxgen.kernels.choosing.menu import Sizes, menu_for
from ptxgen.plan import Fact, Plan, Roles, Stage, Transport, grouped, multiple
from ptxgen.tile import Arrive, Program, ProxyFence
from ptxgen.tile.mutants import without_each_synchronisation
from tests.kernels.cases import bits, random_inputs, run_matmul
from tests.kernels.clusters import FACTS, faults, on_machine

SMALL = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False, boxed=True)
ONE_WARP = MatmulTiling(i=32, j=32, k=32, warps=1, depth=2, isolate=False, boxed=True)
LARGE = MatmulTiling(i=128, j=256, k=64, warps=8, depth=3, isolate=False, drain=32, boxed=True)
TILINGS = {
    "one slot": evolve(SMALL, depth=1),
    "rows of 64 bytes": evolve(SMALL, depth=2, k=32),
    "two boxes a row": evolve(SMALL, k=128, depth=2),
    "drained": evolve(SMALL, drain=32),
    "walking": evolve(SMALL, workers=2),
    "walking and drained": evolve(SMALL, workers=2, drain=32),
    "full tiles apart": evolve(SMALL, isolate=True),
    "overlapping": evolve(SMALL, overlap=True),
    "split": evolve(SMALL, split=2),
    "one warp": ONE_WARP,
    "one fragment": evolve(SMALL, fragment_depth=1),
    "nothing ahead": evolve(SMALL, prefetch=False),
    "large": LARGE,
}
SEVERAL = ((72, 40, 32 * 3), (40, 24, 32), (136, 40, 32 * 5))


@cache
def program_of(tiling: MatmulTiling, layout: Layout = Layout.NN, target: str = "sm_90") -> Program:
    return derive(plan_of(tiling, FACTS, target, MatmulSpec(layout))).program


def plan_of(tiling: MatmulTiling, facts: tuple[Fact, ...], target: str, spec: MatmulSpec) -> Plan:
    return matmul_plan(matmul_compute(spec), spec, facts, tiling, target)


def carriers(plan: Plan) -> set[Transport]:
    """What brings slabs from memory."""
    return {next(s for s in plan.steps if isinstance(s, Stage) and s.array == name).by.transport for name in "AB"}


@pytest.mark.parametrize("name", TILINGS)
def test_every_choice_beside_it(name: str) -> None:
    outcome = run_matmul(MatmulSpec(Layout.NT), (136, 72, 200), TILINGS[name], target="sm_90")
    assert "cp.async.bulk.tensor" in outcome.kernel.listing.text


@pytest.mark.parametrize(
    "layout", [Layout.NT, *(pytest.param(each, marks=pytest.mark.slow) for each in Layout if each is not Layout.NT)]
)
@pytest.mark.parametrize("element", [f16, bf16, tf32, s8, f64], ids=str)
def test_every_type_and_layout(element: Element, layout: Layout) -> None:
    tiling = evolve(SMALL, k=max(16, 128 // element.byte_count), depth=2, i=32, j=64)
    outcome = run_matmul(MatmulSpec.of(element, layout=layout), (48, 80, 208), tiling, target="sm_90")
    assert "cp.async.bulk.tensor" in outcome.kernel.listing.text


@pytest.mark.parametrize("epilogue", ["bias,relu", "residual,keep", "alpha,beta,row_bias"])
def test_epilogues(epilogue: str) -> None:
    run_matmul(MatmulSpec(Layout.NN, epilogue=pieces(epilogue)), (72, 136, 72), TILINGS["drained"], target="sm_90")


def test_the_bits_are_those_of_warps_that_copy_and_of_warpgroups() -> None:
    spec = MatmulSpec(Layout.NT)
    inputs = random_inputs(matmul_compute(spec), {"M": 136, "N": 72, "K": 200})
    found = [
        Matmul(spec, target, tiling)(inputs).arrays["D"]
        for target, tiling in (("sm_90", SMALL), ("sm_90a", SMALL), ("sm_90", evolve(SMALL, boxed=False)))
    ]
    for other in found[1:]:
        assert np.array_equal(bits(found[0]), bits(other))


@pytest.mark.parametrize("slabs", [0, 1, 2, 3, 5])
@pytest.mark.parametrize(
    "tiling", [ONE_WARP, evolve(ONE_WARP, depth=1), evolve(ONE_WARP, depth=3, workers=1, drain=16)]
)
def test_every_end_of_the_ring_on_the_machine(tiling: MatmulTiling, slabs: int) -> None:
    for layout in (Layout.NN, Layout.NT):
        program = program_of(tiling, layout)
        for rows, columns, seed in ((32, 32, None), (40, 72, 1)):
            on_machine(program, rows, columns, max(0, 32 * slabs - 8), seed, layout)


def test_nothing_that_synchronises_can_be_left_out() -> None:
    """But for what the machine does not know: that reads and the copies that overwrite what was read are of different
    proxies; and the release of a block's last slab, which is that of every slab."""
    program = program_of(evolve(ONE_WARP, j=64, warps=2))
    found = [(mutant, faults(mutant.program, SEVERAL)) for mutant in without_each_synchronisation(program)]
    unharmed = [mutant.removed for mutant, codes in found if not codes]
    assert len(found) == 8
    assert [type(node) for node in unharmed] == [ProxyFence, ProxyFence, Arrive], unharmed


def test_a_warp_beside_them_loads_or_a_warpgroup_that_lends_registers() -> None:
    def roles(target: str, tiling: MatmulTiling) -> Iterator[tuple[int, int | None]]:
        (step,) = (s for s in plan_of(tiling, FACTS, target, MatmulSpec()).steps if isinstance(s, Roles))
        return ((each.warps, each.registers) for _, each in step.roles)

    assert list(roles("sm_90", LARGE)) == [(1, None), (0, None)]
    assert list(roles("sm_100a", LARGE)) == [(4, 40), (0, 232)]
    assert list(roles("sm_100a", SMALL)) == [(1, None), (0, None)]


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a", "sm_103a", "sm_110a"])
def test_the_large_tile_fits_registers_where_warps_give_theirs(target: str) -> None:
    for layout in Layout:
        spec = MatmulSpec(layout, epilogue=pieces("bias,relu"))
        kernel = Matmul(spec, target, LARGE).kernel(FACTS)
        cubin = kernel.assembled()
        assert "wgmma" not in kernel.listing.text
        assert cubin.spills == 0


@pytest.mark.parametrize("target", ["sm_100a", "sm_110a"])
def test_what_is_usual_where_tensors_are_copied_without_warpgroups(target: str) -> None:
    tiling = default_tiling(MatmulSpec(), target)
    assert tiling.boxed
    assert Matmul(MatmulSpec(Layout.NT), target).kernel(FACTS).assembled().spills == 0
    assert carriers(plan_of(tiling, FACTS, target, MatmulSpec())) == {Transport.TENSOR}


def test_they_are_asked_for_where_warpgroups_could_multiply() -> None:
    spec = MatmulSpec(Layout.NT)
    inputs = random_inputs(matmul_compute(spec), {"M": 64, "N": 64, "K": 64})
    told = Matmul(spec, "sm_90a", LARGE).variant(inputs)
    assert not told.instruction.warpgroup
    assert "warps are asked for" in told.narrower
    assert dict(told.carriers) == {"A": Transport.TENSOR, "B": Transport.TENSOR}


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100a"])
def test_warps_copy_for_themselves_where_boxes_are_denied(target: str) -> None:
    """By the target, or by rows that begin at no multiple of 16 bytes; then in blocks of half the columns."""
    facts = FACTS if target == "sm_80" else ()
    plan = plan_of(LARGE, facts, target, MatmulSpec())
    assert carriers(plan) == ({Transport.CP_ASYNC} if target == "sm_80" else {Transport.LD})
    run_matmul(MatmulSpec(Layout.NT), (40, 72, 33), LARGE, target="sm_90")


def test_a_menu_offers_them_where_they_are_legal() -> None:
    def boxed(target: str) -> set[tuple[int, int, int]]:
        offered = menu_for(MatmulSpec(Layout.NT), target, Sizes(4096, 4096, 4096))
        return {(tiling.i, tiling.j, tiling.warps) for tiling in offered if tiling.boxed}

    assert not boxed("sm_80")
    assert not boxed("sm_90a")
    assert (128, 256, 8) not in boxed("sm_90")
    assert (128, 256, 8) in boxed("sm_100a")
    assert boxed("sm_90") <= boxed("sm_100a")


def test_byte_products_of_newer_targets_assemble() -> None:
    spec = MatmulSpec.of(e4m3, layout=Layout.NT)
    tiling = MatmulTiling(i=128, j=128, k=128, warps=8, depth=2, isolate=False, boxed=True, raster=grouped(4))
    facts = (*FACTS, *(multiple(name, 16) for name in ("M", "N", "K", "lda", "ldb", "ldd")))
    kernel = Matmul(spec, "sm_120a", tiling).kernel(facts)
    assert "cp.async.bulk.tensor" in kernel.listing.text
    assert kernel.assembled().spills == 0
