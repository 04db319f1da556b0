"""Rings of nested loops: what they mean for the bodies around, where roles wait for each other in other loops too."""

from __future__ import annotations

from collections.abc import Iterator

from isa.mechanisms import Transaction
from ptxgen.order.atoms import Edge, Passage, Placed
from ptxgen.order.ops import Op, TouchKind
from ptxgen.order.synchronisation import Synchronised

Loops = tuple[tuple[int, str], ...]
Key = tuple[str, Loops]
BEFORE, BEHIND = -2, 9


def together(synchronised: Synchronised) -> Iterator[tuple[Key, Key]]:
    """Bodies of two roles around loops in which one fills a ring that the other uses."""
    for filler, user in _pairs(synchronised):
        common = min(len(filler.time.loops), len(user.time.loops))
        for depth in range(common):
            if filler.time.loops[:depth] == user.time.loops[:depth]:
                yield (filler.role, _path(filler, depth)), (user.role, _path(user, depth))


def passages(synchronised: Synchronised, key: Key) -> dict[tuple[int, int], Placed]:
    """The beginnings and ends of the nested loops of a body in which rings are filled or used, by place."""
    role, path = key
    depth = len(path)
    found: dict[tuple[int, int], Placed] = {}
    for pair in _pairs(synchronised):
        for op, fills in zip(pair, (True, False), strict=True):
            if op.role == role and len(op.time.loops) > depth and _path(op, depth) == path:
                ahead = op.time.ahead[depth - 1] if depth else 0
                for edge, order in ((Edge.BEGIN, BEFORE - fills), (Edge.END, BEHIND + fills)):
                    passage = Passage(op.time.loops[depth], edge, fills)
                    found[op.time.place[depth], order] = Placed(passage, ahead)
    return found


def _pairs(synchronised: Synchronised) -> Iterator[tuple[Op, Op]]:
    """Who fills a tile by a transaction, and who in another role reads it in the same loops."""
    fillers: dict[str, list[Op]] = {}
    for op in synchronised.ops:
        for touch in op.touches:
            if touch.kind is TouchKind.WRITE and isinstance(op.mechanism.completes, Transaction):
                fillers.setdefault(touch.buffer.name, []).append(op)
    for op in synchronised.ops:
        for touch in op.touches:
            for filler in fillers.get(touch.buffer.name, ()):
                if filler.role != op.role and filler.time.loops == op.time.loops:
                    yield filler, op


def _path(op: Op, depth: int) -> Loops:
    return tuple(zip(op.time.place, op.time.loops, strict=False))[:depth]
