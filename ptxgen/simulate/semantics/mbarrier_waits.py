"""`mbarrier.test_wait` and `try_wait`."""

from __future__ import annotations

from enum import Enum

import numpy as np

from ptxgen.simulate.asynchronous.mbarriers import phase_of
from ptxgen.simulate.asynchronous.waiting import PhaseWait
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.semantics.control import parted
from ptxgen.simulate.semantics.mbarrier_users import barrier_request, kept, place_of_slot, users
from ptxgen.simulate.signals import Outcome, Signal, Step
from ptxgen.simulate.site import Array, Site
from ptxgen.simulate.steps import assign


def wait(site: Site) -> Step:
    """`test_wait` and `try_wait`: whether a phase is complete. The group is parked until it is, or until nothing else
    can go on: then the answer is no, which both instructions may give whenever they like.
    """
    if any(slot.name in ("reported", "report") for slot in site.slots):
        raise site.unsupported("reports of validity")
    request = barrier_request(site, place_of_slot(site, "a", "address"))
    parity, relaxed = site.has("parity"), site.has("relaxed")
    near = site.instruction.form.words.get("scope") == "cta"
    wanted = site.read(place_of_slot(site, "parity") if parity else place_of_slot(site, "state"), np.uint64)
    write = assign(site, site.destinations()[0])
    if site.has("phase_type::conditional"):
        raise site.unsupported("conditional phases")

    def step(group: Group, batch: Batch) -> Outcome:
        asked = np.broadcast_to(wanted(group.registers), group.shape)
        phases = (asked & np.uint64(1) if parity else phase_of(asked)).astype(np.int64)
        found = users(request, group, batch)
        done, waits, early = np.ones(group.shape, np.bool_), list[PhaseWait](), False
        for each in found:
            for phase in np.unique(phases[each.rows, each.lanes]).tolist():
                waiting = PhaseWait(each.barrier, phase, parity)
                here = phases[each.rows, each.lanes] == phase
                rows = each.rows[here]
                answer = _answer(group, batch, waiting, group.warps[np.unique(rows)])
                done[rows, each.lanes[here]] = answer is Answer.YES
                early |= answer is Answer.NOT_YET
                waits += [waiting] if answer is Answer.WAIT else []
        chance = batch.engines.chance
        if waits and not early and not group.forced and (chance is None or chance.random() < 0.875):
            return _park(group, site.index, done, waits)
        group.forced = False
        for each in found:
            heard = np.unique(each.rows[done[each.rows, each.lanes]])
            released = each.barrier.released if near else each.barrier.everything
            batch.clocks.acquire(group.warps[heard], released, relaxed=relaxed)
        write(group.registers, done, kept(request, group))
        return None

    return step


class Answer(Enum):
    """What a wait is told: the phase is complete, it is not to the warp's knowledge, or wait."""

    YES = "yes"
    NOT_YET = "not yet"
    WAIT = "wait"


def _answer(group: Group, batch: Batch, waiting: PhaseWait, warps: Array) -> Answer:
    """The first time that a warp asks for a phase, the answer is no unless it knows already what the phase's arrivals
    have released: so a program that does not ask again goes wrong in every order.
    """
    barrier, asked, clocks = waiting.barrier, batch.engines.asked, batch.clocks
    over = waiting.over()
    if over:
        known = clocks.state[warps] >= barrier.everything
        known[np.arange(len(warps)), clocks.column[warps]] = True
        if known[:, : clocks.width].all():
            return Answer.YES
    keys = {(group.pc, warp, barrier.place, barrier.phase - over) for warp in warps.tolist()}
    if not keys <= asked:
        asked |= keys
        return Answer.NOT_YET
    return Answer.YES if over else Answer.WAIT


def _park(group: Group, index: int, done: Array, waits: list[PhaseWait]) -> Outcome:
    lanes = group.lanes()
    if (done & lanes).any() and (lanes & ~done).any():
        return parted(group, ((lanes & done, index), (lanes & ~done, index)), counted=False)
    group.waits = tuple(waits)
    return Signal.PARK
