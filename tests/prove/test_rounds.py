"""Rings that go on from loop to loop, and rings of nested loops: what the judge asks of them, on derived kernels that
are changed by hand; what it calls a deadlock is one on the tile machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from attrs import evolve

from polyhedral import Set, const, var
from ptxgen.derive.counting import counting
from ptxgen.derive.part import context, threads_of
from ptxgen.derive.scanning import scan_program
from ptxgen.derive.space import IndexSpace
from ptxgen.kernels import GeneratedKernel
from ptxgen.order.atoms import Advance, Arrive, Side, Wait
from ptxgen.order.ops import Op, Time
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.prove.checker import Verdict
from ptxgen.prove.proof import check_meetings
from ptxgen.tile import Program, RequirementKind
from ptxgen.tile.machine import MachineFault
from tests.kernels.test_boxed_kernels import TARGET, given, made, small_chained
from tests.kernels.test_boxed_on_the_tile_machine import KERNELS, runs

Items = tuple[Op, ...] | tuple[Synchronisation, ...]


@cache
def kernel_of(name: str) -> GeneratedKernel:
    """A kernel of blocks that take one tile each."""
    compute, planner, sizes = KERNELS[name]
    arrays = given(compute(), sizes)
    if name == "chained":
        return made(compute(), lambda c, f, t: small_chained(c, f, t, depth=2, workers=None), arrays)
    return made(compute(), planner, arrays)


def synchronised(name: str) -> Synchronised:
    return kernel_of(name).derivation.parts[0].synchronised


def proved(name: str, changed: Synchronised) -> Verdict:
    kernel = kernel_of(name)
    threads = threads_of(IndexSpace(kernel.plan))
    return check_meetings(changed, kernel.derivation.parts[0].requirements, threads=threads, needless=False)


def rebuilt(name: str, changed: Synchronised) -> Program:
    """The program with the changed order, scanned anew."""
    kernel = kernel_of(name)
    space, program = IndexSpace(kernel.plan), kernel.program
    bodies = {role.name: scan_program(changed, role.name, context(space)) for role in program.roles}
    return evolve(
        program,
        roles=tuple(evolve(r, body=counting(bodies[r.name], changed, r.name)) for r in program.roles),
    )


def each(found: Synchronised, change: Callable[[Op | Synchronisation], Op | Synchronisation | None]) -> Synchronised:
    """The same with every op and atom changed, or left out."""
    ops = [change(op) for op in found.ops]
    atoms = [change(atom) for atom in found.atoms]
    return evolve(
        found,
        ops=tuple(op for op in ops if isinstance(op, Op)),
        atoms=tuple(atom for atom in atoms if isinstance(atom, Synchronisation)),
    )


def fails(name: str, program: Program, sizes: dict[str, int]) -> str:
    try:
        runs(name, program, sizes, workers=1)
    except MachineFault as fault:
        return fault.code
    return "none"


def test_a_ring_filled_ahead_of_what_its_slots_hold_waits_for_a_nested_loop_that_is_not_filled_yet() -> None:
    """The tiles of D come 3 steps early into 2 slots: to free one, the other role needs what the loop brings only
    then."""

    def ahead(steps: int) -> Synchronised:
        def change(item: Op | Synchronisation) -> Op | Synchronisation:
            ring = getattr(getattr(item, "atom", None), "ring", None)
            mine = item.role == "load" and (ring == "D.shared" or (isinstance(item, Op) and item.name == "D.shared"))
            return evolve(item, time=evolve(item.time, ahead=(steps,))) if mine else item

        return each(synchronised("chained"), change)

    sizes = {"M": 64, "J": 64 * 6, "K": 64, "N": 64}
    for steps, codes in ((0, ()), (1, ()), (2, ()), (3, ("synchronisation.deadlock",))):
        assert proved("chained", ahead(steps)).codes == codes
        assert fails("chained", rebuilt("chained", ahead(steps)), sizes) == ("tile.deadlock" if codes else "none")


def test_loops_in_another_order_in_one_role() -> None:
    """The role that copies comes to the tiles of the sum before those of the maximum."""
    first, second = (
        next(op.time.place[0] for op in synchronised("softmax").ops if op.role == "load" and op.time.loops == (loop,))
        for loop in ("cta.j", "cta.j#2")
    )
    other = {first: second, second: first}

    def change(item: Op | Synchronisation) -> Op | Synchronisation:
        place = item.time.place
        if item.role != "load" or place[0] not in other:
            return item
        return evolve(item, time=evolve(item.time, place=(other[place[0]], *place[1:])))

    changed = each(synchronised("softmax"), change)
    assert "synchronisation.counter" in proved("softmax", changed).codes


def advances(found: Synchronised) -> list[Synchronisation]:
    return [atom for atom in found.atoms if isinstance(atom.atom, Advance)]


def test_a_counter_goes_on_behind_each_loop_but_the_last() -> None:
    own = advances(synchronised("softmax"))
    assert [atom.role for atom in own] == ["load", "load", "rows", "rows"]
    again = evolve(own[-1], time=evolve(own[-1].time, place=(own[-1].time.place[0] + 100,)))
    more = evolve(synchronised("softmax"), atoms=(*synchronised("softmax").atoms, again))
    assert proved("softmax", more).codes == ("synchronisation.counter",)
    for atom in own:
        fewer = each(synchronised("softmax"), lambda item, gone=atom: None if item is gone else item)  # type: ignore[misc]
        assert "synchronisation.counter" in proved("softmax", fewer).codes
        if atom.role == "load":
            assert fails("softmax", rebuilt("softmax", fewer), {"M": 4, "N": 384}) != "none"


def test_a_tile_is_numbered_by_the_loop_that_it_is_used_in() -> None:
    """The arrival of the second loop names the first loop's tile."""
    found = next(
        atom for atom in synchronised("softmax").atoms
        if isinstance(atom.atom, Arrive) and atom.time.loops == ("cta.j#2",)
    )  # fmt: skip
    wrong = evolve(found, rank=found.rank - var("cta.j#2") + var("cta.j"))
    changed = each(synchronised("softmax"), lambda item: wrong if item is found else item)
    assert "synchronisation.rank" in proved("softmax", changed).codes


@pytest.mark.parametrize("name", ["softmax", "chained", "transposition"])
def test_what_is_derived_is_proved(name: str) -> None:
    assert proved(name, synchronised(name)).accepted
    assert kernel_of(name).plan.target == TARGET


@pytest.mark.parametrize("name", ["softmax", "transposition"])
def test_behind_all_loops_nothing_is_asked_of_a_counter_that_the_last_loop_does_not_move_on(name: str) -> None:
    """The counter tells of the tiles of earlier rounds alone where none follows; a ring of one round has none."""
    whole = synchronised(name)
    for use in whole.rings:
        writer = whole.ops[use.writers[0]]
        behind = Time((), (), (max(op.time.place[0] for op in whole.ops) + 9,))
        covers = tuple(covered for covered in use.covers if covered.kind is RequirementKind.REUSE)
        rank = var(use.counter) + use.depth - 1 if use.counter else const(use.depth - 1)
        wait = Wait(use.name, Side.EMPTY)
        late = Synchronisation(writer.role, wait, Set.of(()), behind, covers, rank, tail=True)
        told = str(proved(name, evolve(whole, atoms=(*whole.atoms, late))))
        assert ("before all items are counted" if use.counter else "is for tile") in told, (use.name, told)
