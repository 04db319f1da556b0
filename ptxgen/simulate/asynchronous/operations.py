"""Operations under way: what was asked for, what it is ordered behind, and what completes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from ptxgen.simulate.asynchronous.mbarriers import MBarrier
from ptxgen.simulate.races import Conflict, EngineTouches, ProxySpace

if TYPE_CHECKING:
    from ptxgen.simulate.batch import Batch, SpaceMemory

Array: TypeAlias = NDArray[Any]


@frozen(eq=False)
class Issue:
    """Who issued an operation: the instruction, the warp and lane of the batch, the thread's number in the grid, the
    warp's epoch, and what the operation is ordered behind (see `Clocks.engine_row`).
    """

    site: int
    warp: int
    lane: int
    thread: int
    epoch: int
    known: Array
    seen: Array

    @property
    def owner(self) -> tuple[int, int]:
        """The thread within the batch."""
        return self.warp, self.lane


def issue_of(batch: Batch, site: int, warp: int, lane: int) -> Issue:
    """An operation that a thread issues now; what the thread does next is later."""
    known, seen = batch.clocks.engine_row(warp)
    epoch = int(batch.clocks.own[warp])
    batch.clocks.release(np.array([warp]))
    return Issue(site, warp, lane, batch.first_thread + warp * 32 + lane, epoch, known, seen)


@frozen(eq=False)
class Landing:
    """The end of an operation at a barrier: the bytes that it brings, and the phase in which it was asked for."""

    barrier: MBarrier
    bytes: int
    phase: int


@define(eq=False)
class Operation:
    """Work under way. `read` takes what it reads, `write` writes it and gives the (engine, epoch) of its writes, for
    each of its landings, or the one where it has none.

    It ends at a barrier for each of its `landings`, all at once, or with the group of that ordinal of the thread that
    issued it; with `far` only who acquires for the cluster learns from the barrier what it wrote. `reading` is the
    (engine, epoch) of its reads, `writing` that of its writes once it is complete.
    """

    issue: Issue
    read: Callable[[], None]
    write: Callable[[], list[tuple[int, int]]]
    landings: tuple[Landing, ...] = ()
    group: int | None = None
    reading: tuple[int, int] | None = None
    writing: tuple[int, int] = (0, 0)
    far: bool = False
    has_read: bool = field(default=False)

    def take(self) -> None:
        """Read the sources, once."""
        if not self.has_read:
            self.has_read = True
            self.read()


def judge(
    batch: Batch, memory: SpaceMemory, issue: Issue, engine: tuple[int, int], units: tuple[Array, int], *,
    writes: bool, atomic: bool = False,
) -> None:  # fmt: skip
    """Check an engine's accesses against all others and remember them; `engine` is its number in the cluster and the
    epoch, `units` the arena bytes of the accesses and the width of each."""
    index, width = units
    if memory.tracker is None or not len(index):
        return
    cells = index // memory.cell_bytes
    if width > memory.cell_bytes:
        cells = (cells[:, None] + np.arange(width // memory.cell_bytes)).ravel()
    elif width < memory.cell_bytes:
        cells = np.unique(cells)
    cluster = issue.warp // batch.clocks.warps_per_cluster
    thread = batch.engine_participant(cluster, engine[0])
    issuer = int(batch.participants(np.array([issue.warp]), np.array([issue.lane]))[0])
    seen = issue.seen[ProxySpace[memory.name.upper()].value]
    touches = EngineTouches(cells, thread, engine[1], issue.site, issue.known, seen, issuer, issue.epoch, atomic)
    found = memory.tracker.engine_store(touches) if writes else memory.tracker.engine_load(touches)
    for conflict in found:
        _report(batch, memory, issue, cells, conflict, writes)


def _report(batch: Batch, memory: SpaceMemory, issue: Issue, cells: Array, conflict: Conflict, writes: bool) -> None:
    byte = int(cells[conflict.at[0]]) * memory.cell_bytes
    address = byte % memory.stride + memory.base if memory.stride else byte + memory.base
    verb = "writes" if writes else "reads"
    past = "wrote" if conflict.earlier == "write" else "read"
    if conflict.unfenced:
        code, why = f"proxy.{memory.name}", "with no fence.proxy.async between the two"
    else:
        code, why = f"race.{memory.name}", "with nothing that orders the two"
    who = batch.told(conflict.thread)
    batch.journal.fault(
        code, issue.site, lambda: f"{verb} {memory.name} memory at {address:#x}, which {who} {past}, {why}",
        thread=issue.thread, address=address, count=len(conflict.at), related=conflict.site,
    )  # fmt: skip
