"""Meetings, and the waits and fences before them, that run exactly when some op of their body runs, so that the scan
need not take a loop apart for them."""

from __future__ import annotations

from attrs import evolve

from ptxgen.order.atoms import Fence, FenceKind, Join, Retire
from ptxgen.order.ops import Op, time_domain
from ptxgen.order.synchronisation import Synchronisation, Synchronised


def widened(synchronised: Synchronised) -> Synchronised:
    """The same with each meeting's domain grown to the least time domain of an op beside it that contains it.

    A meeting too many does no harm: all threads run it, and it only orders more.
    """
    return evolve(synchronised, atoms=tuple(_widened(atom, synchronised.ops) for atom in synchronised.atoms))


def _widened(meeting: Synchronisation, ops: tuple[Op, ...]) -> Synchronisation:
    if not meeting.time.loops or not _may_widen(meeting) or any(meeting.time.ahead):
        return meeting
    beside = [op for op in ops if op.time.loops == meeting.time.loops and _together(op, meeting)]
    times = dict.fromkeys(time_domain(op.domain, op.time.ahead) for op in beside)
    if meeting.domain in times:
        return meeting
    wider = [time for time in times if len(time.pieces) == 1 and meeting.domain.is_subset(time)]
    if not wider:
        return meeting
    least = next((one for one in wider if all(one.is_subset(other) for other in wider)), wider[0])
    return evolve(meeting, domain=least)


def _may_widen(atom: Synchronisation) -> bool:
    match atom.atom:
        case Join() | Retire() | Fence(kind=FenceKind.PROXY):
            return True
        case _:
            return False


def _together(op: Op, meeting: Synchronisation) -> bool:
    return op.role == meeting.role and op.time.place[:-1] == meeting.time.place[:-1]
