"""Groups that wait at barriers of their CTA, and when they go on."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import LANES, Group

Array: TypeAlias = NDArray[Any]


def release(batch: Batch) -> list[Group]:
    """The groups whose barriers are complete, placed behind them; the rest goes on waiting.

    A warp has arrived when all its lanes that have not ended wait. A barrier without a number of threads wants every
    warp of the CTA that has not ended, one with a number that many threads, those of `bar.arrive` included.
    """
    freed: list[Group] = []
    for barrier in sorted({group.barrier for group in batch.waiting}):
        complete = _complete(batch, barrier)
        if complete.any():
            freed += _free(batch, barrier, complete)
    return freed


def _waiting_lanes(batch: Batch, barrier: int) -> Array:
    lanes = np.zeros((batch.warps, LANES), np.bool_)
    for group in batch.waiting:
        if group.barrier == barrier:
            lanes[group.warps] |= group.lanes()
    return lanes


def _complete(batch: Batch, barrier: int) -> Array:
    """Which CTAs have completed the barrier."""
    lanes = _waiting_lanes(batch, barrier)
    here = lanes.any(axis=1) & (lanes == batch.present).all(axis=1)
    arrived = here.reshape(batch.ctas, -1).sum(axis=1)
    alive = batch.present.any(axis=1).reshape(batch.ctas, -1).sum(axis=1)
    wanted: Array = LANES * alive
    for group in batch.waiting:
        if group.barrier == barrier and group.threads is not None:
            wanted[group.warps // batch.warps_per_cta] = group.threads
    brought = batch.arrivals[barrier][0] if barrier in batch.arrivals else 0
    complete: Array = (arrived > 0) & (LANES * arrived + brought >= wanted)
    return complete


def _free(batch: Batch, barrier: int, complete: Array) -> list[Group]:
    freed: list[Group] = []
    rest: list[Group] = []
    going = _passing(batch, barrier, complete)
    for group in batch.waiting:
        rows = going[group.warps]
        if group.barrier != barrier or not rows.any():
            rest.append(group)
            continue
        lanes = group.lanes()
        _judge(batch, group, rows)
        gone = group.part(lanes & rows[:, None], group.pc + 1)
        if gone is not None:
            gone.answer = group.answer
        stays = group.part(lanes & ~rows[:, None], group.pc)
        freed += [gone] if gone is not None else []
        if stays is not None:
            stays.barrier, stays.threads, stays.answer = group.barrier, group.threads, group.answer
            stays.missing = batch.present[stays.warps] & ~stays.lanes() if group.missing is not None else None
            rest.append(stays)
    batch.waiting[:] = rest
    known = None
    if barrier in batch.arrivals:
        count, known = batch.arrivals[barrier]
        known = known.copy()
        count[complete] = 0
        batch.arrivals[barrier][1][complete] = 0
        if not count.any():
            del batch.arrivals[barrier]
    _answer(batch, barrier, freed, going)
    warps = np.unique(np.concatenate([group.warps[group.lanes().any(axis=1)] for group in freed]))
    batch.clocks.barrier(warps, known)
    return freed


def _passing(batch: Batch, barrier: int, complete: Array) -> Array:
    """Which warps pass [warps]: all that wait, but no more than a number of threads that the barrier wants. Which of
    them came first is open: those of the lowest number did, in a random order any.
    """
    lanes = _waiting_lanes(batch, barrier)
    passing = lanes.any(axis=1) & np.repeat(complete, batch.warps_per_cta)
    whole = (lanes == batch.present).all(axis=1)
    wanted = {
        cta: group.threads
        for group in batch.waiting if group.barrier == barrier and group.threads is not None
        for cta in np.unique(group.warps // batch.warps_per_cta).tolist() if complete[cta]
    }  # fmt: skip
    for cta, threads in wanted.items():
        brought = int(batch.arrivals[barrier][0][cta]) if barrier in batch.arrivals else 0
        start = cta * batch.warps_per_cta
        warps = (np.flatnonzero(passing[start : start + batch.warps_per_cta]) + start).tolist()
        if batch.engines.chance is not None:
            batch.engines.chance.shuffle(warps)
        warps.sort(key=lambda warp: not whole[warp])
        passing[warps[max(-(-(threads - brought) // LANES), 1) :]] = False
    return passing


def _answer(batch: Batch, barrier: int, freed: list[Group], going: Array) -> None:
    """Give the groups of a reducing barrier what its threads brought, and forget it."""
    ballots = batch.ballots.get(barrier)
    if ballots is None:
        return
    totals = (ballots * going[:, None]).reshape(batch.ctas, -1, 2).sum(axis=1)
    for group in freed:
        if group.answer is not None:
            brought = totals[group.warps // batch.warps_per_cta]
            group.answer(group, brought[:, :1], brought[:, 1:])
            group.answer = None
    ballots[going] = 0


def _judge(batch: Batch, group: Group, rows: Array) -> None:
    """Report warps that pass an aligned barrier without lanes that were elsewhere when they arrived."""
    instruction = batch.journal.instructions[group.pc]
    if group.missing is None or (instruction.form.opcode == "barrier" and "aligned" not in instruction.form.words):
        return
    apart = group.missing.any(axis=1) & rows & group.lanes().any(axis=1)
    if not apart.any():
        return
    row = int(apart.argmax())
    absent = ", ".join(map(str, np.flatnonzero(group.missing[row])))
    lane = int(group.lanes()[row].argmax())
    batch.journal.fault(
        "barrier.divergent", group.pc, lambda: f"is passed by a part of a warp; lanes {absent} did not come here",
        thread=batch.thread(group, row, lane), count=int(apart.sum()),
    )  # fmt: skip


def report_stuck(batch: Batch) -> None:
    """Report barriers that can no longer complete: who waits where, and whom the CTA still lacks."""
    for group in batch.waiting:
        _report_stuck(batch, group)


def _report_stuck(batch: Batch, group: Group) -> None:
    lanes = group.lanes()
    apart = batch.present[group.warps] & ~lanes & lanes.any(axis=1, keepdims=True)
    row, lane = map(int, np.argwhere(group.lanes())[0])
    thread = batch.thread(group, row, lane)
    if apart.any():
        what = "is reached by a part of a warp while the rest waits elsewhere"
        count = int(apart.any(axis=1).sum())
        batch.journal.fault("barrier.divergent", group.pc, lambda: what, thread=thread, count=count)
    wanted = "all warps" if group.threads is None else f"{group.threads} threads"
    what_waits = f"waits for barrier {group.barrier}, which wants {wanted}; {_others(batch, group)}"
    batch.journal.fault("deadlock", group.pc, lambda: what_waits, thread=thread, count=group.census()[1])


def _others(batch: Batch, group: Group) -> str:
    """Where the other threads of the first CTA of the group are: those that wait elsewhere, and those that have ended.

    Nobody else is left who could still arrive.
    """
    cta = int(group.warps[0]) // batch.warps_per_cta
    warps = slice(cta * batch.warps_per_cta, (cta + 1) * batch.warps_per_cta)
    here = group.lanes()[group.warps // batch.warps_per_cta == cta].sum()
    ended = int(batch.existing[warps].sum() - batch.present[warps].sum())
    others = [other for other in batch.waiting if other is not group and cta in other.warps // batch.warps_per_cta]
    places = sorted({(other.pc, other.barrier) for other in others})
    waiting = ", ".join(f"barrier {barrier} (statement {pc})" for pc, barrier in places)
    told = [f"{here} threads of CTA {batch.first + cta} have come"]
    told += [f"others wait at {waiting}"] if places else []
    told += [f"{ended} have ended"] if ended else []
    return ", ".join(told) + "; no other thread of the CTA is left to arrive"
