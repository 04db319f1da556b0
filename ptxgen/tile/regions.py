"""A leaf of the tile program with its regions and expressions exchanged."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from polyhedral import Affine
from ptxgen.tile.buffers import Region
from ptxgen.tile.leaves import Copy, Factor, Fill, HandWritten, Map, MapOperand, Multiply, Reduce
from ptxgen.tile.nodes import Node
from ptxgen.tile.synchronisation import Arrive, Expect, Wait


def rewritten(node: Node, region: Callable[[Region], Region], affine: Callable[[Affine], Affine]) -> Node:
    """The leaf with `region` of each of its regions, and `affine` of its other expressions: where an iteration starts,
    which tile of a ring is waited for."""

    def factor(found: Factor) -> Factor:
        return evolve(found, region=region(found.region))

    def operands(found: tuple[MapOperand, ...]) -> tuple[MapOperand, ...]:
        return tuple(evolve(o, region=region(o.region)) for o in found)

    match node:
        case Copy():
            return evolve(node, source=region(node.source), destination=region(node.destination))
        case Fill():
            return evolve(node, destination=region(node.destination))
        case Multiply():
            return evolve(node, c=factor(node.c), a=factor(node.a), b=factor(node.b))
        case Map() | Reduce():
            iteration = evolve(node.iteration, origin=tuple(map(affine, node.iteration.origin)))
            return evolve(node, iteration=iteration, target=region(node.target), operands=operands(node.operands))
        case HandWritten():
            return evolve(node, reads=tuple(map(region, node.reads)), writes=tuple(map(region, node.writes)))
        case Wait() | Arrive() | Expect():
            return evolve(node, rank=affine(node.rank))
        case _:
            return node
