"""Loops of known length whose steps use other registers each: written out, since registers have constant subscripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import evolve

from polyhedral import Affine, const
from ptxgen.tile import (
    Advance,
    Copy,
    Counter,
    Fill,
    ForEachItem,
    HandWritten,
    Let,
    Loop,
    Map,
    Multiply,
    Node,
    Program,
    Quotient,
    Reduce,
    Region,
    Space,
    When,
)
from ptxgen.tile.regions import rewritten
from ptxgen.tile.trees import children_of, ends_of, sequence

Values = Mapping[str, Affine]


def written_out(program: Program) -> Program:
    """The program with every such loop in the steps that it has; equal otherwise."""
    roles = tuple(evolve(role, body=_written_out(role.body)) for role in program.roles)
    return evolve(program, roles=roles)


def _written_out(node: Node) -> Node:
    match node:
        case Loop(body=body):
            steps = _known_steps(node) if _chooses_registers(node) else None
            if steps is None:
                return evolve(node, body=_written_out(body))
            return sequence(_written_out(_substituted(body, {node.variable: const(step)})) for step in steps)
        case Let(body=body) | ForEachItem(body=body) | Counter(body=body):
            return evolve(node, body=_written_out(body))
        case When(conditions, then, otherwise):
            return When(conditions, _written_out(then), None if otherwise is None else _written_out(otherwise))
        case _:
            children = children_of(node)
            return node if children == (node,) else sequence(map(_written_out, children))


def _known_steps(loop: Loop) -> range | None:
    bounds = (*loop.lower, *loop.upper)
    if any(not bound.numerator.is_constant for bound in bounds):
        return None
    first = max(bound.numerator.constant // bound.divisor for bound in loop.lower)
    last = min(bound.numerator.constant // bound.divisor for bound in loop.upper)
    return range(first, last + 1, loop.step)


def _chooses_registers(loop: Loop) -> bool:
    """Whether which registers a step uses depends on the loop's variable."""
    return any(
        loop.variable in (names := {name for origin in region.origin for name in origin.names})
        or (region.buffer.depth > 1 and loop.variable in {*names, *region.rank.names})
        for node in ends_of(loop.body)
        for region in _regions(node)
        if region.buffer.space is Space.REGISTERS
    )


def _regions(node: Node) -> Iterator[Region]:
    match node:
        case Copy():
            yield from (node.source, node.destination)
        case Fill():
            yield node.destination
        case Multiply():
            yield from (factor.region for factor in (node.a, node.b, node.c))
        case Map() | Reduce():
            yield node.target
            yield from (operand.region for operand in node.operands)
        case HandWritten():
            yield from (*node.reads, *node.writes)
        case _:
            pass


def _substituted(node: Node, values: Values) -> Node:
    """The tree with these values of its free variables."""

    def affine(found: Affine) -> Affine:
        return found.substitute(values)

    def quotient(found: Quotient) -> Quotient:
        return Quotient(affine(found.numerator), found.divisor)

    def region(found: Region) -> Region:
        return Region(found.buffer, affine(found.rank), tuple(map(affine, found.origin)))

    match node:
        case Loop(_, lower, upper, _, body):
            bounds = tuple(map(quotient, lower)), tuple(map(quotient, upper))
            return evolve(node, lower=bounds[0], upper=bounds[1], body=_substituted(body, values))
        case Let(_, value, body):
            return evolve(node, value=quotient(value), body=_substituted(body, values))
        case ForEachItem(body=body) | Counter(body=body):
            return evolve(node, body=_substituted(body, values))
        case When(conditions, then, otherwise):
            held = tuple(condition.substitute(values) for condition in conditions)
            return When(held, _substituted(then, values), otherwise and _substituted(otherwise, values))
        case Advance(by=by):
            return evolve(node, by=quotient(by))
        case _:
            children = children_of(node)
            if children != (node,):
                return sequence(_substituted(child, values) for child in children)
            return rewritten(node, region, affine)
