"""Bytes that an operation reads or writes: where they lie, whether they may be touched, and in which state they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ptxgen.simulate.asynchronous.clusters import reached
from ptxgen.simulate.asynchronous.operations import Issue, judge
from ptxgen.simulate.journal import Check
from ptxgen.simulate.memory import ALLOCATED, GLOBAL_BASE, OBJECT, OWED, RANK_MASK, RANK_SHIFT, SHARED_WINDOW, WRITTEN

if TYPE_CHECKING:
    from ptxgen.simulate.batch import Batch, SpaceMemory

Array: TypeAlias = NDArray[Any]
POISON = 0xFF


@frozen(eq=False)
class Run:
    """Units of `width` bytes at arena bytes `index`, in the order in which an operation moves them."""

    memory: SpaceMemory
    index: Array
    width: int
    address: int

    @property
    def bytes(self) -> Array:
        """Every byte's place in the arena, unit by unit, [units, width]."""
        whole: Array = self.index[:, None] + np.arange(self.width)
        return whole

    def fetch(self) -> Array:
        """The content, [units, width] of uint8."""
        return self.memory.arena.data[self.bytes]

    def put(self, content: Array, kept: Array | None = None) -> None:
        """Write the content, where `kept` (a truth per byte) says, and mark it written."""
        places, arena = self.bytes, self.memory.arena
        if kept is None:
            arena.data[places] = content
        else:
            arena.data[places[kept]] = content[kept]
        arena.shadow[places] = WRITTEN

    def owe(self) -> None:
        """The bytes are to come; until then nothing good stands there."""
        places = self.bytes
        self.memory.arena.shadow[places] = OWED
        self.memory.arena.data[places] = POISON
        self.memory.arena.owed += 1


def shared_run(
    batch: Batch, issue: Issue, address: int, size: int, *, what: str, remote: bool, align: int = 16
) -> Run | None:
    """`size` bytes of shared memory from an address, in units of 16 bytes (of `align` where that is less).

    An address is one of the CTA or, with `remote`, of its cluster, or generic. None, and a report, for what is not
    aligned or lies outside the allocations.
    """
    memory = batch.spaces["shared"]
    if address >= SHARED_WINDOW:
        address -= SHARED_WINDOW
    cta = issue.warp // batch.warps_per_cta
    rank, own = address >> RANK_SHIFT, cta % batch.cluster
    if not remote and rank == 0:
        rank = own
    start = (address & RANK_MASK) - memory.base
    if address % align:
        _refuse(batch, issue, "memory.misaligned", f"{what} at {address:#x}, which is no multiple of {align}")
        return None
    if rank >= batch.cluster or (rank != own and not remote) or not 0 <= start <= memory.size_bytes - size:
        outside = f"{what} of {size} bytes at {address:#x}, outside shared memory"
        _refuse(batch, issue, "memory.bounds", outside)
        return None
    first = (cta - own + rank) * memory.stride + start
    state = memory.arena.shadow[first : first + size]
    if (state == 0).any():
        outside = f"{what} of {size} bytes at {address:#x}, outside every allocation of shared memory"
        _refuse(batch, issue, "memory.bounds", outside)
        return None
    unit = min(align, 16)
    return Run(memory, first + np.arange(0, size, unit), unit, address)


def global_run(batch: Batch, issue: Issue, address: int, size: int, *, what: str) -> Run | None:
    """`size` bytes of global memory from an address that is a multiple of 16; None, and a report, for others."""
    memory = batch.spaces["global"]
    start = address - GLOBAL_BASE
    if address % 16:
        _refuse(batch, issue, "memory.misaligned", f"{what} at {address:#x}, which is no multiple of 16")
        return None
    if not 0 <= start <= memory.size_bytes - size or (memory.arena.shadow[start : start + size] == 0).any():
        outside = f"{what} of {size} bytes at {address:#x}, outside every allocation of global memory"
        _refuse(batch, issue, "memory.bounds", outside)
        return None
    return Run(memory, start + np.arange(0, size, 16), 16, address)


def _refuse(batch: Batch, issue: Issue, code: str, what: str) -> None:
    batch.journal.fault(code, issue.site, lambda: what, thread=issue.thread)


def note_remote(batch: Batch, issue: Issue, run: Run, engine: tuple[int, int]) -> None:
    """Note that an operation reaches into another CTA, by an engine and its epoch."""
    cta = int(run.index[0]) // run.memory.stride
    if cta != issue.warp // batch.warps_per_cta:
        access = batch.clocks.warps_per_cluster + engine[0], engine[1]
        reached(batch, issue.site, issue.thread, cta, access, issue.known)


def check_source(batch: Batch, issue: Issue, run: Run) -> None:
    """Report bytes that an operation reads before they are there."""
    state = run.memory.arena.shadow[run.bytes]
    if (state == WRITTEN).all():
        return
    name = run.memory.name
    if (state == OWED).any():
        what = f"reads {name} memory from {run.address:#x} that a copy under way has not delivered"
        _refuse(batch, issue, f"async.{name}", what)
    if (state == OBJECT).any():
        what = f"reads {name} memory from {run.address:#x}, where an mbarrier is"
        _refuse(batch, issue, "mbarrier.access", what)
    if (state == ALLOCATED).any() and Check.UNINITIALISED_MEMORY in batch.journal.checks:
        what = f"reads {name} memory from {run.address:#x}, not all of it written by anything"
        _refuse(batch, issue, f"uninitialised.{name}", what)


def check_destination(batch: Batch, issue: Issue, run: Run) -> None:
    """Report bytes that an operation is to write and another has still to deliver, or that hold an mbarrier."""
    state = run.memory.arena.shadow[run.bytes]
    name = run.memory.name
    if (state == OWED).any():
        what = f"writes {name} memory from {run.address:#x} that another copy under way is to write"
        _refuse(batch, issue, f"async.{name}", what)
    if (state == OBJECT).any():
        what = f"writes {name} memory from {run.address:#x}, where an mbarrier is"
        _refuse(batch, issue, "mbarrier.access", what)


def lend(batch: Batch, issue: Issue, run: Run, engine: int) -> tuple[int, int]:
    """An engine reads the run from now on until its operation ends; the engine and the epoch of the reads."""
    cluster = issue.warp // batch.clocks.warps_per_cluster
    reading = engine, batch.clocks.engine_step(cluster, engine)
    judge(batch, run.memory, issue, reading, (run.index, run.width), writes=False)
    return reading


def deliver(
    batch: Batch, issue: Issue, run: Run, engine: int, content: Array, kept: Array | None = None
) -> tuple[int, int]:
    """Write what was owed; the engine and the epoch of the writes."""
    run.memory.arena.owed -= 1
    return write_now(batch, issue, run, engine, content, kept)


def write_now(
    batch: Batch, issue: Issue, run: Run, engine: int, content: Array, kept: Array | None = None, *,
    atomic: bool = False,
) -> tuple[int, int]:  # fmt: skip
    """Write a run that was not owed; the engine and the epoch of the writes."""
    cluster = issue.warp // batch.clocks.warps_per_cluster
    writing = engine, batch.clocks.engine_step(cluster, engine)
    run.put(content, kept)
    judge(batch, run.memory, issue, writing, (run.index, run.width), writes=True, atomic=atomic)
    return writing
