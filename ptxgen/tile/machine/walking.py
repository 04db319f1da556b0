"""The order in which a tree is executed, and what it holds."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Items
from typing import assert_never

from polyhedral import Constraint
from ptxgen.tile.leaves import Copy, Fill, HandWritten, Leaf, Map, Multiply, Reduce
from ptxgen.tile.machine.faults import MachineFault
from ptxgen.tile.machine.state import evaluate
from ptxgen.tile.nodes import Counter, ForEachItem, Let, Loop, Node, Sequence, When
from ptxgen.tile.synchronisation import Advance, Meet, Ordering, Synchronisation

End = Leaf | Synchronisation


def walk_tree(
    node: Node, variables: Mapping[str, int], items: Items[Mapping[str, int]] = ()
) -> Iterator[tuple[End, dict[str, int]]]:
    """The leaves, meetings, commits and waits of a tree in the order of its execution, each with its variables.
    `items` are the block's work list: the grid's variables of each item."""
    yield from _walk(node, ChainMap(dict(variables)), items)


def _walk(
    node: Node, known: ChainMap[str, int], items: Items[Mapping[str, int]]
) -> Iterator[tuple[End, dict[str, int]]]:
    match node:
        case Sequence(children):
            for child in children:
                yield from _walk(child, known, items)
        case Loop(variable, lower, upper, step, body):
            first = max(evaluate(bound, known) for bound in lower)
            last = min(evaluate(bound, known) for bound in upper)
            for value in range(first, last + 1, step):
                yield from _walk(body, known.new_child({variable: value}), items)
        case Let(variable, value, body):
            yield from _walk(body, known.new_child({variable: evaluate(value, known)}), items)
        case When(conditions, then, otherwise):
            chosen = then if all(holds(condition, known) for condition in conditions) else otherwise
            if chosen is not None:
                yield from _walk(chosen, known, items)
        case ForEachItem(variable, body, first, step):
            for number, item in list(enumerate(items))[first::step]:
                yield from _walk(body, known.new_child({**item, variable: number}), items)
        case Counter(variable, body):
            yield from _walk(body, known.new_child({variable: 0}), items)
        case Advance(variable, by):
            owner = next((own for own in known.maps if variable in own), None)
            if owner is None:
                raise MachineFault("tile.unbound", f"{variable} is advanced, which nothing counts here", None)
            owner[variable] += evaluate(by, known)
            yield node, dict(known)
        case Copy() | Fill() | Multiply() | Map() | Reduce() | HandWritten() | Ordering():
            yield node, dict(known)
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
        case Loop(body=body) | Let(body=body) | ForEachItem(body=body) | Counter(body=body):
            yield from ends_of(body)
        case When(_, then, otherwise):
            yield from ends_of(then)
            if otherwise is not None:
                yield from ends_of(otherwise)
        case Copy() | Fill() | Multiply() | Map() | Reduce() | HandWritten() | Ordering():
            yield node
        case _:
            assert_never(node)
