"""One launch of a decoded kernel: batches of CTAs, each with its memory."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ptxgen.ir import Space
from ptxgen.simulate.asynchronous.columns import Columns
from ptxgen.simulate.asynchronous.engines import Engines
from ptxgen.simulate.batch import Batch, SpaceMemory
from ptxgen.simulate.flags import Flags
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.heap import Heap
from ptxgen.simulate.journal import Check, Journal
from ptxgen.simulate.lateness import Lateness
from ptxgen.simulate.layout import Layout
from ptxgen.simulate.memory import FIRST_BYTE, GLOBAL_BASE, RANK_SHIFT, WRITTEN, Arena, GlobalMemory
from ptxgen.simulate.program import Program
from ptxgen.simulate.races import Clocks, Tracker
from ptxgen.simulate.scheduler import Scheduler
from ptxgen.simulate.specials import special_values

Array: TypeAlias = NDArray[Any]

Progress: TypeAlias = Callable[[int, int], None]
_TURNS_BETWEEN = 256
LANES_PER_BATCH = 32768
BYTES_PER_BATCH = 64 << 20
MOST_ACQUAINTED = 512


@frozen
class Launch:
    """The shape of a launch (x, y, z), what to look for, the seed of a random order, the limit of warp-instructions.

    `cluster` are the CTAs of a cluster (x, y, z); CTAs are numbered cluster by cluster.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    checks: frozenset[Check]
    seed: int | None
    limit: int | None
    cluster: tuple[int, int, int] = (1, 1, 1)

    @property
    def ctas_per_cluster(self) -> int:
        """CTAs of a cluster."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    @property
    def ctas(self) -> int:
        """CTAs of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps_per_cta(self) -> int:
        """Warps of a CTA, the last perhaps not whole."""
        return -(-self.threads // LANES)


def run(
    program: Program, layout: Layout, memory: GlobalMemory, parameters: bytes, launch: Launch, journal: Journal,
    progress: Progress | None = None,
) -> None:  # fmt: skip
    """Run all CTAs, batch after batch; `memory` is left as the kernel left it, and `journal` tells of it.

    `progress` is called now and then with the threads that have ended and those of the whole launch.
    """
    for scheduler, start in sessions(program, layout, memory, parameters, launch, journal):
        if progress is None:
            scheduler.run(start)
        else:
            _told(scheduler, start, launch, progress)


def _told(scheduler: Scheduler, start: Group, launch: Launch, progress: Progress) -> None:
    batch, all_threads = scheduler.batch, launch.ctas * launch.threads
    for _ in scheduler.turns(start):
        if scheduler.turn % _TURNS_BETWEEN == 0:
            running = int(batch.present.sum())
            progress((batch.first + batch.ctas) * launch.threads - running, all_threads)
    progress((batch.first + batch.ctas) * launch.threads, all_threads)


def journal_of(program: Program, launch: Launch) -> Journal:
    """An empty journal of a launch."""
    return Journal(
        program.instructions, launch.grid, launch.block, launch.warps_per_cta, launch.checks, cluster=launch.cluster
    )


def sessions(
    program: Program, layout: Layout, memory: GlobalMemory, parameters: bytes, launch: Launch, journal: Journal,
    which: slice = slice(None),
) -> Iterator[tuple[Scheduler, Group]]:  # fmt: skip
    """The batches of a launch, each as a scheduler and the group to start it with; one is to end before the next.

    `which` picks some of them.
    """
    everywhere = _global(layout, memory, launch)
    heap = Heap(memory.arena, memory.heap_start, layout.heap_bytes) if layout.heap_bytes else None
    chance = random.Random(launch.seed) if launch.seed is not None else None
    for first, count in list(batches_of(launch, layout))[which]:
        batch = _batch(first, count, launch, layout, everywhere, journal, parameters)
        batch.engines.registers, batch.engines.chance = program.watched, chance
        batch.heap = heap
        if chance is not None and batch.cluster == 1 and count > 1:
            batch.lateness = Lateness(chance, batch.warps_per_cta)
        registers = _registers(program, batch, launch, layout, parameters)
        alive = None if batch.present.all() else batch.present.copy()
        start = Group(0, np.arange(batch.warps), alive, registers)
        yield Scheduler(program, batch, launch.limit, chance), start


def _global(layout: Layout, memory: GlobalMemory, launch: Launch) -> SpaceMemory:
    """Global memory with the module's variables at their addresses."""
    arena = memory.arena
    for offset, initial in layout.globals.values():
        place = slice(FIRST_BYTE + offset, FIRST_BYTE + offset + len(initial))
        arena.data[place] = np.frombuffer(initial, np.uint8)
        arena.shadow[place] = WRITTEN
    grain = layout.grain(Space.GLOBAL)
    tracker = None
    if Check.RACES in launch.checks and layout.writes_global:
        across = not layout.fences_across or grid_wide(launch, layout)
        width = _participants(launch, layout)
        tracker = Tracker(arena.size_bytes // grain, width, per_warp_reads=False, across=across)
    return SpaceMemory("global", arena, GLOBAL_BASE, arena.size_bytes, None, tracker, grain)


def _columns(launch: Launch, layout: Layout) -> Columns:
    return Columns(launch.ctas_per_cluster, launch.warps_per_cta) if layout.engines else Columns()


def _participants(launch: Launch, layout: Layout) -> int:
    """Warps and engines of the CTAs that know of each other."""
    return _acquainted(launch, layout) * launch.warps_per_cta + _columns(launch, layout).count


def _acquainted(launch: Launch, layout: Layout) -> int:
    """How many CTAs have clocks of each other: those of a cluster, or all."""
    return launch.ctas if grid_wide(launch, layout) else launch.ctas_per_cluster


def grid_wide(launch: Launch, layout: Layout) -> bool:
    """Whether the order of threads of different CTAs is kept: where fences make one, and the launch is small."""
    if not layout.fences_across or layout.engines or launch.ctas_per_cluster > 1 or launch.ctas == 1:
        return False
    warps = launch.ctas * launch.warps_per_cta
    cells = launch.ctas * layout.shared_bytes // layout.grain(Space.SHARED)
    return warps <= MOST_ACQUAINTED and cells * warps * 8 <= BYTES_PER_BATCH and warps * LANES <= LANES_PER_BATCH


def batches_of(launch: Launch, layout: Layout) -> Iterator[tuple[int, int]]:
    """(first CTA, CTAs) of each batch, as large as lanes and memory allow, the memory of the race tracker included."""
    lanes = launch.warps_per_cta * LANES
    per_cta = layout.shared_bytes + lanes * layout.local_bytes + 1
    if Check.RACES in launch.checks:
        if grid_wide(launch, layout):
            yield 0, launch.ctas
            return
        per_cta += layout.shared_bytes // layout.grain(Space.SHARED) * 8 * (_participants(launch, layout) + 1)
    clusters = min(LANES_PER_BATCH // lanes, BYTES_PER_BATCH // per_cta) // launch.ctas_per_cluster
    size = max(1, clusters) * launch.ctas_per_cluster
    for first in range(0, launch.ctas, size):
        yield first, min(size, launch.ctas - first)


def _batch(
    first: int, ctas: int, launch: Launch, layout: Layout, everywhere: SpaceMemory, journal: Journal, parameters: bytes
) -> Batch:
    warps_per_cta = launch.warps_per_cta
    warps = ctas * warps_per_cta
    inside = (np.arange(warps_per_cta * LANES) < launch.threads).reshape(warps_per_cta, LANES)
    existing = np.tile(inside, (ctas, 1))
    spaces = {"global": everywhere}
    if layout.shared_bytes:
        width = _participants(launch, layout) if Check.RACES in launch.checks else 0
        spaces["shared"] = _shared(layout, ctas, warps_per_cta, width)
    if layout.local_bytes:
        stride = -(-layout.local_bytes // 16) * 16
        offsets = np.arange(warps * LANES).reshape(warps, LANES) * stride
        spaces["local"] = SpaceMemory("local", Arena(warps * LANES * stride, 1), 0, layout.local_bytes, offsets)
    for name, content in (("const", layout.const_bytes), ("param", parameters)):
        if content:
            spaces[name] = _constant(name, content)
    for name in ("shared", "local", "const", "param"):
        spaces.setdefault(name, SpaceMemory(name, Arena(16), 0, 0))
    columns = _columns(launch, layout)
    clocks = Clocks(ctas, warps_per_cta, _acquainted(launch, layout), columns.count, fences=layout.fences)
    flags = Flags(clocks, launch.ctas_per_cluster) if layout.fences else None
    return Batch(
        first, ctas, warps_per_cta, existing, existing.copy(), spaces, journal, clocks, flags=flags,
        cluster=launch.ctas_per_cluster, engines=Engines(columns),
    )  # fmt: skip


def _constant(name: str, content: bytes) -> SpaceMemory:
    arena = Arena(len(content))
    arena.data[: len(content)] = np.frombuffer(content, np.uint8)
    arena.shadow[: len(content)] = WRITTEN
    return SpaceMemory(name, arena, 0, len(content))


def _shared(layout: Layout, ctas: int, warps_per_cta: int, participants: int) -> SpaceMemory:
    stride = -(-layout.shared_bytes // 128) * 128
    arena = Arena(ctas * stride)
    for start, size in layout.shared_spans:
        arena.shadow.reshape(ctas, stride)[:, start : start + size] = 1
    offsets = np.repeat(np.arange(ctas) * stride, warps_per_cta)
    grain = layout.grain(Space.SHARED)
    tracker = Tracker(arena.size_bytes // grain, participants, per_warp_reads=True) if participants else None
    return SpaceMemory("shared", arena, layout.shared_base, layout.shared_bytes, offsets, tracker, grain, stride)


def _registers(program: Program, batch: Batch, launch: Launch, layout: Layout, parameters: bytes) -> list[Any]:
    bank = program.bank
    registers: list[Any] = [None] * len(bank.dtypes)
    for place, value in bank.initial.items():
        registers[place] = value
    for name, place in bank.specials.items():
        registers[place] = special_values(name, batch, launch, layout).astype(bank.dtypes[place])
    if bank.rank_place is not None:
        ranks = np.arange(batch.warps)[:, None] // batch.warps_per_cta % batch.cluster
        registers[bank.rank_place] = (ranks if batch.cluster > 1 else ranks[:1]) << RANK_SHIFT
    for place, (offset, dtype) in bank.parameters.items():
        registers[place] = np.frombuffer(parameters, dtype, 1, offset).reshape(1, 1)
    for flag in program.doubtful.values():
        registers[flag] = np.zeros((1, 1), np.bool_)
    return registers
