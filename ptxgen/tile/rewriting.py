"""Changing a program by hand: nodes replaced, deleted, inserted and moved where they stand, buffers and rings changed
wherever they are used. Each function gives a new program; `ptxgen.prove.trees` judges it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never

from attrs import evolve, frozen

from ptxgen.tile.buffers import Buffer, Region
from ptxgen.tile.leaves import Copy, Factor, Fill, HandWritten, Map, MapOperand, Multiply, Reduce
from ptxgen.tile.nodes import Counter, ForEachItem, Let, Loop, Node, Sequence, When
from ptxgen.tile.program import Program, Role
from ptxgen.tile.synchronisation import Ordering
from ptxgen.tile.trees import children_of, sequence


@frozen
class Spot:
    """Where a node stands: in the tree of a role, as the number of a child of the body, of a child of that one's body,
    and so on. Below a condition comes first 0 for what follows where it holds, 1 for the other branch."""

    role: str
    steps: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.role}:{'.'.join(map(str, self.steps))}"


def spots(program: Program) -> Iterator[tuple[Spot, Node]]:
    """Every node of a program in the order of its text, loops before what is in them, with the spot where it stands."""
    for role in program.roles:
        yield from ((Spot(role.name, steps), node) for steps, node in _inside(role.body, ()))


def _inside(body: Node, above: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Node]]:
    for number, node in enumerate(children_of(body)):
        here = (*above, number)
        yield here, node
        match node:
            case Loop() | Let() | ForEachItem() | Counter():
                yield from _inside(node.body, here)
            case When(_, then, otherwise):
                yield from _inside(then, (*here, 0))
                if otherwise is not None:
                    yield from _inside(otherwise, (*here, 1))
            case _:
                pass


def node_at(program: Program, spot: Spot) -> Node:
    """The node at a spot; LookupError where there is none."""
    for found, node in spots(program):
        if found == spot:
            return node
    raise LookupError(f"{program.name} has no node at {spot}")


def replaced(program: Program, spot: Spot, *nodes: Node) -> Program:
    """The program with other nodes, or none, at a spot. LookupError where there is no node."""
    node_at(program, spot)
    role = role_of(program, spot.role)
    changed = evolve(role, body=_exchanged(role.body, spot.steps, nodes))
    return evolve(program, roles=tuple(changed if each is role else each for each in program.roles))


def deleted(program: Program, spot: Spot) -> Program:
    """The program without the node at a spot."""
    return replaced(program, spot)


def inserted(program: Program, spot: Spot, *nodes: Node, behind: bool = False) -> Program:
    """The program with nodes before the one at a spot, or behind it."""
    here = node_at(program, spot)
    return replaced(program, spot, *((here, *nodes) if behind else (*nodes, here)))


def moved(program: Program, spot: Spot, to: Spot, *, behind: bool = False) -> Program:
    """The program with the node at `spot` before the one at `to`, or behind it; both as they stand in `program`.
    ValueError where one of the two lies in the other."""
    if spot.role == to.role and (spot.steps[: len(to.steps)] == to.steps or to.steps[: len(spot.steps)] == spot.steps):
        raise ValueError(f"a node is moved before or behind another one: {spot} and {to} lie in each other")
    node = node_at(program, spot)
    placed = inserted(program, to, node, behind=behind)
    first = spot.steps
    before = len(to.steps) - 1
    shifted = spot.role == to.role and first[:before] == to.steps[:before] and first[before] > to.steps[before]
    if shifted:
        first = (*first[:before], first[before] + 1, *first[before + 1 :])
    return deleted(placed, Spot(spot.role, first))


def role_of(program: Program, name: str) -> Role:
    """The role called `name`; LookupError names those that are there."""
    for role in program.roles:
        if role.name == name:
            return role
    raise LookupError(f"{program.name} has no role {name}; there are {', '.join(r.name for r in program.roles)}")


def _exchanged(body: Node, steps: tuple[int, ...], nodes: tuple[Node, ...]) -> Node:
    children = children_of(body)
    here, deeper = steps[0], steps[1:]
    if not deeper:
        return sequence((*children[:here], *nodes, *children[here + 1 :]))
    return sequence((*children[:here], _changed(children[here], deeper, nodes), *children[here + 1 :]))


def _changed(node: Node, steps: tuple[int, ...], nodes: tuple[Node, ...]) -> Node:
    match node:
        case Loop() | Let() | ForEachItem() | Counter():
            return evolve(node, body=_exchanged(node.body, steps, nodes))
        case When(conditions, then, otherwise):
            if steps[0] == 0:
                return When(conditions, _exchanged(then, steps[1:], nodes), otherwise)
            assert otherwise is not None
            return When(conditions, then, _exchanged(otherwise, steps[1:], nodes))
        case _:
            raise LookupError(f"nothing stands inside of {type(node).__name__}")


def with_ring(program: Program, name: str, **changes: Any) -> Program:
    """The program with a ring's fields changed: `depth`, `byte_count`, `empty_count`, `counts_by_rank`."""
    if name not in {ring.name for ring in program.rings}:
        raise LookupError(f"{program.name} has no ring {name}; there are {[ring.name for ring in program.rings]}")
    rings = (evolve(ring, **changes) if ring.name == name else ring for ring in program.rings)
    return evolve(program, rings=tuple(rings))


def with_buffer(program: Program, name: str, **changes: Any) -> Program:
    """The program with a buffer's fields changed, such as `depth`, wherever it is used."""
    old = next((buffer for buffer in program.buffers if buffer.name == name), None)
    if old is None:
        known = ", ".join(buffer.name for buffer in program.buffers)
        raise LookupError(f"{program.name} has no buffer {name}; there are {known}")
    new = evolve(old, **changes)
    buffers = tuple(new if buffer is old else buffer for buffer in program.buffers)
    roles = tuple(evolve(role, body=_with_buffer(role.body, old, new)) for role in program.roles)
    return evolve(program, buffers=buffers, roles=roles, told=())


def _with_buffer(node: Node, old: Buffer, new: Buffer) -> Node:
    """A tree whose regions in `old` are in `new`."""

    def region(found: Region) -> Region:
        return evolve(found, buffer=new) if found.buffer == old else found

    def factor(found: Factor) -> Factor:
        return evolve(found, region=region(found.region))

    def operands(found: tuple[MapOperand, ...]) -> tuple[MapOperand, ...]:
        return tuple(evolve(operand, region=region(operand.region)) for operand in found)

    match node:
        case Sequence(children):
            return Sequence(tuple(_with_buffer(child, old, new) for child in children))
        case Loop() | Let() | ForEachItem() | Counter():
            return evolve(node, body=_with_buffer(node.body, old, new))
        case When(conditions, then, otherwise):
            kept = None if otherwise is None else _with_buffer(otherwise, old, new)
            return When(conditions, _with_buffer(then, old, new), kept)
        case Copy():
            return evolve(node, source=region(node.source), destination=region(node.destination))
        case Fill():
            return evolve(node, destination=region(node.destination))
        case Multiply():
            return evolve(node, c=factor(node.c), a=factor(node.a), b=factor(node.b))
        case Map() | Reduce():
            return evolve(node, target=region(node.target), operands=operands(node.operands))
        case HandWritten():
            return evolve(node, reads=tuple(map(region, node.reads)), writes=tuple(map(region, node.writes)))
        case Ordering():
            return node
        case _:
            assert_never(node)
