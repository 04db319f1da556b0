"""Rings that transactions fill: their tiles are numbered through all loops around them.

A ring that one loop uses, once, is counted by the steps of that loop. Where its loop is run again and again inside
others, or several loops use it one after the other, the tiles of all rounds before are a counter that each role keeps:
no affine expression gives it.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from isa.mechanisms import Transaction
from polyhedral import Affine, var
from ptxgen.order.atoms import Advance
from ptxgen.order.ops import Op, Touch, TouchKind
from ptxgen.order.synchronisation import Synchronised
from ptxgen.tile import Counter, Node, Region
from ptxgen.tile.regions import rewritten

Loops = tuple[str, ...]


def counted(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    """The ops, with tiles of rings that go on from round to round numbered through all of them."""
    rings = {
        touch.buffer.name
        for op in ops
        if isinstance(op.mechanism.completes, Transaction)
        for touch in op.touches
        if touch.kind is TouchKind.WRITE
    }
    rounds: dict[str, dict[Loops, None]] = {name: {} for name in rings}
    for writes in (True, False):
        for op in ops:
            for touch in (t for t in op.touches if t.buffer.name in rings and (t.kind is TouchKind.WRITE) is writes):
                own = rounds[touch.buffer.name]
                own[_stays_in(op.time.loops, own)] = None
    return tuple(_numbered(op, {name: tuple(found) for name, found in rounds.items()}) for op in ops)


def _stays_in(loops: Loops, filled: Mapping[Loops, None]) -> Loops:
    """The loops in which a tile that is used in `loops` is filled, where those are around them: inside it stays."""
    return next((outer for outer in filled if loops[: len(outer)] == outer), loops)


def _numbered(op: Op, rounds: Mapping[str, tuple[Loops, ...]]) -> Op:
    touches = tuple(_behind(touch, op, rounds.get(touch.buffer.name, ())) for touch in op.touches)
    moved = {t.buffer.name: n.rank - t.rank for t, n in zip(op.touches, touches, strict=True) if n != t}
    return evolve(op, touches=touches, node=renumbered(op.node, moved)) if moved else op


def _behind(touch: Touch, op: Op, rounds: tuple[Loops, ...]) -> Touch:
    """A use of a ring behind the tiles of all rounds before: of which each has one where the loop is not its own, as
    that over work items."""
    innermost = tuple(dict.fromkeys(loops[-1] for loops in rounds if loops))
    if not innermost:
        return touch
    if len(rounds) == 1 and len(rounds[0]) == 1:
        own = rounds[0][0]
        return touch if own in touch.rank.names else evolve(touch, rank=touch.rank + var(own))
    counter = f"{'+'.join(innermost)}.past"
    return evolve(touch, rank=touch.rank + var(counter), counter=counter)


def renumbered(node: Node, moved: Mapping[str, Affine]) -> Node:
    """A leaf whose tiles of these buffers have numbers that are so much larger."""

    def region(found: Region) -> Region:
        return evolve(found, rank=found.rank + moved[found.buffer.name]) if found.buffer.name in moved else found

    return rewritten(node, region, lambda affine: affine)


def counting(tree: Node, synchronised: Synchronised, role: str) -> Node:
    """The tree of a role inside the counters that it moves on."""
    for counter in {a.atom.counter: None for a in synchronised.atoms if a.role == role and isinstance(a.atom, Advance)}:
        tree = Counter(counter, tree)
    return tree
