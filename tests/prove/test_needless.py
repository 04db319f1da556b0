"""Atoms that nothing needs are those without which the checker, asked anew of the rest, has nothing to say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from attrs import evolve

from ptxgen.derive.part import threads_of
from ptxgen.derive.space import IndexSpace
from ptxgen.order.atoms import Arrive, AtomProgram, Commit, Expect, Release, Turn, is_synchronisation
from ptxgen.prove.checker import check
from ptxgen.prove.events import without
from ptxgen.prove.parts import parts
from ptxgen.prove.programs import program_of
from tests.prove.menu import Planned, menu
from tests.prove.test_checker import ampere, hopper, pieces, plain_reader
from tests.prove.test_turns import alternating

PROGRAMS = {
    "hopper": hopper(),
    "a pair of blocks": hopper(2, 0, empty_count=4, pair=True),
    "no window": hopper(2, 0),
    "ampere": ampere(),
    "plain reads": plain_reader(meet=True),
    "pieces": pieces(2),
    "alternating": alternating(),
}
NEEDLESS = ((), ("synchronisation.needless",))
PLANS = dict(menu())


def named(program: AtomProgram) -> list[str]:
    """The atoms of roles that the checker finds needless."""
    return [found.message for found in check(program).findings if "(number" in found.message]


def left_out(program: AtomProgram) -> Iterator[str]:
    """The atoms of roles without which nothing is wrong, in the checker's words; what is for outside a loop is not
    looked at."""
    for role in program.roles:
        seen: Counter[str] = Counter()
        for place, placed in enumerate(role.atoms):
            outside = (isinstance(placed.atom, Commit) and placed.atom.for_outside) or placed.atom == Release("", True)
            if is_synchronisation(placed.atom) and not outside:
                seen[str(placed.atom)] += 1
                if check(without(program, role, place), needless=False).accepted:
                    yield f"{placed.atom} of {role.name} (number {seen[str(placed.atom)]}) serves no requirement"


def with_one_more(program: AtomProgram) -> Iterator[AtomProgram]:
    """The program with one of its atoms, but for arrivals, once more in a body."""
    own = [p for r in program.roles for p in r.atoms if is_synchronisation(p.atom)]
    for role in program.roles:
        for extra in dict.fromkeys(p for p in own if not isinstance(p.atom, Arrive | Expect)):
            for place in range(0, len(role.body) + 1, 2):
                more = evolve(role, body=(*role.body[:place], extra, *role.body[place:]))
                turns = (t if t.role != role.name else behind_one_more(t, place) for t in program.turns)
                yield evolve(program.replaced(role, more), turns=tuple(turns))


def behind_one_more(turn: Turn, place: int) -> Turn:
    """A turn between the atoms that it was between before one was put at `place`."""
    return evolve(turn, before=turn.before + int(place <= turn.before), after=turn.after + int(place <= turn.after))


def disagreements(program: AtomProgram) -> tuple[int, list[AtomProgram]]:
    """How many needless atoms there were in all, and the programs of which the two do not say the same."""
    count, wrong = 0, list[AtomProgram]()
    for one in (program, *with_one_more(program)):
        if check(one).codes in NEEDLESS:
            wanted = list(left_out(one))
            count += len(wanted)
            wrong += [one] if named(one) != wanted else []
    return count, wrong


@pytest.mark.parametrize("name", PROGRAMS)
def test_needless_atoms_are_those_that_can_be_left_out(name: str) -> None:
    count, wrong = disagreements(PROGRAMS[name])
    assert not wrong
    assert count > 2


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_so_it_is_in_derived_plans(name: str) -> None:
    for program in programs(PLANS[name]):
        assert not disagreements(program)[1]


def programs(planned: Planned) -> Iterator[AtomProgram]:
    """The bodies that the judge looks at together, but for those that pass tiles on at some steps only."""
    derivation = planned.derivation
    threads = threads_of(IndexSpace(derivation.plan))
    for part in derivation.parts:
        for bodies in parts(part.synchronised, part.requirements, threads):
            program = program_of(part.synchronised, bodies)
            if not any(obligation.passed for obligation in program.obligations):
                yield program
