"""Branches, ends, barriers of a CTA, fences."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxgen.ir import Int, operand_text
from ptxgen.simulate.asynchronous.ends import ended
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.signals import Outcome, Parted, Signal, Step
from ptxgen.simulate.site import Array, Reader, Site
from ptxgen.simulate.steps import assign


def bra(site: Site, target: int) -> Step:
    """Go to `target`, an instruction's index, where the guard holds."""
    guard = site.guard()
    if guard is None:
        return lambda group, batch: target
    after = site.index + 1

    def step(group: Group, batch: Batch) -> Outcome:
        truth = guard(group.registers)
        if truth.size == 1:
            return target if truth.flat[0] else after
        if group.alive is None:
            if truth.all():
                return target
            if not truth.any():
                return after
            taken = np.broadcast_to(truth, group.shape)
            stays = ~taken
        else:
            taken, stays = truth & group.alive, ~truth & group.alive
        if not taken.any():
            return after
        if not stays.any():
            return target
        return parted(group, ((stays, after), (taken, target)))

    return step


def brx(site: Site, targets: tuple[int, ...]) -> Step:
    """Go where the list says at the index of each lane, under the guard; an index beyond the list is reported."""
    guard, after, index = site.guard(), site.index + 1, site.read(0, np.uint32)

    def step(group: Group, batch: Batch) -> Outcome:
        lanes = group.lanes()
        going = lanes if guard is None else lanes & guard(group.registers)
        place = np.broadcast_to(index(group.registers), group.shape)
        lost = going & (place >= len(targets))
        if lost.any():
            row, lane = map(int, np.argwhere(lost)[0])
            what = f"has index {int(place[row, lane])} for a list of {len(targets)} labels; such lanes end"
            thread = batch.thread(group, row, lane)
            batch.journal.fault("branch.index", site.index, lambda: what, thread=thread, count=int(lost.sum()))
            batch.present[group.warps] &= ~lost
        ways = [(lanes & ~going, after)]
        ways += [(going & (place == each), targets[each]) for each in np.unique(place[going & ~lost]).tolist()]
        made = parted(group, tuple(ways))
        return made if made.groups else Signal.END

    return step


def parted(group: Group, ways: tuple[tuple[Array, int], ...], *, counted: bool = True) -> Parted:
    """The group's lanes sent different ways."""
    groups = tuple(each for each in (group.part(lanes, pc) for lanes, pc in ways) if each is not None)
    for each in groups:
        each.alone = not counted
    return Parted(groups, counted)


def end(site: Site) -> Step:
    """The lanes where the guard holds are done; `trap` is reported."""
    guard = site.guard()
    trap = site.opcode == "trap"
    after = site.index + 1

    def step(group: Group, batch: Batch) -> Outcome:
        ending = group.lanes() if guard is None else group.active(guard(group.registers))
        lanes = group.lanes() if ending is None else ending
        if not lanes.any():
            return None
        if trap:
            row, lane = map(int, np.argwhere(lanes)[0])
            batch.journal.fault("trap", site.index, lambda: "was reached", thread=batch.thread(group, row, lane))
        return finish(group, batch, lanes, after)

    return step


def finish(group: Group, batch: Batch, lanes: Array, after: int) -> Outcome:
    """End these lanes of the group."""
    batch.present[group.warps] &= ~lanes
    if batch.engines.columns.count or batch.cluster > 1:
        ended(batch, group, lanes)
    left = group.lanes() & ~lanes
    if not left.any():
        return Signal.END
    rest = group.part(left, after)
    return Signal.END if rest is None else Parted((rest,))


def bar(site: Site) -> Step:
    """`bar.sync`, `bar.arrive` and `bar.red`, also spelled `barrier`; the lanes that a guard leaves out go on."""
    if site.has("red"):
        return _guarded(site, _reduce(site))
    identity = site.read(0, np.uint32)
    threads = site.read(1, np.uint32) if len(site.slots) > 1 else None
    made = _arrive(site, identity, threads) if site.has("arrive") else _sync(site, identity, threads)
    return _guarded(site, made)


def _guarded(site: Site, then: Step) -> Step:
    guard, after = site.guard(), site.index + 1
    if guard is None:
        return then

    def step(group: Group, batch: Batch) -> Outcome:
        lanes = group.lanes()
        truth = np.broadcast_to(guard(group.registers), group.shape) & lanes
        if not truth.any():
            return None
        if not (lanes & ~truth).any():
            return then(group, batch)
        return parted(group, ((truth, site.index), (lanes & ~truth, after)), counted=False)

    return step


def _sync(site: Site, identity: Reader, threads: Reader | None) -> Step:
    fixed = isinstance(site.operands[0], Int) and (threads is None or isinstance(site.operands[1], Int))

    def step(group: Group, batch: Batch) -> Outcome:
        if not fixed and (apart := _by_barrier(site, group, identity, threads)) is not None:
            return apart
        group.barrier = int(_one(identity, group))
        group.threads = None if threads is None else int(_one(threads, group))
        if group.threads is None and not batch.waiting and not batch.arrivals and batch.all_here(group):
            batch.clocks.barrier(group.warps)
            return None
        missing = batch.present[group.warps] & ~group.lanes()
        group.missing = missing if missing.any() else None
        return Signal.WAIT

    return step


def _reduce(site: Site) -> Step:
    """The number of threads with a true predicate, or whether all or any have one, over all that meet."""
    identity = site.read(1, np.uint32)
    threads = site.read(2, np.uint32) if len(site.slots) > 3 else None
    truth = site.read(len(site.slots) - 1, np.bool_)
    write = assign(site, site.destinations()[0])
    operation = str(site.instruction.form.words["op"])

    def answer(group: Group, no: Array, yes: Array) -> None:
        found = yes.astype(np.uint32) if operation == "popc" else no == 0 if operation == "and" else yes > 0
        write(group.registers, found, None)

    def step(group: Group, batch: Batch) -> Outcome:
        if (apart := _by_barrier(site, group, identity, threads)) is not None:
            return apart
        group.barrier = int(_one(identity, group))
        group.threads = None if threads is None else int(_one(threads, group))
        group.answer = answer
        lanes, true = group.lanes(), np.broadcast_to(truth(group.registers), group.shape)
        ballots = batch.ballots.setdefault(group.barrier, np.zeros((batch.warps, 2), np.int64))
        brought = np.stack([(lanes & ~true).sum(axis=1), (lanes & true).sum(axis=1)], axis=1)
        ballots[group.warps] += brought
        missing = batch.present[group.warps] & ~lanes
        group.missing = missing if missing.any() else None
        return Signal.WAIT

    return step


def clock(site: Site) -> Step:
    """A clock as a counter of what has run: every reading is later than the one before."""
    write = assign(site, site.destinations()[0])
    guard = site.guard()
    name = operand_text(site.operands[1])
    shift = 32 if name.endswith("_hi") else 0

    def step(group: Group, batch: Batch) -> None:
        batch.ticks += 1
        value = np.full((1, 1), (batch.journal.scheduled + batch.ticks) >> shift, np.uint64)
        write(group.registers, value, guard(group.registers) if guard is not None else None)

    return step


def _one(read: Reader, group: Group) -> Any:
    value = np.broadcast_to(read(group.registers), group.shape)
    return value[group.lanes()][0]


def _by_barrier(site: Site, group: Group, identity: Reader, threads: Reader | None) -> Outcome:
    """Where the live lanes name different barriers, the group parted by what they name."""
    names = np.broadcast_to(identity(group.registers), group.shape).astype(np.int64)
    if threads is not None:
        names = names * 4096 + threads(group.registers)
    lanes = group.lanes()
    different = np.unique(names[lanes])
    if len(different) == 1:
        return None
    return parted(group, tuple((lanes & (names == name), site.index) for name in different), counted=False)


def _arrive(site: Site, identity: Reader, threads: Reader | None) -> Step:
    def step(group: Group, batch: Batch) -> None:
        names = np.broadcast_to(identity(group.registers), group.shape)[:, 0]
        census = group.lanes().any(axis=1)
        for name in np.unique(names[census]).tolist():
            warps = group.warps[census & (names == name)]
            count, known = batch.arrivals.setdefault(
                name, (np.zeros(batch.ctas, np.int64), np.zeros((batch.ctas, batch.clocks.row), np.int64))
            )
            rows = batch.clocks.release(warps)
            np.add.at(count, warps // batch.warps_per_cta, 32)
            np.maximum.at(known, warps // batch.warps_per_cta, rows)

    return step


def nothing(site: Site) -> Step:
    """Instructions that change nothing that the simulator models: fences, prefetches, sleep."""
    return lambda group, batch: None
