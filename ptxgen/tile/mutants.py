"""Programs with one thing missing, for tests that ask whether anybody notices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import assert_never

from attrs import evolve, frozen

from ptxgen.tile.nodes import (
    Copy,
    Counter,
    Fill,
    ForEachItem,
    Let,
    Loop,
    Map,
    Multiply,
    Node,
    Ordering,
    Program,
    Reduce,
    Sequence,
    Synchronisation,
    When,
)


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
    for place, role in enumerate(program.roles):
        for position in count():
            removed: list[Synchronisation] = []
            body = without_number(role.body, count(), position, removed)
            if not removed:
                break
            roles = (*program.roles[:place], evolve(role, body=body), *program.roles[place + 1 :])
            yield Mutant(role.name, position, removed[0], evolve(program, roles=roles))


def without_number(node: Node, counter: Iterator[int], position: int, removed: list[Synchronisation]) -> Node:
    """`node` without its synchronisation number `position`, which is appended to `removed`; `counter` numbers it."""
    match node:
        case Ordering():
            if next(counter) != position:
                return node
            removed.append(node)
            return Sequence(())
        case Sequence(children):
            return Sequence(tuple(without_number(child, counter, position, removed) for child in children))
        case Loop(body=body) | Let(body=body) | ForEachItem(body=body) | Counter(body=body):
            return evolve(node, body=without_number(body, counter, position, removed))
        case When(conditions, then, otherwise):
            kept = without_number(then, counter, position, removed)
            return When(conditions, kept, otherwise and without_number(otherwise, counter, position, removed))
        case Copy() | Fill() | Multiply() | Map() | Reduce():
            return node
        case _:
            assert_never(node)
