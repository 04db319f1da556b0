"""`cp.async.bulk` and `cp.reduce.async.bulk`: runs of bytes copied or combined beside the threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.simulate.accesses import address_reader
from ptxgen.simulate.asynchronous.engines import Engines
from ptxgen.simulate.asynchronous.operations import Issue, Landing, Operation
from ptxgen.simulate.asynchronous.runs import (
    Run,
    check_source,
    global_run,
    lend,
    note_remote,
    shared_run,
    write_now,
)
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.semantics.copy_starts import (
    Combine,
    Loaded,
    Stored,
    barrier_at,
    into_shared,
    issuers,
    out_of_shared,
    refuse_unsupported,
    targets_of,
)
from ptxgen.simulate.semantics.mbarrier_users import place_of_slot
from ptxgen.simulate.semantics.reductions import combine
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Reader, Site


def copy(site: Site) -> Step:
    """A copy or reduction of a run of bytes; the end of a group of those that end in groups; the wait for groups."""
    refuse_unsupported(site)
    if site.has("commit_group"):
        return commit(site)
    if site.has("wait_group"):
        return wait_group(site)
    operation = str(site.instruction.form.words["op"]) if site.opcode.startswith("cp.reduce") else None
    combining = None if operation is None else combine(operation, str(site.instruction.form.words["type"]))
    if site.has("bulk_group"):
        return _out(site, combining)
    if combining is not None or site.instruction.form.words.get("source") == "shared::cta":
        return _across(site, combining)
    return _into(site)


def _sizes(site: Site) -> Reader:
    return site.read(place_of_slot(site, "bytes"), np.int64)


def _size(batch: Batch, issue: Issue, size: int) -> int:
    if size % 16 or size < 0:
        what = f"copies {size} bytes, which is no multiple of 16"
        batch.journal.fault("memory.misaligned", issue.site, lambda: what, thread=issue.thread)
        return max(size, 0) // 16 * 16
    return size


def _into(site: Site) -> Step:
    """From global memory into shared memory, ending at an mbarrier."""
    lanes, sizes, ranks = issuers(site), _sizes(site), targets_of(site)
    destination, source, mbar = (address_reader(site, place_of_slot(site, name))
                                 for name in ("destination", "source", "mbar"))  # fmt: skip

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        to, start, bars, size = destination(r), source(r), mbar(r), sizes(r)
        for lane, issue in lanes(group, batch):
            count = _size(batch, issue, lane.value(size))
            taken = global_run(batch, issue, lane.value(start), count, what="copies")
            if taken is not None and count:
                check_source(batch, issue, taken)
                into_shared(batch, issue, Loaded(taken, count), (lane.value(to), lane.value(bars)), ranks(lane))

    return step


def _across(site: Site, combining: Combine | None) -> Step:
    """From shared memory of this CTA into that of another of the cluster, ending at an mbarrier there."""
    lanes, sizes = issuers(site), _sizes(site)
    destination, source, mbar = (address_reader(site, place_of_slot(site, name))
                                 for name in ("destination", "source", "mbar"))  # fmt: skip

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        to, start, bars, size = destination(r), source(r), mbar(r), sizes(r)
        for lane, issue in lanes(group, batch):
            count = _size(batch, issue, lane.value(size))
            taken = shared_run(batch, issue, lane.value(start), count, what="copies", remote=False)
            if taken is None or not count:
                continue
            check_source(batch, issue, taken)
            if combining is None:
                into_shared(batch, issue, Loaded(taken, count), (lane.value(to), lane.value(bars)), [None])
            else:
                _combine_into(batch, issue, taken, (lane.value(to), lane.value(bars)), combining)

    return step


def _combine_into(batch: Batch, issue: Issue, taken: Run, to: tuple[int, int], combining: Combine) -> None:
    size = taken.index.size * taken.width
    run = shared_run(batch, issue, to[0], size, what="combines into shared memory", remote=True)
    barrier = barrier_at(batch, issue, to[1])
    if run is None or barrier is None:
        return
    check_source(batch, issue, run)
    own = issue.warp // batch.warps_per_cta % batch.cluster
    reading = lend(batch, issue, taken, batch.engines.columns.reader(own))
    content: list[Array] = []

    def write() -> list[tuple[int, int]]:
        done = write_now(batch, issue, run, barrier.engine, combining(run.fetch(), content[0]), atomic=True)
        note_remote(batch, issue, run, done)
        return [done]

    landing = Landing(barrier, size, barrier.phase)
    batch.engines.start(Operation(issue, lambda: content.append(taken.fetch()), write, (landing,), reading=reading))


def _out(site: Site, combining: Combine | None) -> Step:
    """From shared into global memory, ending with the group that its thread commits."""
    lanes, sizes = issuers(site), _sizes(site)
    destination, source = (address_reader(site, place_of_slot(site, name)) for name in ("destination", "source"))
    masks = site.read(place_of_slot(site, "byte_mask"), np.int64) if place_of_slot(site, "byte_mask") >= 0 else None

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        to, start, size = destination(r), source(r), sizes(r)
        for lane, issue in lanes(group, batch):
            count = _size(batch, issue, lane.value(size))
            taken = shared_run(batch, issue, lane.value(start), count, what="copies", remote=False)
            given = global_run(batch, issue, lane.value(to), count, what="copies")
            if taken is None or given is None or not count:
                continue
            kept = None
            if masks is not None:
                bits = lane.value(masks(r)) >> np.arange(16) & 1
                kept = np.broadcast_to(bits.astype(np.bool_), (count // 16, 16))
            out_of_shared(batch, issue, taken, Stored(given, combining, kept=kept))

    return step


def commit(site: Site) -> Step:
    """What the thread has issued since the last commit is a group."""
    lanes = issuers(site)

    def step(group: Group, batch: Batch) -> None:
        for _, issue in lanes(group, batch):
            batch.engines.committed[issue.owner] = batch.engines.committed.get(issue.owner, 0) + 1

    return step


def wait_group(site: Site) -> Step:
    """Wait until all but the latest groups of the thread have ended, or (`.read`) have read their sources."""
    lanes, left = issuers(site), site.read(place_of_slot(site, "n"), np.int64)
    reads_only = site.has("read")

    def step(group: Group, batch: Batch) -> None:
        for lane, issue in lanes(group, batch):
            below = batch.engines.committed.get(issue.owner, 0) - lane.value(left(group.registers))
            for operation in batch.engines.of_group(issue.owner, below):
                finish(batch, batch.engines, operation, reads_only=reads_only)

    return step


def finish(batch: Batch, engines: Engines, operation: Operation, *, reads_only: bool) -> None:
    """Let the thread that issued an operation see its reads, or all of it, done."""
    operation.take()
    warp = np.array([operation.issue.warp])
    if operation.reading is not None:
        batch.clocks.learn(warp, *operation.reading)
    if not reads_only:
        engines.complete(batch, operation)
        batch.clocks.learn(warp, *operation.writing)


def prefetch(site: Site) -> Step:
    """Bring bytes into L2: nothing that the simulator models, but the bytes must be there."""
    lanes, sizes = issuers(site), _sizes(site)
    source = address_reader(site, place_of_slot(site, "source"))

    def step(group: Group, batch: Batch) -> None:
        start, size = source(group.registers), sizes(group.registers)
        for lane, issue in lanes(group, batch):
            global_run(batch, issue, lane.value(start), _size(batch, issue, lane.value(size)), what="prefetches")

    return step


MAKERS: dict[str, Callable[[Site], Any]] = {
    "cp.async.bulk": copy, "cp.reduce.async.bulk": copy, "cp.async.bulk.prefetch": prefetch,
}  # fmt: skip
