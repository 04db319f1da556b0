"""Which barriers an instruction uses, and whether it may."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import evolve, frozen

from ptxgen.simulate.accesses import Request, located, request_of
from ptxgen.simulate.asynchronous.mbarriers import MBarrier
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.site import Array, Site

BARRIER_BYTES = 8


@frozen(eq=False)
class Users:
    """The lanes (`rows` of the group and `lanes`) of one instruction that use one barrier."""

    barrier: MBarrier
    rows: Array
    lanes: Array


def place_of_slot(site: Site, *names: str) -> int:
    """The place of the operand whose slot has one of the names; -1 without one."""
    return next((place for place, slot in enumerate(site.slots) if slot.name in names), -1)


def barrier_request(site: Site, operand: int) -> Request:
    """The request of an instruction for the barrier whose address stands at `operand`."""
    return evolve(request_of(site, operand, BARRIER_BYTES), strong=True)


def by_place(group: Group, index: Array, mask: Array | None) -> Iterator[tuple[int, Array, Array]]:
    """The places in the arena that the lanes of a request go to, each with its rows and lanes."""
    rows, lanes = np.nonzero(np.ones(group.shape, np.bool_) if mask is None else mask)
    places = index[rows, lanes]
    for place in np.unique(places).tolist():
        here = places == place
        yield place, rows[here], lanes[here]


def users(request: Request, group: Group, batch: Batch) -> list[Users]:
    """The barriers that an instruction uses; places that hold none, and barriers whose initialisation nothing orders
    before the use, are reported.
    """
    target = located(request, group, batch)
    found = []
    for place, rows, lanes in by_place(group, target.index, target.mask):
        barrier = batch.engines.mbarriers.get(place)
        thread = batch.thread(group, int(rows[0]), int(lanes[0]))
        address = int(target.addresses[rows[0], lanes[0]])
        if barrier is None:
            _report_missing(batch, request.index, thread, address, len(rows))
            continue
        check_initialised(batch, barrier, group.warps[rows], request.index, thread)
        barrier.used[batch.clocks.column[group.warps[rows]]] = batch.clocks.own[group.warps[rows]]
        found.append(Users(barrier, rows, lanes))
    return found


def _report_missing(batch: Batch, site: int, thread: int, address: int, count: int) -> None:
    what = f"uses {address:#x}, which holds no mbarrier: nothing has initialised it"
    batch.journal.fault("mbarrier.missing", site, lambda: what, thread=thread, address=address, count=count)


def check_initialised(batch: Batch, barrier: MBarrier, warps: Array, site: int, thread: int) -> None:
    """Report a use of a barrier by warps that nothing orders behind its initialisation."""
    clocks = batch.clocks
    column = clocks.column[barrier.maker >> 5]
    known = np.maximum(clocks.known[warps, column], clocks.initialised[warps, column])
    if ((known < barrier.epoch) & (warps != barrier.maker >> 5)).any():
        who = batch.told(int(batch.participants(np.array([barrier.maker >> 5]), np.array([barrier.maker & 31]))[0]))
        what = f"uses {barrier.told()}, which {who} initialised, with nothing that orders the two"
        batch.journal.fault("mbarrier.unordered", site, lambda: what, thread=thread, related=barrier.site)


def kept(request: Request, group: Group) -> Array | None:
    return None if request.guard is None else request.guard(group.registers)
