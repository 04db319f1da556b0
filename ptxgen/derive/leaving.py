"""The end of a role: what its threads have under way must be complete by then."""

from __future__ import annotations

from isa.mechanisms import REGISTERS, Group, GroupKind
from polyhedral import Set, const
from ptxgen.order.ops import Op, Time, Touch, TouchKind
from ptxgen.tile import Buffer, Sequence


def with_ends(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    """The ops, and the end of each role that stores in the background: behind all else, it touches what was stored."""
    ends: list[Op] = []
    for role in dict.fromkeys(op.role for op in ops):
        own = [op for op in ops if op.role == role]
        stores = [op for op in own if _in_background(op)]
        if stores:
            ends.append(_end(role, 1 + max(op.time.place[0] for op in own), stores))
    return (*ops, *ends)


def _in_background(found: Op) -> bool:
    completes = found.mechanism.completes
    return isinstance(completes, Group) and completes.kind is GroupKind.BULK


def _end(role: str, place: int, stores: list[Op]) -> Op:
    written: dict[str, Buffer] = {
        touch.buffer.name: touch.buffer for store in stores for touch in store.touches if touch.kind is TouchKind.WRITE
    }
    touches = tuple(Touch(buffer, TouchKind.WRITE, const(0)) for buffer in written.values())
    time = Time((), (), (place,))
    return Op("leave", role, (), Set.of(()), time, REGISTERS, touches, Sequence(()), stores[-1].line, leaves=True)
