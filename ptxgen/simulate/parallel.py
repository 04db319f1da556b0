"""Batches of CTAs that do not communicate, run side by side by an executor of processes or threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from ptxgen.ir import Special
from ptxgen.simulate.journal import Check, Fault, Journal
from ptxgen.simulate.launch import Launch, batches_of, journal_of, sessions
from ptxgen.simulate.layout import Layout
from ptxgen.simulate.memory import WRITTEN, Arena, GlobalMemory
from ptxgen.simulate.program import Program
from ptxgen.simulate.specials import CLOCKS
from ptxgen.simulate.traffic import GlobalTraffic, SharedTraffic

Array: TypeAlias = NDArray[Any]
Decode: TypeAlias = Callable[[], tuple[Program, Layout]]


@frozen(eq=False)
class Part:
    """What a worker is given: how to decode the kernel, global memory as it stands, and which batches to run."""

    decode: Decode
    data: Array
    shadow: Array
    parameters: bytes
    launch: Launch
    first: int
    stop: int


@frozen(eq=False)
class Done:
    """What a worker hands back: the cells of global memory that it wrote and read, its memory, and its journal."""

    written: Array
    read: Array
    data: Array
    journal: Journal


def run_apart(
    decode: Decode, layout: Layout, program: Program, memory: GlobalMemory, parameters: bytes, launch: Launch,
    executor: Executor,
) -> Journal | None:  # fmt: skip
    """As `launch.run`, by an executor; None, and nothing done, where the CTAs may communicate, so that one process has
    to run them in order.

    They do not if no cell of global memory that one worker wrote was touched by another. A random order, a limit, a
    heap, clocks, fences that order CTAs and launches of one batch are left to one process from the start. What is found
    and counted is the same.
    """
    batches = list(batches_of(launch, layout))
    if len(batches) < 2 or not _apart(layout, program, launch):
        return None
    watched = evolve(launch, checks=launch.checks | {Check.RACES})
    arena = memory.arena
    parts = [
        Part(decode, arena.data, arena.shadow, parameters, watched, first, stop)
        for first, stop in _shares(len(batches), os.cpu_count() or 1)
    ]
    done = list(executor.map(work, parts))
    if _overlap(done):
        return None
    grain = arena.size_bytes // len(done[0].written) if len(done[0].written) else 1
    for each in done:
        cells = np.flatnonzero(each.written)
        arena.data.reshape(-1, grain)[cells] = each.data.reshape(-1, grain)[cells]
        arena.shadow.reshape(-1, grain)[cells] = WRITTEN
    journal = journal_of(program, launch)
    for each in done:
        _join(journal, each.journal)
    return journal


def _apart(layout: Layout, program: Program, launch: Launch) -> bool:
    if launch.seed is not None or launch.limit is not None or layout.heap_bytes or layout.fences_across:
        return False
    operands = (operand for instruction in program.instructions for operand in instruction.operands)
    return not any(isinstance(each, Special) and each.name in CLOCKS for each in operands)


def _shares(count: int, workers: int) -> list[tuple[int, int]]:
    """`count` batches in runs of nearly equal length."""
    ends = [count * number // min(workers, count) for number in range(min(workers, count) + 1)]
    return list(pairwise(ends))


def work(part: Part) -> Done:
    """Run the batches of a part on a copy of global memory."""
    program, layout = part.decode()
    arena = Arena(len(part.data))
    arena.data[:], arena.shadow[:] = part.data, part.shadow
    journal = journal_of(program, part.launch)
    memory = GlobalMemory(arena)
    written = read = np.zeros(0, np.bool_)
    with np.errstate(all="ignore"):
        for scheduler, start in sessions(
            program, layout, memory, part.parameters, part.launch, journal, slice(part.first, part.stop)
        ):
            scheduler.run(start)
            tracker = scheduler.batch.spaces["global"].tracker
            if tracker is not None:
                written, read = tracker.writer != 0, (tracker.last_reader != 0)
    return Done(written, read, arena.data, journal)


def _overlap(done: Sequence[Done]) -> bool:
    """Whether some worker touched what another wrote."""
    if not len(done[0].written):
        return False
    writers = np.add.reduce([each.written.astype(np.int16) for each in done])
    touched = np.add.reduce([(each.written | each.read).astype(np.int16) for each in done])
    return bool(((writers > 0) & (touched > 1)).any())


def _join(journal: Journal, other: Journal) -> None:
    """Add what another journal holds, as if it had gone on where this one ended."""
    journal.warps += other.warps
    journal.lanes += other.lanes
    journal.scheduled += other.scheduled
    journal.printed += other.printed
    for index, shared in other.shared.items():
        own = journal.shared.setdefault(index, SharedTraffic())
        own.requests += shared.requests
        own.passes += shared.passes
        own.least += shared.least
        own.worst = max(own.worst, shared.worst)
    for index, traffic in other.global_.items():
        whole = journal.global_.setdefault(index, GlobalTraffic())
        whole.requests += traffic.requests
        whole.sectors += traffic.sectors
        whole.bytes += traffic.bytes
    for key, fault in other.faults.items():
        if Check.RACES in journal.checks or not key[0].startswith("race."):
            journal.faults[key] = _counted(journal.faults.get(key), fault)


def _counted(known: Fault | None, fault: Fault) -> Fault:
    return fault if known is None else evolve(known, count=known.count + fault.count)
