"""What both sides of a condition do alike, written once: the condition is asked again behind it.

The conditions of a When are uniform and stay as they are, so a side may be left and entered again. Full tiles kept
apart from those at an edge differ in how they reach memory, not in what they calculate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from polyhedral import const
from ptxgen.lower.expressions import choices
from ptxgen.tile import (
    Advance,
    Buffer,
    Copy,
    Fill,
    Map,
    MapOperand,
    Multiply,
    Node,
    Outside,
    Program,
    Reduce,
    Region,
    Space,
    When,
    zero,
)
from ptxgen.tile.trees import children_of, ends_of, sequence


def told_once(program: Program) -> Program:
    """The program whose roles do once what both sides of their outermost condition do alike; equal otherwise.

    Roles with products of warpgroups stay as they are: those run on while others are issued, and an assembler that
    meets them in several blocks makes them wait for each other.
    """
    roles = tuple(evolve(role, body=_told_once(role.body)) for role in program.roles)
    copies = [node for role in roles for node in ends_of(role.body) if isinstance(node, Copy)]
    held = dict.fromkeys(node.destination.buffer for node in copies)
    return evolve(program, roles=roles, buffers=tuple(dict.fromkeys((*program.buffers, *held))))


def _told_once(body: Node) -> Node:
    if not isinstance(body, When) or body.otherwise is None or any(map(_stays, ends_of(body))):
        return body
    first, second = children_of(body.then), children_of(body.otherwise)
    found: list[Node] = []
    here, there = 0, 0
    for one, other, alike in _pairs(first, second):
        found += _apart(body, (*first[here:one], *alike.first), (*second[there:other], *alike.second))
        found.append(alike.node)
        here, there = one + 1, other + 1
    return sequence((*found, *_apart(body, first[here:], second[there:])))


def _stays(node: Node) -> bool:
    return isinstance(node, Advance) or (isinstance(node, Multiply) and node.row.warpgroup)


def _apart(when: When, then: Sequence[Node], otherwise: Sequence[Node]) -> list[Node]:
    if not then and not otherwise:
        return []
    return [When(when.conditions, sequence(then), sequence(otherwise) if otherwise else None)]


@frozen
class Alike:
    """A node that stands for one of each side, and what each side does before it."""

    node: Node
    first: tuple[Copy, ...] = ()
    second: tuple[Copy, ...] = ()


def _pairs(first: Sequence[Node], second: Sequence[Node]) -> Iterator[tuple[int, int, Alike]]:
    """The nodes of two sides that are alike, in the order of both."""
    start = 0
    for one, node in enumerate(first):
        for other in range(start, len(second)):
            alike = _alike(node, second[other])
            if alike is not None:
                yield one, other, alike
                start = other + 1
                break


def _alike(one: Node, other: Node) -> Alike | None:
    if one == other:
        return Alike(one) if any(isinstance(each, (Fill, Multiply, Map, Reduce)) for each in ends_of(one)) else None
    if not (isinstance(one, Map) and isinstance(other, Map) and one.op == other.op):
        return None
    if not (_reads_vectors(one) and _reads_vectors(other)):
        return None
    guarded = tuple(sorted({*one.iteration.guarded, *other.iteration.guarded}))
    (node, first), (same, second) = _held(one, guarded), _held(other, guarded)
    return Alike(node, first, second) if node == same else None


def _reads_vectors(node: Map) -> bool:
    """Whether guards only tell which elements a map reads of arrays that repeat over its points, and always reads."""
    return node.outside is Outside.ANY and all(
        operand.region.buffer.space is not Space.GLOBAL
        or (
            (None not in operand.dims and 0 < len(operand.dims) < len(node.iteration.dims))
            and not choices(node.expression, index)
        )
        for index, operand in enumerate(node.operands)
    )


def _held(node: Map, guarded: tuple[int, ...]) -> tuple[Map, tuple[Copy, ...]]:
    """A map that reads registers alone, with these guards, which then ask nothing, and the copies that fill these
    registers before, under its own."""
    operands, copies = list(node.operands), list[Copy]()
    for index, operand in enumerate(node.operands):
        if operand.region.buffer.space is Space.GLOBAL:
            copy = _copy(node, f"{node.op}.operand{index}", operand)
            operands[index] = MapOperand(copy.destination, operand.dims, 1)
            copies.append(copy)
    iteration = evolve(node.iteration, guarded=guarded)
    return evolve(node, iteration=iteration, operands=tuple(operands)), tuple(copies)


def _copy(node: Map, name: str, operand: MapOperand) -> Copy:
    """The copy of an operand to registers of the threads that read it."""
    source, dims = operand.region, tuple(dim for dim in operand.dims if dim is not None)
    box = node.iteration.distribution.project(dims)
    held = Buffer(name, source.buffer.array, source.buffer.element, Space.REGISTERS, box.shape, 1, box)
    guarded = tuple(place for place, dim in enumerate(dims) if dim in node.iteration.guarded)
    into = Region(held, const(0), tuple(map(const, zero(len(dims)))))
    return Copy(name, source, into, box, operand.vector, guarded, Outside.ZERO, node.line)
