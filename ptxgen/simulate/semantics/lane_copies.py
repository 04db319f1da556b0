"""`cp.async`: copies from global to shared memory that a thread waits for, done as late as its waits allow."""

from __future__ import annotations

import numpy as np
from attrs import evolve, frozen

from ptxgen.simulate.accesses import Target, request_of, targets, watch, watch_delivery
from ptxgen.simulate.asynchronous.mbarriers import MBarrier
from ptxgen.simulate.asynchronous.operations import Issue, Landing, Operation
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.copies import Pending
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.memory import OWED
from ptxgen.simulate.semantics.mbarrier_users import barrier_request, place_of_slot, users
from ptxgen.simulate.semantics.mbarriers import Arrivals, arrivals
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Reader, Site


def cp_async(site: Site) -> Step:
    """A copy of 4, 8 or 16 bytes, its tail zeros; or the end of a group of copies; or the wait for groups."""
    if site.has("mbarrier"):
        return _arrive(site)
    if site.has("commit_group"):
        return _commit(site)
    return _wait(site) if site.has("wait_group", "wait_all") else _copy(site)


def _commit(site: Site) -> Step:
    guard = site.guard()

    def step(group: Group, batch: Batch) -> None:
        active = group.active(guard(group.registers) if guard is not None else None)
        batch.copies.counts(batch.warps)[group.warps] += 1 if active is None else active

    return step


def _wait(site: Site) -> Step:
    guard = site.guard()
    left = site.read(0, np.int64) if site.has("wait_group") else None

    def step(group: Group, batch: Batch) -> None:
        if not batch.copies.pending:
            return
        r = group.registers
        active = group.active(guard(r) if guard is not None else None)
        counts = batch.copies.counts(batch.warps)
        limit = np.zeros_like(counts)
        reached = counts[group.warps] + 1 if left is None else counts[group.warps] - left(r)
        limit[group.warps] = reached if active is None else np.where(active, reached, 0)
        for due in batch.copies.due(limit):
            _deliver(due, batch)

    return step


def _arrive(site: Site) -> Step:
    """Once all copies of a lane are there, it arrives at an mbarrier; without `.noinc` that is one arrival more than
    the barrier awaits.
    """
    request = barrier_request(site, place_of_slot(site, "mbar"))
    more = not site.has("noinc")

    def step(group: Group, batch: Batch) -> None:
        found = users(request, group, batch)
        rows = np.unique(np.concatenate([each.rows for each in found])) if found else np.zeros(0, np.int64)
        released = np.zeros((len(group.warps), batch.clocks.row), np.int64)
        released[rows] = batch.clocks.release(group.warps[rows])
        for each in found:
            if more:
                each.barrier.pending += len(each.rows)
            thread = batch.thread(group, int(each.rows[0]), int(each.lanes[0]))
            warps, row = group.warps[each.rows], released[np.unique(each.rows)].max(axis=0)
            _start(batch, LaneArrivals(site.index, thread, warps, each.lanes, each.barrier, row))

    return step


@frozen(eq=False)
class LaneArrivals:
    """Arrivals at a barrier of lanes (`warps`, `lanes`) whose copies up to now are to come first."""

    site: int
    thread: int
    warps: Array
    lanes: Array
    barrier: MBarrier
    released: Array


def _start(batch: Batch, arriving: LaneArrivals) -> None:
    limit = np.zeros_like(batch.copies.counts(batch.warps))
    limit[arriving.warps, arriving.lanes] = batch.copies.counts(batch.warps)[arriving.warps, arriving.lanes] + 1
    for copy in batch.copies.pending:
        copy.tracked[copy.groups < limit[copy.warps, copy.lanes]] = True
    known = arriving.released[: batch.clocks.width]
    issue = Issue(arriving.site, int(arriving.warps[0]), int(arriving.lanes[0]), arriving.thread, 0, known, known)

    def write() -> list[tuple[int, int]]:
        for due in batch.copies.due(limit):
            _deliver(due, batch)
        barrier = arriving.barrier
        count = len(arriving.warps)
        rows = np.broadcast_to(arriving.released, (count, len(arriving.released)))
        counts = np.ones(count, np.int64)
        arrivals(batch, barrier, Arrivals(arriving.site, arriving.thread, arriving.warps, counts, rows))
        return [(0, 0)]

    landing = Landing(arriving.barrier, 0, arriving.barrier.phase)
    batch.engines.start(Operation(issue, lambda: None, write, (landing,)))


def _deliver(due: Pending, batch: Batch) -> None:
    memory = batch.spaces["shared"]
    width = due.values.shape[1]
    whole = due.values.view(np.complex128 if width == 16 else f"u{width}")[..., 0]
    memory.arena.store(due.index, whole, width)
    memory.arena.owed -= len(due.index)
    epochs = np.where(due.tracked, due.epochs, batch.clocks.own[due.warps])
    watch_delivery(batch, due.site, (due.warps, due.lanes), due.index, due.values, epochs)


def _copy(site: Site) -> Step:
    names = {slot.name: place for place, slot in enumerate(site.slots)}
    size = int(getattr(site.operands[2], "value", 0))
    source = evolve(request_of(site, 1, size), space="global", strong=False)
    target = evolve(request_of(site, 0, size), space="shared", strong=False, remote=False)
    count = _count(site, names, size)

    def step(group: Group, batch: Batch) -> None:
        wanted = np.broadcast_to(count(group.registers), group.shape)
        values = np.zeros((*group.shape, size), np.uint8)
        full = evolve(source, guard=_and(source.guard, wanted >= size))
        for part in targets(full, group, batch, reads=True):
            loaded = part.memory.arena.load(part.index, size).reshape(*group.shape, 1).view(np.uint8)
            values = loaded if part.mask is None else np.where(part.mask[..., None], loaded, values)
            watch(full, group, batch, part, None, writes=False)
        if ((wanted > 0) & (wanted < size)).any():
            _partly(site, source.guard, group, batch, wanted, values)
        for part in targets(target, group, batch, reads=False):
            _owe(site.index, part, group, batch, values)
            flat = values.reshape(-1, size) if part.mask is None else values[part.mask]
            watch(target, group, batch, part, flat, writes=True)

    return step


def _count(site: Site, names: dict[str, int], size: int) -> Reader:
    """How many bytes come from the source: all, the operand for it, or none where the copy is ignored."""
    if "source_bytes" in names:
        read = site.read(names["source_bytes"], np.uint32)
        return lambda r: np.minimum(read(r), np.uint32(size))
    if "ignore" in names:
        ignored = site.read(names["ignore"], np.bool_)
        return lambda r: np.where(ignored(r), 0, size)
    return lambda r: np.full((1, 1), size)


def _and(guard: Reader | None, truth: Array) -> Reader:
    return (lambda r: truth) if guard is None else (lambda r: guard(r) & truth)


def _partly(site: Site, guard: Reader | None, group: Group, batch: Batch, wanted: Array, values: Array) -> None:
    """Fill in the bytes of the copies that are shorter than their size, byte by byte."""
    single = evolve(request_of(site, 1, 1), space="global", strong=False)
    size = values.shape[-1]
    for byte in range(size):
        some = _and(guard, (wanted > byte) & (wanted < size))
        one = evolve(single, guard=some, address=_moved(single.address, byte))
        for part in targets(one, group, batch, reads=True):
            loaded = part.memory.arena.load(part.index, 1)
            values[..., byte] = loaded if part.mask is None else np.where(part.mask, loaded, values[..., byte])


def _moved(address: Reader, by: int) -> Reader:
    return lambda r: address(r) + by


def _owe(index: int, part: Target, group: Group, batch: Batch, values: Array) -> None:
    mask = np.ones(group.shape, np.bool_) if part.mask is None else part.mask
    warps = np.broadcast_to(group.warps[:, None], group.shape)[mask]
    lanes = np.broadcast_to(np.arange(LANES), group.shape)[mask]
    groups = batch.copies.counts(batch.warps)[warps, lanes]
    size = values.shape[-1]
    places = part.index[mask]
    brought = np.ascontiguousarray(values[mask])
    epochs = batch.clocks.own[warps]
    batch.copies.pending.append(
        Pending(index, warps, lanes, groups, places, brought, epochs, np.zeros(len(warps), np.bool_))
    )
    part.memory.arena.mark(places, size, OWED)
    part.memory.arena.owed += len(places)
