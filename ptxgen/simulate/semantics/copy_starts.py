"""How copies start: who issues them, where they go and where they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from attrs import frozen

from ptxgen.simulate.asynchronous.mbarriers import MBarrier
from ptxgen.simulate.asynchronous.operations import Issue, Landing, Operation, issue_of
from ptxgen.simulate.asynchronous.runs import (
    Run,
    check_destination,
    check_source,
    deliver,
    lend,
    note_remote,
    shared_run,
    write_now,
)
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.memory import RANK_MASK, RANK_SHIFT, SHARED_WINDOW
from ptxgen.simulate.semantics.mbarrier_users import BARRIER_BYTES, check_initialised, place_of_slot
from ptxgen.simulate.site import Array, Site

_UNSUPPORTED = {"ignore_oob": "copies that leave out what lies outside", "multicast::cluster::32b": "a wide mask"}


Combine = Callable[[Array, Array], Array]


@frozen(eq=False)
class Lane:
    """One lane of a group that issues an operation."""

    group: Group
    row: int
    lane: int

    def value(self, values: Array) -> int:
        """The lane's part of an operand."""
        return int(np.broadcast_to(values, self.group.shape)[self.row, self.lane])


def issuers(site: Site) -> Callable[[Group, Batch], Iterator[tuple[Lane, Issue]]]:
    """The lanes of a group that run the instruction, one after the other, each with its issue."""
    guard = site.guard()

    def lanes(group: Group, batch: Batch) -> Iterator[tuple[Lane, Issue]]:
        active = group.active(guard(group.registers) if guard is not None else None)
        mask = np.ones(group.shape, np.bool_) if active is None else active
        for row, lane in np.argwhere(mask).tolist():
            yield Lane(group, row, lane), issue_of(batch, site.index, int(group.warps[row]), lane)

    return lanes


def refuse_unsupported(site: Site) -> None:
    """UnsupportedError for the parts of copies that are not simulated."""
    for word, why in _UNSUPPORTED.items():
        if site.has(word):
            raise site.unsupported(why)
    if any("report" in word and "disabled" not in word for word in site.words):
        raise site.unsupported("reports of validity")


def barrier_at(batch: Batch, issue: Issue, address: int, rank: int | None = None) -> MBarrier | None:
    """The mbarrier that an operation ends at: at an address of the cluster, or at its place in the CTA of a rank."""
    address -= SHARED_WINDOW if address >= SHARED_WINDOW else 0
    if rank is not None:
        address = (address & RANK_MASK) | rank << RANK_SHIFT
    run = shared_run(batch, issue, address, BARRIER_BYTES, what="ends at an mbarrier", remote=True, align=8)
    barrier = None if run is None else batch.engines.mbarriers.get(int(run.index[0]))
    if run is not None and barrier is None:
        what = f"ends at {address:#x}, which holds no mbarrier: nothing has initialised it"
        batch.journal.fault("mbarrier.missing", issue.site, lambda: what, thread=issue.thread, address=address)
    if barrier is not None:
        check_initialised(batch, barrier, np.array([issue.warp]), issue.site, issue.thread)
    return barrier


def targets_of(site: Site) -> Callable[[Lane], list[int | None]]:
    """The ranks that a copy is sent to: those of its mask, else (None) where its addresses say."""
    place = place_of_slot(site, "ctas")
    if place < 0:
        return lambda lane: [None]
    read = site.read(place, np.int64)

    def ranks(lane: Lane) -> list[int | None]:
        mask = lane.value(read(lane.group.registers))
        return [rank for rank in range(16) if mask >> rank & 1]

    return ranks


@frozen(eq=False)
class Loaded:
    """What a copy brings into shared memory: `size` bytes, which are those of a source run, or what `arranged` makes of
    them ([units, width] to [bytes]).
    """

    source: Run
    size: int
    arranged: Callable[[Array], Array] | None = None


def into_shared(batch: Batch, issue: Issue, load: Loaded, to: tuple[int, int], ranks: list[int | None]) -> None:
    """Start a copy into shared memory at an address, ending at the mbarrier at another; to the CTAs of `ranks`, each at
    the same places, or (None) to where the addresses say.
    """
    landed = _landed(batch, issue, load.size, to, ranks)
    if not landed:
        return
    engines, own = batch.engines, issue.warp // batch.warps_per_cta % batch.cluster
    reading = lend(batch, issue, load.source, engines.columns.reader(own))
    for run, _ in landed:
        check_destination(batch, issue, run)
        run.owe()
    content: list[Array] = []

    def read() -> None:
        taken = load.source.fetch()
        content.append(taken if load.arranged is None else load.arranged(taken))

    def write() -> list[tuple[int, int]]:
        return [_arrive(batch, issue, run, barrier, content[0]) for run, barrier in landed]

    landings = tuple(Landing(barrier, load.size, barrier.phase) for _, barrier in landed)
    engines.start(Operation(issue, read, write, landings, reading=reading))


def _landed(
    batch: Batch, issue: Issue, size: int, to: tuple[int, int], ranks: list[int | None]
) -> list[tuple[Run, MBarrier]]:
    landed: list[tuple[Run, MBarrier]] = []
    for rank in ranks:
        address = to[0] - (SHARED_WINDOW if to[0] >= SHARED_WINDOW else 0)
        if rank is not None:
            address = (address & RANK_MASK) | rank << RANK_SHIFT
        run = shared_run(batch, issue, address, size, what="copies to shared memory", remote=True)
        barrier = barrier_at(batch, issue, to[1], rank)
        if run is not None and barrier is not None:
            landed.append((run, barrier))
    return landed


def _arrive(batch: Batch, issue: Issue, run: Run, barrier: MBarrier, content: Array) -> tuple[int, int]:
    done = deliver(batch, issue, run, barrier.engine, content.reshape(-1, run.width))
    note_remote(batch, issue, run, done)
    return done


@frozen(eq=False)
class Stored:
    """What a copy writes to global memory: a run, what it is combined with there, how the source's units become the
    run's, and which bytes are written.
    """

    run: Run
    combining: Combine | None = None
    arranged: Callable[[Array], Array] | None = None
    kept: Array | None = None


def out_of_shared(batch: Batch, issue: Issue, taken: Run, stored: Stored) -> None:
    """Start a copy out of shared memory that ends with a group of its thread."""
    engines, own = batch.engines, issue.warp // batch.warps_per_cta % batch.cluster
    check_source(batch, issue, taken)
    reading = lend(batch, issue, taken, engines.columns.reader(own))
    if stored.combining is None:
        check_destination(batch, issue, stored.run)
        if stored.kept is None:
            stored.run.owe()
    else:
        check_source(batch, issue, stored.run)
    content: list[Array] = []

    def read() -> None:
        got = taken.fetch()
        content.append(got if stored.arranged is None else stored.arranged(got))

    def write() -> list[tuple[int, int]]:
        engine, run, new = engines.columns.writer(own), stored.run, content[0]
        if stored.combining is not None:
            return [write_now(batch, issue, run, engine, stored.combining(run.fetch(), new), atomic=True)]
        if stored.kept is not None:
            return [write_now(batch, issue, run, engine, new, stored.kept)]
        return [deliver(batch, issue, run, engine, new)]

    group = engines.committed.setdefault(issue.owner, 0)
    engines.start(Operation(issue, read, write, group=group, reading=reading))
