"""Products in flight over the end of a loop in which something else uses their sums: ptxas then waits for each of them
(C7514)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from isa.mechanisms import GroupKind
from ptxgen.errors import Finding, Severity
from ptxgen.prove.trees.accesses import accesses
from ptxgen.prove.trees.execution import is_product
from ptxgen.tile import (
    Counter,
    ForEachItem,
    Leaf,
    Let,
    Loop,
    Multiply,
    Node,
    Ordering,
    Program,
    Retire,
    Sequence,
    Synchronisation,
    When,
)


@frozen(eq=False)
class _Standing:
    """A leaf or synchronisation, in the order of the text, with the loops around it."""

    node: Leaf | Synchronisation
    loops: tuple[int, ...]


def window_faults(program: Program) -> Iterator[Finding]:
    """Products that no wait in the loop's own body closes, where the loop holds another user of their sums."""
    for role in program.roles:
        standing = list(_standing(role.body, ()))
        for place, own in enumerate(standing):
            if isinstance(own.node, Multiply) and is_product(own.node):
                yield from _escaping(standing, place, own.node)


def _escaping(standing: list[_Standing], place: int, product: Multiply) -> Iterator[Finding]:
    loops = standing[place].loops
    for depth in range(len(loops), 0, -1):
        inside = [each for each in standing if each.loops[:depth] == loops[:depth]]
        behind = [each.node for each in standing[place:] if each.loops == loops[:depth]]
        if any(isinstance(n, Retire) and n.kind is GroupKind.WGMMA and n.pending == 0 for n in behind):
            return
        for other in (each.node for each in inside if not isinstance(each.node, Ordering)):
            if not is_product(other) and product.c.region.buffer.name in {
                a.region.buffer.name for a in accesses(other)
            }:
                text = f"{product.op} may be in flight over the end of a loop, where {other.op} uses its sums"
                related = ((other.op, other.line),)
                yield Finding("synchronisation.window", Severity.ERROR, text, product.line, related=related)
                return


def _standing(node: Node, loops: tuple[int, ...]) -> Iterator[_Standing]:
    match node:
        case Sequence(children):
            for child in children:
                yield from _standing(child, loops)
        case Loop(body=body) | ForEachItem(body=body):
            yield from _standing(body, (*loops, id(node)))
        case Let(body=body) | Counter(body=body):
            yield from _standing(body, loops)
        case When(_, then, otherwise):
            yield from _standing(then, loops)
            if otherwise is not None:
                yield from _standing(otherwise, loops)
        case _:
            yield _Standing(node, loops)
