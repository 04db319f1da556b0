"""Units that take work items in turn: the checker, judged by the model of the machine; and the turns of derived plans,
with one thing changed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from attrs import evolve

from polyhedral import var
from ptxgen.order.atoms import Arrive, AtomProgram, Issue, Join, PassTurn, Placed, Retire, TakeTurn, Turn
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.order.threads import Threads
from ptxgen.prove.checker import check
from ptxgen.prove.events import without
from ptxgen.prove.proof import check_meetings
from ptxgen.prove.turns import rounds
from tests.kernels.clusters import TINY, derived
from tests.prove.test_checker import hopper
from tests.prove.test_clusters import shown
from tests.prove.test_items import resumed
from tests.prove.test_mutations import mutants
from tests.prove.test_walking_clusters import LEFT, walking

TURNED = evolve(TINY, warps=8, workers=2, drain=16, turns=True)
THREADS = {"load": Threads(1, 1), "math": Threads(2, 256, alternates=True)}
PRODUCT, WAIT = 1, 0


def alternating(depth: int = 3, window: int = 1, *, turns: bool = True, leave: tuple[int, ...] = ()) -> AtomProgram:
    """Two warpgroups of which each takes every second item; with `leave`, in two blocks that share an operand."""
    alone = resumed(hopper(depth, window, empty_count=1))
    program = walking(depth, window, leave, empty_count=2) if leave else alone
    math = evolve(program.roles[1], alternates=True)
    order = (Turn("math", PRODUCT, WAIT),) if turns else ()
    return evolve(program.replaced(program.roles[1], math), turns=order)


@pytest.mark.parametrize(("depth", "window"), [(1, 0), (2, 0), (2, 1), (3, 1), (4, 2)])
def test_units_that_take_turns(depth: int, window: int) -> None:
    assert str(check(alternating(depth, window))) == "proved"
    assert shown(alternating(depth, window), 200) == set()
    together = alternating(depth, window, leave=tuple(range(depth)))
    assert str(check(together)) == "proved"
    assert shown(together, 60) == set()


def test_without_turns_a_unit_sees_a_phase_too_early() -> None:
    for depth in (1, 2, 3):
        verdict = check(alternating(depth, 0, turns=False))
        assert set(verdict.codes) == {"synchronisation.seen"}
        assert "turns are wanted" in str(verdict)
        assert shown(alternating(depth, 0, turns=False), 300), depth


@pytest.mark.parametrize("place", [WAIT, WAIT + 1, PRODUCT + 1])
def test_a_meeting_is_one_of_a_unit_and_orders_nothing_of_the_next_one(place: int) -> None:
    program = alternating(2, 0, turns=False)
    math = program.roles[1]
    meeting = evolve(math, body=(*math.body[:place], Placed(Join(1)), *math.body[place:]))
    met = program.replaced(math, meeting)
    assert "turns are wanted" in str(check(met))
    assert shown(met, 300)


def test_counts_are_those_of_one_unit() -> None:
    program = alternating()
    for count in (2, 3):
        wrong = evolve(program, rings=(evolve(program.rings[0], empty_count=count),))
        assert check(wrong).codes == ("synchronisation.count",)
        assert shown(wrong, 60)


def test_the_last_release_of_every_slot_is_awaited_in_a_cluster() -> None:
    """The unit that does not have the last item may still release tiles before it."""
    assert "remote arrive not before leave" in str(check(alternating(leave=(2,))))
    assert LEFT in shown(alternating(leave=(2,)), 400, LEFT)
    for rest in ((0, 1), (1, 2), (0, 2)):
        assert not check(alternating(leave=rest)).accepted


def test_no_atom_can_be_left_out() -> None:
    for program in (alternating(), alternating(leave=(0, 1, 2))):
        for role in program.roles:
            for place, placed in enumerate(role.atoms):
                if not isinstance(placed.atom, Issue):
                    rest = without(program, role, place)
                    verdict = check(rest)
                    assert not verdict.accepted, placed
                    if not role.leave or place < len(role.atoms) - 2:
                        assert isinstance(placed.atom, Retire) or shown(rest, 400), placed


@pytest.mark.slow
def test_checker_and_machine_agree_on_moved_atoms() -> None:
    refused = 0
    for mutant in dict.fromkeys(mutants(alternating(2, 1))):
        verdict = check(mutant, needless=False)
        if verdict.accepted:
            assert not shown(mutant, 30), mutant
        else:
            refused += 1
            assert shown(mutant, 400), f"{mutant}\n{verdict}"
    assert refused > 12


def judged(synchronised: Synchronised, threads: dict[str, Threads] = THREADS) -> tuple[str, ...]:
    (part,) = derived((1, 1), tiling=TURNED).parts
    return check_meetings(synchronised, part.requirements, threads=threads).codes


def altered(atom: Synchronisation) -> Iterator[Synchronisation]:
    """A turn of another number, not at every item, or somewhere else in the item."""
    if isinstance(atom.atom, TakeTurn | PassTurn):
        for more in (-2, -1, 1, 2):
            yield evolve(atom, rank=atom.rank + more)
        yield evolve(atom, rank=atom.rank + var("item"))
        yield evolve(atom, domain=atom.domain.intersect(var("item") >= 1))
        yield evolve(atom, time=evolve(atom.time, place=(atom.time.place[0], -1)))
        yield evolve(atom, time=evolve(atom.time, place=(atom.time.place[0], 99)))
        yield evolve(atom, atom=evolve(atom.atom, turns="turns of nothing"))


def test_each_changed_turn_is_refused() -> None:
    """But for a turn that is taken earlier, or passed on later, than it needs to be."""
    (part,) = derived((1, 1), tiling=TURNED).parts
    whole = part.synchronised
    assert judged(whole) == ()
    accepted = refused = 0
    for number, atom in enumerate(whole.atoms):
        others = (*whole.atoms[:number], *whole.atoms[number + 1 :])
        assert judged(evolve(whole, atoms=others)), atom
        for other in altered(atom):
            harmless = (isinstance(atom.atom, TakeTurn), other.time.place[-1]) in ((True, -1), (False, 99))
            assert (judged(evolve(whole, atoms=(*others, other))) == ()) is harmless, other
            accepted, refused = accepted + harmless, refused + (not harmless)
    assert (accepted, refused) == (2, 16)
    (use,) = whole.turns
    for wrong in (evolve(use, count=1), evolve(use, count=8), evolve(use, units=3)):
        assert judged(evolve(whole, turns=(wrong,))), wrong
    assert "synchronisation.seen" in judged(evolve(whole, turns=()))
    assert "synchronisation.count" in judged(whole, {**THREADS, "math": Threads(2, 256)})


@pytest.mark.parametrize("units", [2, 3, 4])
def test_rounds_of_several_units(units: int) -> None:
    (part,) = derived((1, 1), tiling=evolve(TURNED, warps=8)).parts
    (use,) = part.synchronised.turns
    shift = units - 2
    atoms = tuple(
        evolve(a, rank=a.rank + shift) if isinstance(a.atom, TakeTurn) else a for a in part.synchronised.atoms
    )
    whole = evolve(part.synchronised, atoms=atoms)
    threads = {"math": Threads(units, 128 * units, alternates=True)}
    program = rounds(whole, evolve(use, units=units), threads)
    assert str(check(program)) == "proved"
    assert len(program.roles) == len(program.rings) == units
    passed = next(p for p in program.roles[0].body if isinstance(p.atom, Arrive))
    for role in program.roles:
        rest = without(program, role, next(n for n, p in enumerate(role.body) if isinstance(p.atom, Arrive)))
        assert not check(rest).accepted
    assert passed.ahead == 0
