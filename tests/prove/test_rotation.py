"""Units that share every item and take phases of a loop in rotation: each part of what is derived changed, and the
judge of atoms asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from attrs import evolve

from polyhedral import const, var
from ptxgen.derive.part import threads_of
from ptxgen.derive.space import IndexSpace
from ptxgen.errors import InternalError
from ptxgen.order.atoms import Advance, Arrive, Join, PassTurn, TakeTurn
from ptxgen.order.ops import Time
from ptxgen.order.requirements import requirements
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.order.threads import Rotation, Threads
from ptxgen.prove.checker import check
from ptxgen.prove.events import without
from ptxgen.prove.proof import check_meetings
from ptxgen.prove.trees import check_program
from ptxgen.prove.turns import rounds
from ptxgen.synchronise.discharge import discharge
from ptxgen.tile import WARPGROUP
from tests.kernels.rotation import kernel, shown
from tests.prove.changes import changes, program_with

COUNTER, OWN = "cta.j.past", "cta.j.turned"
ROOM = 4


def judged(synchronised: Synchronised, **choices: int) -> tuple[str, ...]:
    derivation = kernel(**choices).derivation
    threads = threads_of(IndexSpace(derivation.plan))
    (part,) = derivation.parts
    return check_meetings(synchronised, part.requirements, needless=False, threads=threads).codes


def whole(**choices: int) -> Synchronised:
    return kernel(**choices).derivation.parts[0].synchronised


def roomy(found: Synchronised) -> Synchronised:
    """The same with room between all places."""

    def moved(time: Time) -> Time:
        return evolve(time, place=tuple(ROOM * place for place in time.place))

    ops = tuple(evolve(op, time=moved(op.time)) for op in found.ops)
    return evolve(found, ops=ops, atoms=tuple(evolve(a, time=moved(a.time)) for a in found.atoms))


def shifted(atom: Synchronisation, place: int) -> Synchronisation:
    """The atom elsewhere in its body."""
    return evolve(atom, time=evolve(atom.time, place=(*atom.time.place[:-1], place)))


def instead(found: Synchronised, old: Synchronisation, *new: Synchronisation) -> Synchronised:
    kept = (new if atom is old else (atom,) for atom in found.atoms)
    return evolve(found, atoms=tuple(atom for atoms in kept for atom in atoms))


def altered(atom: Synchronisation) -> Iterator[Synchronisation]:
    """A turn of another number, of another unit, not in every step, somewhere else, or of nothing."""
    for more in (-2, -1, 1, 2):
        yield evolve(atom, rank=atom.rank + more)
    for name in (WARPGROUP, "cta.j", COUNTER):
        yield evolve(atom, rank=atom.rank + var(name))
        yield evolve(atom, rank=atom.rank - var(name))
    yield evolve(atom, rank=atom.rank.substitute({COUNTER: const(0)}))
    yield evolve(atom, domain=atom.domain.intersect(var("cta.j") >= 1))
    yield evolve(atom, time=evolve(atom.time, place=(*atom.time.place[:-2], 0, atom.time.place[-1])))
    assert isinstance(atom.atom, TakeTurn | PassTurn)
    yield evolve(atom, atom=evolve(atom.atom, turns="turns of nothing"))
    for early in (-1, 1):
        yield evolve(atom, time=evolve(atom.time, ahead=(*atom.time.ahead[:-1], early)))


def test_each_changed_turn_is_refused() -> None:
    found = roomy(whole())
    assert judged(found) == ()
    turning = [atom for atom in found.atoms if isinstance(atom.atom, TakeTurn | PassTurn)]
    assert len(turning) == 4
    for atom in turning:
        assert judged(instead(found, atom)), atom
        assert isinstance(atom.atom, TakeTurn) or judged(
            instead(found, atom, atom, shifted(atom, atom.time.place[-1] + 1))
        )
        for other in altered(atom):
            assert judged(instead(found, atom, other)), other


def test_a_turn_is_taken_before_the_phase_and_passed_on_behind_it() -> None:
    """At every other place it is refused, but where it is taken earlier, or passed on later, than it needs to be."""
    found = roomy(whole())
    places = {op.name: op.time.place[-1] for op in found.ops if op.time.loops[-1:] == ("cta.j",) and op.role == "math"}
    wide = 0
    for atom in found.atoms:
        if not isinstance(atom.atom, TakeTurn | PassTurn):
            continue
        product = atom.atom.turns.removeprefix("turns of ")
        for name, place in places.items():
            for there in (place - 1, place + 1):
                around = there < places[product] if isinstance(atom.atom, TakeTurn) else there > places[product]
                codes = judged(instead(found, atom, shifted(atom, there)))
                assert around or codes, (atom, name, there)
                wide += not codes
    assert wide > 8


def test_a_meeting_inside_a_phase_waits_for_itself() -> None:
    """The first unit meets the second one in a phase that this one may not begin before the first one has ended it."""
    found = roomy(whole())
    take = next(atom for atom in found.atoms if isinstance(atom.atom, TakeTurn))
    for more, codes, fault in ((-1, (), ""), (1, ("synchronisation.rotation",), "tile.deadlock")):
        meeting = evolve(shifted(take, take.time.place[-1] + more), atom=Join(1), rank=const(0))
        changed = evolve(found, atoms=(*found.atoms, meeting))
        assert judged(changed) == codes
        program = program_with(kernel().derivation, 0, changed)
        assert shown(program) == fault
        assert ("synchronisation.deadlock" in check_program(program).codes) is bool(fault)


def test_what_counts_on_is_judged() -> None:
    found = roomy(whole())
    (advance,) = (a for a in found.atoms if isinstance(a.atom, Advance) and a.role == "math")
    uses = found.turns
    for wrong in ("", OWN, "nothing"):
        assert judged(evolve(found, turns=(evolve(uses[0], counter=wrong), uses[1]))), wrong
    assert judged(instead(found, advance))
    own = own_counter(found, advance)
    assert judged(own) == ()
    (other,) = (a for a in own.atoms if isinstance(a.atom, Advance) and a.atom.counter == OWN)
    assert isinstance(other.atom, Advance)
    early = shifted(other, -1)
    more = evolve(other, atom=evolve(other.atom, by=evolve(other.atom.by, affine=other.atom.by.affine + 64)))
    some = evolve(other, domain=other.domain.intersect(var("item") >= 1))
    for wrongly in ((), (other, other), (early,), (more,), (some,)):
        assert "synchronisation.counter" in judged(instead(own, other, *wrongly)), wrongly


def own_counter(found: Synchronised, advance: Synchronisation) -> Synchronised:
    """The same with a counter of the turns' own, behind that of the rings."""
    assert isinstance(advance.atom, Advance)
    another = evolve(shifted(advance, advance.time.place[-1] + 1), atom=evolve(advance.atom, counter=OWN))
    atoms = tuple(
        evolve(a, rank=a.rank.substitute({COUNTER: var(OWN)})) if isinstance(a.atom, TakeTurn | PassTurn) else a
        for a in found.atoms
    )
    turns = tuple(evolve(use, counter=OWN) for use in found.turns)
    return evolve(found, atoms=(*atoms, another), turns=turns)


def test_a_loop_that_no_ring_counts_alone_gets_a_counter_of_its_own() -> None:
    """Where a ring of the loop is used in another one too, its counter skips numbers that no turn has."""
    derivation = kernel().derivation
    (part,) = derivation.parts
    ops = tuple(
        evolve(
            op, touches=tuple(evolve(t, counter="", rank=t.rank.substitute({COUNTER: const(0)})) for t in op.touches)
        )
        for op in part.ops
    )
    math = tuple(op for op in ops if op.role == "math")
    alone = tuple(evolve(op, touches=tuple(t for t in op.touches if t.buffer.depth == 1)) for op in math)
    threads = threads_of(IndexSpace(derivation.plan))
    needed = tuple(r for r in requirements(alone) if r.source.op.role == r.sink.op.role)
    found = discharge(alone, needed, threads, (Rotation("math", ("AB", "PD"), "cta.j"),))
    assert [use.counter for use in found.turns] == [OWN, OWN]
    (advance,) = (a for a in found.atoms if isinstance(a.atom, Advance))
    assert str(advance.atom).startswith(f"advance {OWN} by ")
    assert check_meetings(found, needed, needless=False, threads=threads).codes == ()


def test_counts_units_and_ops_of_a_turn_are_judged() -> None:
    found = whole()
    first, second = found.turns
    outside = next(number for number, op in enumerate(found.ops) if op.name == "PD.fill")
    for wrong in (
        evolve(first, count=1),
        evolve(first, count=8),
        evolve(first, units=3),
        evolve(first, loops=("item",)),
        evolve(first, loops=()),
        evolve(first, ops=second.ops),
        evolve(first, ops=(*first.ops, outside)),
    ):
        assert judged(evolve(found, turns=(wrong, second))), wrong
    assert judged(found, i=256)


@pytest.mark.parametrize("units", [2, 3, 4])
def test_rounds_of_several_units(units: int) -> None:
    """A round is a step: one slot for each unit, and no arrival can be left out."""
    choices = {"i": 64 * units}
    found = whole(**choices)
    for use in found.turns:
        program = rounds(found, use, {"math": Threads(units, 128 * units)})
        assert str(check(program)) == "proved"
        assert len(program.roles) == len(program.rings) == units
        for role in program.roles:
            place = next(n for n, p in enumerate(role.body) if isinstance(p.atom, Arrive))
            assert not check(without(program, role, place)).accepted


def outcomes(every: int) -> dict[str, int]:
    """Changes of every atom: what their judge lets go the judge of trees accepts too, and the machine."""
    derivation, counts = kernel().derivation, {"refused": 0, "harmless": 0}
    for change in list(changes(derivation.parts[0].synchronised))[::every]:
        try:
            accepted = not judged(change.result)
        except InternalError:
            accepted = False
        if accepted:
            program = program_with(derivation, 0, change.result)
            verdict = check_program(program)
            accepted = "synchronisation.control" not in verdict.codes
            assert not accepted or verdict.accepted, f"{change}: {verdict}"
            assert not accepted or not shown(program), change
        counts["harmless" if accepted else "refused"] += 1
    return counts


def test_a_sample_of_changes() -> None:
    counts = outcomes(every=13)
    assert counts["refused"] > counts["harmless"]


@pytest.mark.slow
def test_every_change() -> None:
    counts = outcomes(every=1)
    print(counts)
    assert counts["refused"] > 2 * counts["harmless"]
