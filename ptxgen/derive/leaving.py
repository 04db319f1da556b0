"""The end of a role: what its threads have under way must be complete by then, and what others read of its block."""

from __future__ import annotations

from isa.mechanisms import REGISTERS, Group, GroupKind
from polyhedral import Set, const
from ptxgen.compute import SourceLine
from ptxgen.order.clusters import is_remote
from ptxgen.order.ops import Op, Time, Touch, TouchKind
from ptxgen.tile import Buffer, Sequence


def with_ends(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    """The ops, and the end of each role that stores in the background, or reads tiles of other blocks: behind all else,
    it touches what was stored, and its own block's tile of what is read."""
    ends: list[Op] = []
    for role in dict.fromkeys(op.role for op in ops):
        own = [op for op in ops if op.role == role]
        touched = tuple((op.line, touch) for op in own for touch in op.touches if _must_end(op, touch))
        if touched:
            place = 1 + max(op.time.place[0] for op in own)
            ends.append(_end(role, place, tuple(touch for _, touch in touched), touched[-1][0]))
    return (*ops, *ends)


def _must_end(found: Op, touch: Touch) -> bool:
    """Whether a touch goes on when its op is passed, or is of other blocks' memory, which they take along."""
    if touch.kind is TouchKind.WRITE:
        return _in_background(found)
    return is_remote(touch.masks)


def _in_background(found: Op) -> bool:
    completes = found.mechanism.completes
    return isinstance(completes, Group) and completes.kind is GroupKind.BULK


def _end(role: str, place: int, touched: tuple[Touch, ...], line: SourceLine) -> Op:
    buffers: dict[str, Buffer] = {touch.buffer.name: touch.buffer for touch in touched}
    touches = tuple(Touch(buffer, TouchKind.WRITE, const(0)) for buffer in buffers.values())
    time = Time((), (), (place,))
    return Op("leave", role, (), Set.of(()), time, REGISTERS, touches, Sequence(()), line, leaves=True)
