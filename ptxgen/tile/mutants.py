"""Programs with one thing missing, for tests that ask whether anybody notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from attrs import evolve, frozen

from ptxgen.tile.program import Program
from ptxgen.tile.rewriting import deleted, spots
from ptxgen.tile.synchronisation import Ordering, Synchronisation


@frozen
class Mutant:
    """`program` lacks `removed`, number `position` of what synchronises role `role` (none: all threads)."""

    role: str
    position: int
    removed: Synchronisation
    program: Program


def without_each_synchronisation(program: Program) -> Iterator[Mutant]:
    """For each node that synchronises, in order of the trees, the program without it."""
    for position, entered in enumerate(program.enter):
        rest = program.enter[:position] + program.enter[position + 1 :]
        yield Mutant("", position, entered, evolve(program, enter=rest))
    seen: Counter[str] = Counter()
    for spot, node in spots(program):
        if isinstance(node, Ordering):
            yield Mutant(spot.role, seen[spot.role], node, deleted(program, spot))
            seen[spot.role] += 1
