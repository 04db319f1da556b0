"""Trees in one shape: equal meaning, equal nodes, so that what is printed and read again is the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from attrs import evolve

from ptxgen.tile.leaves import Copy, Fill, HandWritten, Leaf, Map, Multiply, Reduce
from ptxgen.tile.nodes import Counter, ForEachItem, Let, Loop, Node, Sequence, When
from ptxgen.tile.synchronisation import Covered, Ordering, Synchronisation


def flattened(node: Node) -> Node:
    """The tree without sequences inside of sequences: a body is one node, or a sequence of none or several."""
    match node:
        case Sequence(children):
            return sequence(flattened(child) for child in children)
        case Loop(body=body) | Let(body=body) | ForEachItem(body=body) | Counter(body=body):
            return evolve(node, body=flattened(body))
        case When(conditions, then, otherwise):
            return When(conditions, flattened(then), None if otherwise is None else flattened(otherwise))
        case Copy() | Fill() | Multiply() | Map() | Reduce() | HandWritten() | Ordering():
            return node
        case _:
            assert_never(node)


def sequence(nodes: Iterable[Node]) -> Node:
    """Nodes that follow each other as a body: the only one of them, or a sequence."""
    held = tuple(_spread(nodes))
    return held[0] if len(held) == 1 else Sequence(held)


def children_of(body: Node) -> tuple[Node, ...]:
    """The nodes that follow each other in a body, of sequences in it those inside."""
    return tuple(_spread((body,)))


def _spread(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        if isinstance(node, Sequence):
            yield from _spread(node.children)
        else:
            yield node


def ends_of(node: Node) -> Iterator[Leaf | Synchronisation]:
    """Everything in a tree that does something, in the order of its text."""
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


Instances = tuple[str, ...]


def ordered(covers: Iterable[Covered]) -> tuple[Covered, ...]:
    """Requirements in the order in which they are printed: those that differ only in the instances of unrolled ops
    together, by the instances of the source and then of the sink."""
    return tuple(
        evolve(covered, source=with_instance(covered.source, source), sink=with_instance(covered.sink, sink))
        for covered, sources, sinks in products(covers)
        for source in sources
        for sink in sinks
    )


def products(covers: Iterable[Covered]) -> Iterator[tuple[Covered, Instances, Instances]]:
    """Requirements between ops without their instances, each with the instances of sources and sinks: every source
    there is bound to every sink."""
    found: dict[Covered, dict[str, dict[str, None]]] = {}
    for covered in covers:
        (source, first), (sink, second) = split_instance(covered.source), split_instance(covered.sink)
        sinks = found.setdefault(evolve(covered, source=source, sink=sink), {}).setdefault(first, {})
        sinks[second] = None
    for covered, pairs in found.items():
        runs: list[tuple[list[str], Instances]] = []
        for source in sorted(pairs, key=_number):
            sinks_of = tuple(sorted(pairs[source], key=_number))
            if runs and runs[-1][1] == sinks_of:
                runs[-1][0].append(source)
            else:
                runs.append(([source], sinks_of))
        yield from ((covered, tuple(sources), own) for sources, own in runs)


def split_instance(op: str) -> tuple[str, str]:
    """The name of an op and the instance that its text ends with: `A[1]` is `A` and `1`."""
    name, _, instance = op.removesuffix("]").partition("[")
    return name, instance


def with_instance(op: str, instance: str) -> str:
    """The text of an op that has this instance."""
    return f"{op}[{instance}]" if instance else op


def _number(instance: str) -> tuple[tuple[int, ...], str]:
    numbers = instance.split(",")
    return (tuple(map(int, numbers)), "") if all(n.isdecimal() for n in numbers) else ((), instance)
