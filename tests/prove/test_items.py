"""Rings that go on from item to item of a work list: the checker against the machine that knows no graph."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from attrs import evolve

from isa.mechanisms import GroupKind, IssuedBy
from ptxgen.order.atoms import Arrive, AtomProgram, Placed, Retire, RoleBody, Side, Wait
from ptxgen.prove.checker import check
from tests.prove.model import faults
from tests.prove.test_checker import USES, hopper
from tests.prove.test_mutations import mutants, without_fences

WGMMA = GroupKind.WGMMA
RELEASE = Arrive("ring", Side.EMPTY, IssuedBy.ELECTED)


def resumed(program: AtomProgram) -> AtomProgram:
    """The program with a work list: behind its tail the body goes on with the next item."""
    return evolve(program, roles=tuple(evolve(role, resumes=True) for role in program.roles))


def with_tail(program: AtomProgram, *tail: Placed) -> AtomProgram:
    role = program.roles[1]
    return program.replaced(role, evolve(role, tail=tail))


PROGRAMS = {
    "one in flight": resumed(hopper(3, 1)),
    "shallow": resumed(hopper(2, 1)),
    "none in flight": resumed(hopper(2, 0)),
    "single slot": resumed(hopper(1, 0)),
    "two in flight": resumed(hopper(4, 2)),
}


def depths_of(program: AtomProgram) -> dict[str, int]:
    return dict.fromkeys("ABD", program.rings[0].depth)


@pytest.mark.parametrize("name", PROGRAMS)
def test_accepted_and_free_of_faults(name: str) -> None:
    program = PROGRAMS[name]
    assert check(program).accepted, check(program)
    assert not faults(program, USES, depths_of(program), 200)


def other_tails(role: RoleBody) -> Iterator[tuple[Placed, ...]]:
    """Tails with one atom less, at another place, for another step, or with another number."""
    tail = role.tail
    for place, placed in enumerate(tail):
        rest = (*tail[:place], *tail[place + 1 :])
        yield rest
        yield from ((*rest[:other], placed, *rest[other:]) for other in range(len(tail)) if other != place)
        if isinstance(placed.atom, Retire):
            yield (*tail[:place], evolve(placed, atom=evolve(placed.atom, pending=1)), *tail[place + 1 :])
        for ahead in (-1, 1):
            if isinstance(placed.atom, Arrive):
                yield (*tail[:place], evolve(placed, ahead=placed.ahead + ahead), *tail[place + 1 :])


@pytest.mark.parametrize("name", PROGRAMS)
def test_checker_and_machine_agree(name: str) -> None:
    program = PROGRAMS[name]
    math = program.roles[1]
    changed = [*mutants(program), *(program.replaced(math, evolve(math, tail=tail)) for tail in other_tails(math))]
    refused = 0
    for mutant in dict.fromkeys(changed):
        verdict = check(mutant, needless=False)
        if verdict.accepted:
            assert not faults(mutant, USES, depths_of(program), 20), mutant
        elif not check(without_fences(mutant), needless=False).accepted:
            refused += 1
            shown = faults(mutant, USES, depths_of(program), 12) or faults(mutant, USES, depths_of(program), 400)
            assert shown, f"{mutant}\n{verdict}"
    assert refused > 12


def late_release() -> AtomProgram:
    """At the end of an item the loads wait until its last tile is free, which is told in the first step of the next."""
    program = resumed(hopper(3, 1, drain=False))
    load = program.roles[0]
    return program.replaced(load, evolve(load, tail=(Placed(Wait("ring", Side.EMPTY), 2),)))


WRONG: dict[str, tuple[AtomProgram, str, str]] = {
    "no drain release": (resumed(hopper(3, 1, drain=False)), "arrivals", "deadlock"),
    "drained too early": (
        with_tail(PROGRAMS["one in flight"], Placed(RELEASE, -1), Placed(Retire(WGMMA, 0), -1)),
        "covered",
        "overwritten while read",
    ),
    "drained by half": (
        with_tail(PROGRAMS["two in flight"], Placed(Retire(WGMMA, 0), -1), Placed(RELEASE, -1)),
        "arrivals",
        "deadlock",
    ),
    "as many slots as in flight": (resumed(hopper(1, 1)), "deadlock", "deadlock"),
    "released one step late": (resumed(hopper(2, 2)), "deadlock", "deadlock"),
    "retired too late": (resumed(hopper(3, 1, pending=2)), "covered", "overwritten while read"),
    "counted too high": (resumed(hopper(3, 1, empty_count=3)), "count", "deadlock"),
    "the writer awaits releases that the reader gives in the next item": (late_release(), "deadlock", "deadlock"),
    "counted too low": (resumed(hopper(3, 1, empty_count=1)), "count", "overwritten while read"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_variants(name: str) -> None:
    program, code, fault = WRONG[name]
    assert f"synchronisation.{code}" in check(program, needless=False).codes
    seen = faults(program, USES, depths_of(program), 300)
    assert any(fault in found for found in seen), seen
