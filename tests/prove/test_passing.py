"""Blocks that pass a tile of a workspace on, part by part: the checker's word, and the model's."""

from collections.abc import Iterator

import pytest
from attrs import evolve

from isa.mechanisms import LOAD, STORE
from ptxgen.order.atoms import Acquire, Atom, AtomProgram, Issue, Obligation, Placed, Release, RoleBody
from ptxgen.order.requirement import EventKind
from ptxgen.prove.checker import check
from ptxgen.prove.events import without
from tests.prove.model import Uses, faults

TAKE, GIVE = Acquire("W"), Release("W")


def chain(blocks: int) -> AtomProgram:
    """Each block reads the tile of the one before it, and leaves one for the next."""
    before = Issue("get", LOAD, to=tuple(1 << part >> 1 for part in range(blocks)))
    atoms: tuple[Atom, ...] = (TAKE, before, Issue("put", STORE), GIVE)
    math = RoleBody("math", units=1, threads=1, body=tuple(Placed(atom) for atom in atoms), periodic=False)
    later = tuple((part, part, part + 1) for part in range(blocks - 1))
    asked = Obligation("put", EventKind.DONE, "get", 0, "flow put -> get", ctas=later)
    return AtomProgram((math,), (), (asked,), cluster=blocks)


def once(blocks: int, on: int) -> AtomProgram:
    """Each block has a place of its own for its tile, and reads that of the block so many before it."""
    take, give = Acquire("W", once=True), Release("W", once=True, on=on)
    before = Issue("get", LOAD, to=tuple(1 << part >> on for part in range(blocks)))
    atoms: tuple[Atom, ...] = (take, before, Issue("put", STORE), give)
    math = RoleBody("math", units=1, threads=1, body=tuple(Placed(atom) for atom in atoms), periodic=False)
    later = tuple((part, part, part + on) for part in range(blocks - on))
    asked = Obligation("put", EventKind.DONE, "get", 0, "flow put -> get", ctas=later, passed=True)
    return AtomProgram((math,), (), (asked,), cluster=blocks)


def shown(program: AtomProgram, runs: int = 40) -> set[str]:
    return faults(program, {"put": (Uses("P", True, True),), "get": (Uses("P", False, True),)}, {"P": 1}, runs)


@pytest.mark.parametrize("blocks", [2, 3, 5])
def test_each_block_waits_for_the_one_before(blocks: int) -> None:
    assert str(check(chain(blocks))) == "proved"
    assert shown(chain(blocks)) == set()


@pytest.mark.parametrize("blocks, on", [(2, 1), (4, 1), (4, 2)])
def test_each_block_waits_for_the_one_so_many_before(blocks: int, on: int) -> None:
    program = once(blocks, on)
    assert str(check(program)) == "proved"
    assert shown(program) == set()
    refused = 0
    for mutant in mutants(program):
        verdict, found = check(mutant, needless=False), shown(mutant, 200)
        refused += not verdict.accepted
        assert verdict.accepted == (not found), (mutant.roles[0].body, verdict, found)
    assert refused > 6


def test_a_block_knows_nothing_of_one_that_is_nearer() -> None:
    program = once(4, 2)
    (asked,) = program.obligations
    assert not check(evolve(program, obligations=(evolve(asked, ctas=((0, 0, 1),)),))).accepted


def mutants(program: AtomProgram) -> Iterator[AtomProgram]:
    (role,) = program.roles
    for place, placed in enumerate(role.body):
        if isinstance(placed.atom, Acquire | Release):
            yield without(program, role, place)
            rest = role.body[:place] + role.body[place + 1 :]
            for other in range(len(rest) + 1):
                yield program.replaced(role, evolve(role, body=(*rest[:other], placed, *rest[other:])))


def test_acquisitions_and_releases_that_are_missing_or_elsewhere() -> None:
    refused = 0
    for mutant in mutants(chain(3)):
        verdict = check(mutant, needless=False)
        found = shown(mutant, 200)
        refused += not verdict.accepted
        assert verdict.accepted == (not found), (mutant.roles[0].body, verdict, found)
    assert refused > 6
