"""Blocks that read each other's tiles between barriers of their cluster: the checker's word, and the model's."""

from collections.abc import Iterator

import pytest
from attrs import evolve

from isa.mechanisms import LOAD, REGISTERS, STORE
from ptxgen.order.atoms import Atom, AtomProgram, ClusterArrive, ClusterWait, Issue, Obligation, Placed, RoleBody
from ptxgen.order.requirement import EventKind
from ptxgen.prove.checker import check
from ptxgen.prove.events import without
from tests.prove.model import Uses, faults
from tests.prove.test_checker import codes

ARRIVE, WAIT = ClusterArrive(), ClusterWait()


def joining(blocks: int) -> AtomProgram:
    """Every block puts a tile, reads the tiles of all, and leaves when all have read its own."""
    reads = tuple(Issue(f"get {part}", LOAD, to=(1 << part,) * blocks) for part in range(blocks))
    atoms: tuple[Atom, ...] = (
        Issue("put", STORE),
        *(ARRIVE, WAIT),
        *reads,
        *(ARRIVE, WAIT),
        Issue("leave", REGISTERS),
    )
    math = RoleBody(
        "math",
        units=1,
        threads=1,
        body=tuple(Placed(atom) for atom in atoms),
        periodic=False,
    )
    asked: list[Obligation] = []
    for part in range(blocks):
        there = tuple((part, part, reader) for reader in range(blocks))
        back = tuple((reader, part, part) for reader in range(blocks))
        asked.append(Obligation("put", EventKind.DONE, f"get {part}", 0, "flow put -> get", ctas=there))
        asked.append(Obligation(f"get {part}", EventKind.READ_DONE, "leave", 0, "reuse get -> leave", ctas=back))
    return AtomProgram((math,), (), tuple(asked), cluster=blocks)


def shown(program: AtomProgram, runs: int = 40) -> set[str]:
    uses = {"put": (Uses("P", True),)} | {f"get {part}": (Uses("P", False),) for part in range(program.cluster)}
    return faults(program, uses, {"P": 1}, runs)


@pytest.mark.parametrize("blocks", [2, 3, 4, 8])
def test_two_barriers_serve_and_the_machine_agrees(blocks: int) -> None:
    assert str(check(joining(blocks))) == "proved"
    assert shown(joining(blocks)) == set()


def mutants(program: AtomProgram) -> Iterator[AtomProgram]:
    """Without one half of a barrier, or with it elsewhere."""
    (role,) = program.roles
    for place, placed in enumerate(role.body):
        if isinstance(placed.atom, ClusterArrive | ClusterWait):
            yield without(program, role, place)
            rest = role.body[:place] + role.body[place + 1 :]
            for other in range(len(rest)):
                moved = (*rest[:other], placed, *rest[other:])
                yield program.replaced(role, evolve(role, body=moved))


@pytest.mark.parametrize("blocks", [2, 3])
def test_halves_that_are_missing_or_elsewhere(blocks: int) -> None:
    """What the checker accepts shows no fault, and what it refuses does."""
    program, refused = joining(blocks), 0
    for mutant in mutants(program):
        verdict = check(mutant, needless=False)
        found = shown(mutant, 300 if not verdict.accepted else 40)
        refused += not verdict.accepted
        assert verdict.accepted == (not found), (mutant.roles[0].body, verdict, found)
    assert refused > 20


def test_a_barrier_less_leaves_reads_unordered() -> None:
    (role,) = (program := joining(2)).roles
    kept = [p for p in role.body if not isinstance(p.atom, ClusterArrive | ClusterWait)]
    bare = program.replaced(role, evolve(role, body=tuple(kept)))
    assert codes(bare) == ("covered",)
    assert "from block 0 to block 1; no path orders them" in str(check(bare))
    assert shown(bare) >= {"memory of a block that has left"}


def test_a_loop_is_no_place_to_meet() -> None:
    (role,) = (program := joining(2)).roles
    assert "gathering" in codes(program.replaced(role, evolve(role, periodic=True)))
