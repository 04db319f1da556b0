"""The machine runs what the checker accepts and shows a fault in what it refuses, fences apart: the model has no
proxies. Atoms are moved, renumbered and shifted in every way."""

from collections.abc import Iterator
from itertools import combinations

import pytest
from attrs import evolve

from ptxgen.order.atoms import Arrive, AtomProgram, Issue, Placed, Retire, RoleBody
from ptxgen.prove.checker import check
from tests.prove.model import faults
from tests.prove.test_checker import PIECES, USES, ampere, hopper, pieces, plain_reader

PROGRAMS = {
    "one in flight": hopper(3, 1),
    "none in flight": hopper(2, 0),
    "two in flight": hopper(4, 2),
    "grouped": ampere(3),
    "plain": plain_reader(meet=True),
    "pieces": pieces(2),
}


def mutants(program: AtomProgram) -> Iterator[AtomProgram]:
    for role in program.roles:
        for first, second in combinations(range(len(role.body)), 2):
            body = list(role.body)
            body[first], body[second] = body[second], body[first]
            yield program.replaced(role, evolve(role, body=tuple(body)))
            body.insert(first, body.pop(second))
            yield program.replaced(role, evolve(role, body=tuple(body)))
        for place, placed in enumerate(role.body):
            for other in altered(role, placed):
                body = [*role.body[:place], other, *role.body[place + 1 :]]
                yield program.replaced(role, evolve(role, body=tuple(body)))
    for ring in program.rings:
        yield evolve(program, rings=(evolve(ring, empty_count=ring.empty_count + 1),))


def altered(role: RoleBody, placed: Placed) -> Iterator[Placed]:
    match placed.atom:
        case Retire(pending=pending):
            for number in {max(pending - 1, 0), pending + 1} - {pending}:
                yield evolve(placed, atom=evolve(placed.atom, pending=number))
        case Arrive() | Issue():
            if not any(isinstance(p.atom, Arrive) for p in role.tail):
                yield evolve(placed, ahead=placed.ahead + 1)
        case _:
            pass


def without_fences(program: AtomProgram) -> AtomProgram:
    return evolve(program, obligations=tuple(evolve(o, fence=None) for o in program.obligations))


@pytest.mark.parametrize("name", PROGRAMS)
def test_checker_and_machine_agree(name: str):
    program = PROGRAMS[name]
    uses = PIECES if name == "pieces" else USES
    depths = dict.fromkeys("ABD", {"grouped": 3, "pieces": 2}.get(name) or program.rings[0].depth)
    refused = 0
    for mutant in dict.fromkeys(mutants(program)):
        verdict = check(mutant, needless=False)
        if verdict.accepted:
            assert not faults(mutant, uses, depths, 12), mutant
        elif not check(without_fences(mutant), needless=False).accepted:
            refused += 1
            assert faults(mutant, uses, depths, 12) or faults(mutant, uses, depths, 400), f"{mutant}\n{verdict}"
    assert refused > 15
