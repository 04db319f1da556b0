"""`mbarrier`: barriers in shared memory that count arrivals and bytes, phase after phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import frozen

from ptxgen.simulate.accesses import located
from ptxgen.simulate.asynchronous.engines import settle
from ptxgen.simulate.asynchronous.mbarriers import MBarrier, pending_of, state_of
from ptxgen.simulate.asynchronous.waiting import PhaseWait
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.memory import ALLOCATED, OBJECT
from ptxgen.simulate.semantics.mbarrier_users import (
    BARRIER_BYTES,
    barrier_request,
    by_place,
    kept,
    place_of_slot,
    users,
)
from ptxgen.simulate.semantics.mbarrier_waits import wait
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Compute, Reader, Site
from ptxgen.simulate.steps import assign

MOST_TRANSACTIONS = (1 << 20) - 1


def init(site: Site) -> Step:
    """Make a barrier of a count of arrivals, or end it."""
    request = barrier_request(site, place_of_slot(site, "a", "address"))
    place = place_of_slot(site, "count")
    count = site.read(place, np.int64) if place >= 0 else None

    def step(group: Group, batch: Batch) -> None:
        target = located(request, group, batch)
        counts = None if count is None else np.broadcast_to(count(group.registers), group.shape)
        for where, rows, lanes in by_place(group, target.index, target.mask):
            thread = batch.thread(group, int(rows[0]), int(lanes[0]))
            address = int(target.addresses[rows[0], lanes[0]])
            if len(rows) > 1:
                _report_several(batch, site.index, thread, address, len(rows))
            if counts is None:
                _end(batch, where, site.index, thread, address)
            else:
                warp = int(group.warps[rows[0]])
                _make(batch, where, site.index, (warp, int(lanes[0])), address, int(counts[rows[0], lanes[0]]))
        batch.engines.version += 1

    return step


def _report_several(batch: Batch, site: int, thread: int, address: int, count: int) -> None:
    what = f"is run for {address:#x} by {count} threads of a warp at once, of which one may"
    batch.journal.fault("mbarrier.access", site, lambda: what, thread=thread, address=address, count=count)


def _make(batch: Batch, place: int, site: int, owner: tuple[int, int], address: int, count: int) -> None:
    memory, clocks, engines = batch.spaces["shared"], batch.clocks, batch.engines
    thread = batch.first_thread + owner[0] * LANES + owner[1]
    if not 1 <= count < 1 << 20:
        what = f"wants a count from 1 to {(1 << 20) - 1}, got {count}"
        batch.journal.fault("mbarrier.count", site, lambda: what, thread=thread, address=address)
        count = 1
    if place in engines.mbarriers:
        what = f"initialises {engines.mbarriers[place].told()}, which is one already; mbarrier.inval ends one"
        batch.journal.fault("mbarrier.access", site, lambda: what, thread=thread, address=address)
    else:
        memory.arena.objects += 1
    memory.arena.mark(np.array([place]), BARRIER_BYTES, OBJECT)
    cta = place // memory.stride
    engine = engines.barrier_engine(cta % batch.cluster, place % memory.stride)
    epoch = int(clocks.own[owner[0]])
    clocks.release(np.array([owner[0]]))
    row = np.zeros(clocks.row, np.int64)
    engines.mbarriers[place] = MBarrier(
        place, place % memory.stride + memory.base, cta, engine, count, count, owner[0] << 5 | owner[1], epoch, site,
        row, row.copy(), np.zeros(clocks.warps_per_cluster, np.int64), row.copy(), row.copy(),
    )  # fmt: skip


def _end(batch: Batch, place: int, site: int, thread: int, address: int) -> None:
    memory, engines = batch.spaces["shared"], batch.engines
    barrier = engines.mbarriers.pop(place, None)
    if barrier is None:
        what = f"ends {address:#x}, which holds no mbarrier"
        batch.journal.fault("mbarrier.missing", site, lambda: what, thread=thread, address=address)
        return
    if barrier.under_way or any(wait.barrier is barrier for wait in _waits(batch)):
        what = f"ends {barrier.told()} while copies are on their way to it or threads wait at it"
        batch.journal.fault("mbarrier.access", site, lambda: what, thread=thread, address=address)
    warp = thread // LANES - batch.first_thread // LANES
    late = barrier.used > batch.clocks.known[warp, : batch.clocks.warps_per_cluster]
    late[batch.clocks.column[warp]] = False
    if late.any():
        user = warp // batch.clocks.warps_per_cluster * batch.clocks.warps_per_cluster + int(late.argmax())
        who = batch.told(int(batch.participants(np.array([user]), np.array([0]))[0]))
        what = f"ends {barrier.told()}, which the warp of {who} has used, with nothing that orders the two"
        batch.journal.fault("mbarrier.unordered", site, lambda: what, thread=thread, address=address)
    memory.arena.objects -= 1
    memory.arena.mark(np.array([place]), BARRIER_BYTES, ALLOCATED)


def _waits(batch: Batch) -> Iterator[PhaseWait]:
    for group in batch.parked:
        yield from (wait for wait in group.waits if isinstance(wait, PhaseWait))


def transact(site: Site) -> Step:
    """`expect_tx` and `complete_tx`: raise or lower the bytes that the phase awaits."""
    request = barrier_request(site, place_of_slot(site, "a", "address"))
    read = site.read(place_of_slot(site, "tx_count"), np.int64)
    sign = 1 if site.opcode == "mbarrier.expect_tx" else -1

    def step(group: Group, batch: Batch) -> None:
        size = np.broadcast_to(read(group.registers), group.shape)
        for each in users(request, group, batch):
            expect(batch, each.barrier, sign * int(size[each.rows, each.lanes].sum()), site.index,
                   batch.thread(group, int(each.rows[0]), int(each.lanes[0])))  # fmt: skip
            settle(batch, each.barrier, site.index, batch.thread(group, int(each.rows[0]), int(each.lanes[0])))
        batch.engines.version += 1

    return step


def expect(batch: Batch, barrier: MBarrier, size: int, site: int, thread: int) -> None:
    """Add to the bytes that a barrier's phase awaits; report more than it can count."""
    barrier.transactions += size
    if abs(barrier.transactions) > MOST_TRANSACTIONS:
        what = f"has {barrier.transactions} bytes outstanding at {barrier.told()}, more than {MOST_TRANSACTIONS}"
        batch.journal.fault("mbarrier.transactions", site, lambda: what, thread=thread)


def arrive(site: Site) -> Step:
    """`arrive` and `arrive_drop`: each lane lowers what its phase awaits, and releases what its warp knows."""
    if site.has("multicast::cluster::32b"):
        raise site.unsupported("arrivals at every CTA of a mask")
    request = barrier_request(site, place_of_slot(site, "a", "address"))
    counts, sizes = _operand(site, "count"), _operand(site, "tx_count")
    relaxed, drops, incomplete = site.has("relaxed"), site.opcode == "mbarrier.arrive_drop", site.has("noComplete")
    near = site.instruction.form.words.get("scope") == "cta"
    writers = [assign(site, place) for place in site.destinations()]

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        found = users(request, group, batch)
        count = np.broadcast_to(counts(r) if counts else np.int64(1), group.shape)
        size = np.broadcast_to(sizes(r), group.shape) if sizes else None
        states = np.zeros(group.shape, np.uint64)
        rows = np.unique(np.concatenate([each.rows for each in found])) if found else np.zeros(0, np.int64)
        released = np.zeros((len(group.warps), batch.clocks.row), np.int64)
        if len(rows):
            released[rows] = batch.clocks.release(group.warps[rows], relaxed=relaxed)
        for each in found:
            thread = batch.thread(group, int(each.rows[0]), int(each.lanes[0]))
            tx = None if size is None else size[each.rows, each.lanes]
            given = Arrivals(
                site.index,
                thread,
                group.warps[each.rows],
                count[each.rows, each.lanes],
                released[each.rows],
                tx,
                drops,
                incomplete,
                near,
            )
            states[each.rows, each.lanes] = arrivals(batch, each.barrier, given)
        keep = kept(request, group)
        for write in writers:
            write(r, states, keep)
        batch.engines.version += 1

    return step


def _operand(site: Site, name: str) -> Reader | None:
    place = place_of_slot(site, name)
    return None if place < 0 else site.read(place, np.int64)


@frozen(eq=False)
class Arrivals:
    """Arrivals of lanes at one barrier: their warps, how often each counts, what it releases, the bytes that it
    expects, whether the barrier loses its part for good (`drops`) or must not complete by it, and whether they release
    to their own CTA only (`near`).
    """

    site: int
    thread: int
    warps: Array
    counts: Array
    released: Array
    sizes: Array | None = None
    drops: bool = False
    incomplete: bool = False
    near: bool = False


def arrivals(batch: Batch, barrier: MBarrier, given: Arrivals) -> Array:
    """Let lanes arrive one after the other; the state that each gets, which tells what was before it arrived."""
    total = int(given.counts.sum())
    if given.sizes is None and not given.drops and not given.incomplete and total <= barrier.pending:
        return _arrive_together(batch, barrier, given, total)
    states = np.zeros(len(given.counts), np.uint64)
    phases = np.zeros(len(given.counts), np.int64)
    for number, count in enumerate(given.counts.tolist()):
        phases[number] = barrier.phase
        states[number] = state_of(barrier.phase, max(barrier.pending, 0))
        if given.sizes is not None:
            expect(batch, barrier, int(given.sizes[number]), given.site, given.thread)
        if given.drops:
            barrier.count = max(barrier.count - count, 0)
        _gather(batch, barrier, given, slice(number, number + 1))
        _arrive_once(batch, barrier, given, count)
    torn = (phases[1:] != phases[:-1]) & (given.warps[1:] == given.warps[:-1])
    if torn.any():
        what = f"completes a phase with some lanes of a warp, the others count for the next: {barrier.told()}"
        batch.journal.fault("mbarrier.count", given.site, lambda: what, thread=given.thread)
    return states


def _arrive_together(batch: Batch, barrier: MBarrier, given: Arrivals, total: int) -> Array:
    """Arrivals of which at most the last completes the phase."""
    before = barrier.pending - np.cumsum(given.counts) + given.counts
    states: Array = state_of(np.uint64(barrier.phase), before.astype(np.uint64))
    _gather(batch, barrier, given, slice(None))
    _arrive_once(batch, barrier, given, total)
    return states


def _gather(batch: Batch, barrier: MBarrier, given: Arrivals, which: slice) -> None:
    """What these arrivals release: at a barrier of another CTA to who acquires for the cluster, if they do so too."""
    own = given.warps[which] // batch.warps_per_cta == barrier.cta
    rows = given.released[which]
    if own.any():
        barrier.gather(rows[own].max(axis=0))
    if not own.all() and not given.near:
        barrier.gather(rows[~own].max(axis=0), far=True)


def _arrive_once(batch: Batch, barrier: MBarrier, given: Arrivals, count: int) -> None:
    last = given.incomplete and barrier.pending == count
    if count > barrier.pending or last:
        why = "completes a phase that .noComplete may not" if last else "arrives more often than is awaited"
        what = f"{why}, {count} times at {barrier.told()}"
        batch.journal.fault("mbarrier.count", given.site, lambda: what, thread=given.thread)
    barrier.pending -= count
    barrier.arrived += count
    settle(batch, barrier, given.site, given.thread)


def pending_count(site: Site) -> Compute:
    """The arrivals that were pending before the arrival that gave the state."""
    state = site.read(1, np.uint64)
    return lambda r: pending_of(state(r))


MAKERS: dict[str, Callable[[Site], Any]] = {
    "mbarrier.init": init, "mbarrier.inval": init, "mbarrier.expect_tx": transact, "mbarrier.complete_tx": transact,
    "mbarrier.arrive": arrive, "mbarrier.arrive_drop": arrive, "mbarrier.test_wait": wait, "mbarrier.try_wait": wait,
}  # fmt: skip
