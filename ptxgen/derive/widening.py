"""Meetings that run exactly when some op of their body runs, so that the scan need not take a loop apart for them."""

from __future__ import annotations

from functools import lru_cache

from attrs import evolve

from polyhedral import Set, var
from ptxgen.derive.discharge import Meeting, Synchronised
from ptxgen.derive.ops import Op


def widened(synchronised: Synchronised) -> Synchronised:
    """The same with each meeting's domain grown to the least time domain of an op beside it that contains it.

    A meeting too many does no harm: all threads run it, and it only orders more.
    """
    return Synchronised(
        synchronised.ops, tuple(_widened(meeting, synchronised.ops) for meeting in synchronised.meetings)
    )


def _widened(meeting: Meeting, ops: tuple[Op, ...]) -> Meeting:
    if not meeting.time.loops:
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


def _together(op: Op, meeting: Meeting) -> bool:
    return op.time.place[:-1] == meeting.time.place[:-1]


@lru_cache(maxsize=1 << 8)
def time_domain(domain: Set, ahead: tuple[int, ...]) -> Set:
    """The steps of the loops at which the instances of `domain` run, `ahead` steps before their own."""
    shift = {loop: var(loop) + early for loop, early in zip(domain.dims, ahead, strict=True) if early}
    return Set(domain.dims, tuple(piece.substitute(shift) for piece in domain.pieces)) if shift else domain
