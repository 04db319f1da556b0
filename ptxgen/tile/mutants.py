"""Programs with one thing missing, for tests that ask whether anybody notices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import assert_never

from attrs import evolve, frozen

from ptxgen.tile.nodes import Copy, Fill, Let, Loop, Map, Meet, Multiply, Node, Program, Reduce, Sequence, When


@frozen
class Mutant:
    """`program` lacks the meeting `removed`, number `position` among those of role `role`."""

    role: str
    position: int
    removed: Meet
    program: Program


def without_each_meet(program: Program) -> Iterator[Mutant]:
    """For each meeting of the program, in order of the trees, the program without it."""
    for place, role in enumerate(program.roles):
        for position in count():
            removed: list[Meet] = []
            body = drop_meet(role.body, count(), position, removed)
            if not removed:
                break
            roles = (*program.roles[:place], evolve(role, body=body), *program.roles[place + 1 :])
            yield Mutant(role.name, position, removed[0], evolve(program, roles=roles))


def drop_meet(node: Node, counter: Iterator[int], position: int, removed: list[Meet]) -> Node:
    """`node` without its meeting number `position`, which is appended to `removed`; `counter` numbers the meetings."""
    match node:
        case Meet():
            if next(counter) != position:
                return node
            removed.append(node)
            return Sequence(())
        case Sequence(children):
            return Sequence(tuple(drop_meet(child, counter, position, removed) for child in children))
        case Loop(body=body) | Let(body=body):
            return evolve(node, body=drop_meet(body, counter, position, removed))
        case When(conditions, then, otherwise):
            kept = drop_meet(then, counter, position, removed)
            return When(conditions, kept, otherwise and drop_meet(otherwise, counter, position, removed))
        case Copy() | Fill() | Multiply() | Map() | Reduce():
            return node
        case _:
            assert_never(node)
