"""The order in which a tree is executed, and what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from polyhedral import Constraint
from ptxgen.tile.machine.state import Leaf, evaluate
from ptxgen.tile.nodes import (
    Copy,
    Fill,
    Let,
    Loop,
    Map,
    Meet,
    Multiply,
    Node,
    Ordering,
    Reduce,
    Sequence,
    Synchronisation,
    When,
)

End = Leaf | Synchronisation


def walk_tree(node: Node, variables: dict[str, int]) -> Iterator[tuple[End, dict[str, int]]]:
    """The leaves, meetings, commits and waits of a tree in the order of its execution, each with its variables."""
    match node:
        case Sequence(children):
            for child in children:
                yield from walk_tree(child, variables)
        case Loop(variable, lower, upper, step, body):
            first = max(evaluate(bound, variables) for bound in lower)
            last = min(evaluate(bound, variables) for bound in upper)
            for value in range(first, last + 1, step):
                yield from walk_tree(body, {**variables, variable: value})
        case Let(variable, value, body):
            yield from walk_tree(body, {**variables, variable: evaluate(value, variables)})
        case When(conditions, then, otherwise):
            chosen = then if all(holds(condition, variables) for condition in conditions) else otherwise
            if chosen is not None:
                yield from walk_tree(chosen, variables)
        case Copy() | Fill() | Multiply() | Map() | Reduce() | Ordering():
            yield node, variables
        case _:
            assert_never(node)


def holds(condition: Constraint, variables: Mapping[str, int]) -> bool:
    """Whether a condition holds here."""
    value = evaluate(condition.affine, variables)
    return value == 0 if condition.equality else value >= 0


def leaves_of(node: Node) -> Iterator[Leaf]:
    """Every leaf of a tree: what moves or computes."""
    return (inner for inner in ends_of(node) if not isinstance(inner, Synchronisation))


def meets_of(node: Node) -> Iterator[Meet]:
    """Every meeting of a tree."""
    return (inner for inner in ends_of(node) if isinstance(inner, Meet))


def ends_of(node: Node) -> Iterator[End]:
    """Every leaf, meeting, commit and wait of a tree, in order."""
    match node:
        case Sequence(children):
            for child in children:
                yield from ends_of(child)
        case Loop(body=body) | Let(body=body):
            yield from ends_of(body)
        case When(_, then, otherwise):
            yield from ends_of(then)
            if otherwise is not None:
                yield from ends_of(otherwise)
        case Copy() | Fill() | Multiply() | Map() | Reduce() | Ordering():
            yield node
        case _:
            assert_never(node)
