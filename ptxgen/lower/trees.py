"""Walking a tree of the tile program."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.tile import Counter, ForEachItem, Let, Loop, Node, Sequence, When


def ends_of(node: Node) -> Iterator[Node]:
    """What stands at the ends of a tree, in order: all that is no loop, condition, binding or sequence."""
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
        case _:
            yield node
