"""For plans of three generations: each derived atom changed in every way is refused, or harmless and no atom too many;
main loops have the fewest atoms; every count of slabs and tiles runs; the wrong variants of the worked example."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve, frozen

from polyhedral import var
from ptxgen.derive import Derivation, derive
from ptxgen.errors import InternalError
from ptxgen.order.atoms import Arrive, Commit, Expect, Fence, FenceKind, Join, Retire, Wait
from ptxgen.prove.trees import check_program
from ptxgen.tile import Program, show
from ptxgen.tile import Retire as RetireNode
from ptxgen.tile import Wait as WaitNode
from ptxgen.tile.machine import MachineFault
from ptxgen.tile.rewriting import deleted, replaced, spots, with_buffer, with_ring
from tests.derive.test_persistent_programs import persisted, run_hopper, small_hopper
from tests.prove.changes import Change, changes, judged, program_with
from tests.prove.menu import HOPPER, PAIR, Planned, menu, split

MENU = dict(menu()) | dict(split())
SAMPLE = ("sm_75, one slab", "sm_80, 3 slabs", "sm_90, boxed", "sm_90a, 3 slabs")
SHARED_SUMS = ("sm_90a, 2 parts in a cluster", "sm_90a, 3 parts through memory")


@frozen
class Row:
    """What came of all changes of a plan's atoms."""

    name: str
    atoms: int
    mutants: int
    refused: int
    harmless: int

    def __str__(self) -> str:
        counts = f"{self.atoms:3} atoms {self.mutants:4} mutants {self.refused:4} refused {self.harmless:3} harmless"
        return f"{self.name:45} {counts}"


def is_refused(derivation: Derivation, number: int, change: Change) -> bool:
    """By the checker, or since no program can be laid out any more."""
    try:
        return bool(judged(derivation, change.result, number))
    except InternalError:
        return True


def table(name: str, planned: Planned, every: int = 1, tiles: int = 3) -> Row:
    """Each change, or every so manyeth of them. What the checker lets go must not be a missing atom: it is harmless as
    the machine shows at every count of slabs, and the judge of trees says the same of the program as it is then."""
    derivation = planned.derivation
    mutants = refused = harmless = 0
    for number, part in enumerate(derivation.parts):
        for change in list(changes(part.synchronised))[::every]:
            mutants += 1
            if is_refused(derivation, number, change):
                refused += 1
                continue
            assert change.how != "deleted", f"{name}: {change} is accepted, so that the atom is needless"
            program = program_with(derivation, number, change.result)
            verdict = check_program(program)
            if "synchronisation.control" in verdict.codes:
                refused += 1
                continue
            assert verdict.accepted, f"{name}: {change} is accepted by the checker of atoms alone: {verdict}"
            assert not planned.faults(program, planned.slab_counts, tiles), f"{name}: {change}"
            harmless += 1
    return Row(name, sum(len(p.synchronised.atoms) for p in derivation.parts), mutants, refused, harmless)


@pytest.mark.parametrize("name, every", [*((name, 3) for name in SAMPLE), *((name, 11) for name in SHARED_SUMS)])
def test_a_sample_of_changes(name: str, every: int) -> None:
    row = table(name, MENU[name], every=every, tiles=1)
    assert row.refused > row.harmless


def test_a_flag_that_is_put_back_too_early_is_waited_for_in_vain() -> None:
    """The last part sets it to what it was at the launch, and then waits for what the part before has set."""
    name = "sm_90a, 3 parts through memory"
    derivation = MENU[name].derivation
    early = next(c for c in changes(derivation.parts[0].synchronised) if "put back" in c.what and c.how == "moved up")
    assert "synchronisation.passing" in judged(derivation, early.result)
    assert MENU[name].faults(program_with(derivation, 0, early.result), [9], 1)


@pytest.mark.parametrize("name", ["sm_90, boxed, 2 warps, one slab", "sm_90a, in pieces, residuals brought ahead"])
def test_a_proxy_fence_at_other_steps_than_the_release_is_none(name: str) -> None:
    """One step late it stands before every release but the first, one early before every one but the last."""
    derivation = MENU[name].derivation
    others = [
        c for c in changes(derivation.parts[0].synchronised) if "proxy fence" in c.what and c.how.startswith("shift")
    ]
    assert others
    for other in others:
        assert set(judged(derivation, other.result)) & {"synchronisation.covered", "synchronisation.ends"}, other


@pytest.mark.parametrize("name", ["sm_90, boxed, 2 warps, one slab", "sm_90a, in pieces, residuals brought ahead"])
def test_a_proxy_fence_that_some_step_lacks_is_none(name: str) -> None:
    derivation = MENU[name].derivation
    given = derivation.parts[0].synchronised
    fences = [a for a in given.atoms if a.atom == Fence(FenceKind.PROXY) and a.time.loops]
    assert fences
    for fence in fences:
        fewer = evolve(fence, domain=fence.domain.intersect(var(fence.domain.dims[-1]) >= 1))
        atoms = tuple(fewer if atom is fence else atom for atom in given.atoms)
        assert judged(derivation, evolve(given, atoms=atoms)), fence


def test_a_register_fence_at_other_steps_than_the_product_is_none() -> None:
    """One step late it stands before every product but the first, which needs it."""
    derivation = MENU["sm_90a, 3 slabs"].derivation
    (late,) = [
        c for c in changes(derivation.parts[0].synchronised) if "register fence" in c.what and c.how == "shift -1"
    ]
    assert is_refused(derivation, 0, late)
    assert MENU["sm_90a, 3 slabs"].faults(program_with(derivation, 0, late.result), [1], 1) == "tile.fence"


@pytest.mark.slow
@pytest.mark.parametrize("name", MENU)
def test_every_change_of_every_atom_is_refused_or_harmless(name: str) -> None:
    row = table(name, MENU[name])
    print(row)
    assert row.refused + row.harmless == row.mutants
    assert row.refused > 2 * row.harmless


def test_the_menu_is_as_wide_as_it_says() -> None:
    assert len(MENU) >= 12
    assert {planned.target for planned in MENU.values()} == {"sm_75", "sm_80", "sm_90", "sm_90a"}
    assert {planned.tiling.cluster for planned in MENU.values()} == {(1, 1), (2, 1), (1, 2)}
    assert {bool(planned.tiling.workers) for planned in MENU.values()} == {True, False}
    assert {bool(planned.tiling.drain) for planned in MENU.values()} == {True, False}
    assert {planned.tiling.split for planned in MENU.values()} == {1, 2, 3, 4}


@pytest.mark.parametrize("name", MENU)
def test_main_loops_have_the_fewest_atoms(name: str) -> None:
    """Turing one meeting with two slabs and two with one; Ampere one meeting behind one wait for groups; where a
    role loads one wait and one arrival of each."""
    planned = MENU[name]
    for part in planned.derivation.parts:
        inner = [a for a in part.synchronised.atoms if a.time.loops[-1:] == ("cta.k",) and not a.tail]
        counts = {
            role: [
                sum(isinstance(a.atom, kind) for a in inner if a.role == role) for kind in (Join, Wait, Arrive, Expect)
            ]
            for role in part.bodies
        }
        if "load" in part.bodies:
            assert counts.pop("bring", [0] * 4) == [0] * 4
            assert counts == {"math": [0, 1, 1, 0], "load": [0, 1, 0, 1]}
            continue
        assert counts == {"all": [1 if planned.tiling.depth > 1 else 2, 0, 0, 0]}
        grouped = [sum(isinstance(a.atom, kind) for a in inner) for kind in (Commit, Retire)]
        assert grouped == ([1, 1] if planned.target in ("sm_80", "sm_90") else [0, 0])


def ran(planned: Planned, tiles: int) -> None:
    program = planned.derivation.program
    for slabs in planned.slab_counts:
        assert planned.run(program, slabs, tiles, seed=slabs) == planned.run(program, slabs, tiles)


@pytest.mark.parametrize("name", SAMPLE)
def test_every_count_of_slabs_runs(name: str) -> None:
    ran(MENU[name], 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", MENU)
@pytest.mark.parametrize("tiles", [1, 2, 3])
def test_every_count_of_slabs_and_tiles_runs(name: str, tiles: int) -> None:
    ran(MENU[name], tiles)


WORKED = Planned("sm_90a", evolve(PAIR, workers=1))
SHARING = Planned("sm_90a", evolve(HOPPER, cluster=(2, 1)))
RING = "A.shared+B.shared"


def deep(program: Program, depth: int) -> Program:
    for name in ("A.shared", "B.shared"):
        program = with_buffer(program, name, depth=depth)
    return with_ring(program, RING, depth=depth)


def more_pending(program: Program) -> Program:
    """The wait in the loop leaves two groups open, and the release stays where it is."""
    spot, node = next((s, n) for s, n in spots(program) if isinstance(n, RetireNode) and n.pending == 1)
    return replaced(program, spot, evolve(node, pending=2))


def without_the_drain(program: Program) -> Program:
    """The release behind the loop is missing: the last arrival of the tree."""
    last = [spot for spot, node in spots(program) if type(node).__name__ == "Arrive"][-1]
    return deleted(program, last)


def without_the_tail(program: Program) -> Program:
    """The wait before a block leaves is missing."""
    spot = next(s for s, n in spots(program) if isinstance(n, WaitNode) and any(c.sink == "leave" for c in n.covers))
    return deleted(program, spot)


VARIANTS: dict[str, tuple[Planned, Callable[[Program], Program], str, set[str]]] = {
    "one slot, one in flight": (WORKED, lambda p: deep(p, 1), "deadlock", {"tile.deadlock"}),
    "retire pending 2": (WORKED, more_pending, "covered", {"tile.stale", "tile.race"}),
    "empty count 1": (WORKED, lambda p: with_ring(p, RING, empty_count=1), "count", {"tile.race", "tile.deadlock"}),
    "empty count 3": (WORKED, lambda p: with_ring(p, RING, empty_count=3), "count", {"tile.deadlock"}),
    "no release behind the loop": (WORKED, without_the_drain, "arrivals", {"tile.deadlock"}),
    "counts without the peer": (
        SHARING,
        lambda p: with_ring(p, RING, empty_count=1),
        "count",
        {"tile.race", "tile.stale", "tile.deadlock", "tile.barrier"},
    ),
    "no wait before leaving": (SHARING, without_the_tail, "leave", {"tile.left"}),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_wrong_variants_of_the_worked_example(name: str) -> None:
    """The other rows of the table, of readers that release one by one and of warpgroups that alternate, are those of
    `test_checker.py`: no plan derives such programs."""
    planned, change, code, shown = VARIANTS[name]
    program = planned.derivation.program
    assert check_program(program).accepted
    wrong = change(program)
    assert f"synchronisation.{code}" in check_program(wrong).codes
    assert planned.faults(wrong, [4, 7, 1], 2) in shown


def test_two_slots_are_too_few_for_two_in_flight() -> None:
    program = deep(derive(persisted(small_hopper(3, 2))).program, 2)
    assert check_program(program).codes == ("synchronisation.deadlock",)
    with pytest.raises(MachineFault, match="waits for"):
        run_hopper(program, 4, 2)
    assert "x 2" in show(program)
