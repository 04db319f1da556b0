"""Warpgroups that take tiles in turn: on the tile machine, in the simulator, and what an assembler says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import f16
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.kernels.launching.generated import generate
from ptxgen.plan import Roles, grouped, role, sms
from ptxgen.runtime import sass
from ptxgen.tile import Advance, Arrive, ForEachItem, Node, Program, RegisterFence, Wait
from ptxgen.tile.mutants import Mutant, without_each_synchronisation
from tests.kernels.cases import bits, random_inputs, run_matmul
from tests.kernels.clusters import TINY, changed, derived, faults, memories, on_machine, plan_of

TURNED = evolve(TINY, warps=8, workers=2, drain=16, turns=True)
SMALL = MatmulTiling(i=64, j=64, k=64, warps=8, depth=3, workers=2, drain=64, turns=True)
FULL = MatmulTiling(i=64, j=256, k=64, warps=8, depth=4, workers=sms, raster=grouped(16), drain=64, turns=True)
ONE_BLOCK = evolve(TURNED, workers=1)
SEVERAL = ((264, 40, 16 * 4), (200, 24, 16), (72, 40, 16 * 7), (264, 24, 16 * 2))


@pytest.mark.parametrize("slabs", [0, 1, 3, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 4, 7))])
@pytest.mark.parametrize(("depth", "prefetch"), [(1, False), (2, True), (3, True), (3, False)])
def test_every_end_of_the_ring_on_the_machine(depth: int, prefetch: bool, slabs: int) -> None:
    """One block: from one tile, which leaves one unit without any, to ten."""
    program = derived((1, 1), tiling=evolve(ONE_BLOCK, depth=depth, prefetch=prefetch)).program
    for rows, columns, seed in ((64, 16, None), (128, 16, 3), (192, 16, 1), (320, 24, 2)):
        on_machine(program, rows, columns, 16 * slabs, seed)


@pytest.mark.parametrize("layout", [Layout.NT, Layout.TN], ids=lambda layout: layout.value)
@pytest.mark.parametrize("cluster", [(1, 1), (2, 1), (1, 2)])
def test_the_bits_of_a_block_for_each_tile(cluster: tuple[int, int], layout: Layout) -> None:
    together, alone = plan_of(cluster, layout, TURNED), plan_of((1, 1), layout, TINY)
    for m, n, k in ((136, 72, 40), (328, 24, 72)):
        held, _, wanted = memories(layout, m, n, k)
        first = {**held, "D": held["D"].copy()}
        report = generate(together).simulate(held)
        assert report is not None
        report.raise_findings()
        assert np.abs(held["D"] - wanted).max() < 3e-2
        generate(alone).simulate(first)
        assert np.array_equal(bits(held["D"]), bits(first["D"]))


def noticed(program: Program) -> list[tuple[Mutant, set[str]]]:
    return [(mutant, faults(mutant.program, SEVERAL)) for mutant in without_each_synchronisation(program)]


def test_nothing_that_synchronises_can_be_left_out() -> None:
    """But for the fence of later products, which is there for the assembler."""
    found = noticed(derived((1, 1), tiling=evolve(ONE_BLOCK, drain=0)).program)
    unharmed = [mutant for mutant, codes in found if not codes]
    assert all(isinstance(mutant.removed, RegisterFence) and mutant.position > 2 for mutant in unharmed), unharmed
    assert len(unharmed) == 2
    assert len(found) == 32


@pytest.mark.slow
@pytest.mark.parametrize("cluster", [(1, 1), (2, 1)])
def test_nothing_can_be_left_out_with_a_drain_and_in_clusters(cluster: tuple[int, int]) -> None:
    found = noticed(derived(cluster, tiling=evolve(TURNED, workers=2)).program)
    unharmed = [mutant for mutant, codes in found if not codes]
    assert all(isinstance(mutant.removed, RegisterFence) and mutant.position > 2 for mutant in unharmed), unharmed


def other_turns(node: Node) -> Iterator[Node]:
    """A turn that is taken or passed on for another number, or tiles that are counted wrongly."""
    match node:
        case Wait(ring=ring) | Arrive(ring=ring) if ring.startswith("turns"):
            yield from (evolve(node, rank=node.rank + more) for more in (-1, 1))
        case Advance(by=by):
            yield evolve(node, by=evolve(by, numerator=by.numerator + by.divisor))
        case _:
            pass


def test_turns_of_other_numbers_are_faults() -> None:
    mutants = list(changed(derived((1, 1), tiling=evolve(ONE_BLOCK, drain=0)).program, other_turns))
    assert len(mutants) >= 8
    for node, mutant in mutants:
        assert faults(mutant, SEVERAL), node


def test_units_are_roles_that_count_past_each_other() -> None:
    program = derived((1, 1), tiling=ONE_BLOCK).program
    assert [role.name for role in program.roles] == ["math 0", "math 1", "load"]
    assert [role.warps for role in program.roles] == [4, 4, 4]
    assert [ring.empty_count for ring in program.rings] == [1, 4]
    names = {buffer.name for buffer in program.buffers}
    assert {"D.shared of 0", "D.shared of 1"} <= names
    assert "D.shared" not in names


@pytest.mark.parametrize("size", [(1, 1, 1), (8, 8, 8), (40, 200, 8), (200, 40, 264), (64, 136, 0)])
def test_ragged_and_tiny_products(size: tuple[int, int, int]) -> None:
    run_matmul(MatmulSpec(), size, SMALL, target="sm_90a")


@pytest.mark.parametrize("epilogue", ["bias,relu", "alpha,beta,bias,gelu,keep"])
def test_epilogues_and_batches(epilogue: str) -> None:
    spec = MatmulSpec(Layout.NT, f16, epilogue=parse_epilogue(epilogue), batched=True)
    run_matmul(spec, (136, 136, 72), SMALL, target="sm_90a")


def test_three_warpgroups() -> None:
    plan = plan_of((1, 1), tiling=ONE_BLOCK)
    three = role(warpgroups=3)
    steps = [evolve(s, roles=(s.roles[0], ("math", three))) if isinstance(s, Roles) else s for s in plan.steps]
    kernel = generate(evolve(plan, steps=tuple(steps)))
    assert [each.name for each in kernel.program.roles] == ["math 0", "math 1", "math 2", "load"]
    for m, n, k in ((328, 40, 72), (64, 16, 16), (136, 24, 40)):
        on_machine(kernel.program, m, n, k, 1)
        held, _, wanted = memories(Layout.NN, m, n, k)
        report = kernel.simulate(held)
        assert report is not None
        report.raise_findings()
        assert np.abs(held["D"] - wanted).max() < 3e-2


def test_where_warps_multiply_instead_there_are_no_turns() -> None:
    product = Matmul(MatmulSpec(), "sm_90a", SMALL)
    arrays = product.with_outputs(random_inputs(product.compute, {"M": 65, "N": 33, "K": 17}))
    assert not [step for step in product.kernel_for(arrays).plan.steps if str(step).startswith("turns")]
    run_matmul(MatmulSpec(), (65, 33, 17), SMALL, target="sm_90a")


def test_one_block_for_each_tile_has_nothing_to_take_in_turn() -> None:
    with pytest.raises(PlanError, match="turns over 'cta': persist that level"):
        plan_of((1, 1), tiling=evolve(TURNED, workers=None))


TILES = {
    "64x256": FULL,
    "64x256, five slots": evolve(FULL, depth=5, drain=32),
    "64x128": evolve(FULL, j=128, depth=6),
    "64x256, pairs": evolve(FULL, cluster=(2, 1)),
}


@pytest.mark.parametrize("name", TILES)
@pytest.mark.parametrize("layout", [Layout.NN, Layout.NT], ids=lambda layout: layout.value)
def test_full_tiles_are_assembled_without_a_note_and_without_spills(name: str, layout: Layout) -> None:
    product = Matmul(MatmulSpec(layout, epilogue=parse_epilogue("bias,relu")), "sm_90a", TILES[name])
    arrays = product.with_outputs(random_inputs(product.compute, {"M": 256, "N": 256, "K": 256}))
    cubin = product.kernel_for(arrays).assembled()
    assert (cubin.spills, cubin.notes) == (0, ())


@pytest.mark.slow
def test_a_full_tile_in_the_simulator() -> None:
    run_matmul(MatmulSpec(Layout.NT), (264, 264, 264), evolve(FULL, workers=1), target="sm_90a")


def test_a_tiling_says_so() -> None:
    assert str(SMALL).endswith("walked by 2 blocks, drained by 64, in turns")


def test_the_tree_of_a_unit_has_its_own_items() -> None:
    def items(node: Node) -> list[ForEachItem]:
        match node:
            case ForEachItem():
                return [node]
            case _:
                inside = getattr(node, "children", (getattr(node, "body", None),))
                return [found for child in inside if child is not None for found in items(child)]

    roles = derived((1, 1), tiling=evolve(ONE_BLOCK, drain=0)).program.roles
    assert [(each.first, each.step) for role in roles for each in items(role.body)] == [(0, 2), (1, 2), (0, 1)]


@pytest.mark.parametrize("name", ["64x256", "64x256, pairs"])
def test_descriptors_stay_in_uniform_registers(name: str) -> None:
    """In the machine code nothing is moved to them between the products of a slab, by no unit."""
    product = Matmul(MatmulSpec(Layout.NT), "sm_90a", TILES[name])
    arrays = product.with_outputs(random_inputs(product.compute, {"M": 256, "N": 256, "K": 256}))
    (function,) = sass(product.kernel_for(arrays).listing).functions
    opcodes = [instruction.opcode for instruction in function.instructions]
    places = [place for place, opcode in enumerate(opcodes) if opcode.startswith("HGMMA")]
    assert len(places) == 16
    for first, last in zip(places[::4], places[3::4], strict=True):
        between = opcodes[first:last]
        assert len(between) < 40
        assert not [opcode for opcode in between if opcode.startswith("R2UR")]
