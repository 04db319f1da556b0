"""Run a kernel on the CPU."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isa.targets import Target
from isa.targets import target as target_named
from ptxgen.errors import LaunchError
from ptxgen.ir import Function, Module, Space
from ptxgen.simulate.arguments import Argument, bind
from ptxgen.simulate.batch import Batch, SpaceMemory
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.journal import ALL_CHECKS, Check, Journal
from ptxgen.simulate.layout import Layout, layout_of
from ptxgen.simulate.memory import GLOBAL_BASE, WRITTEN, Arena, GlobalMemory
from ptxgen.simulate.program import Program, decode
from ptxgen.simulate.races import Clocks, Tracker
from ptxgen.simulate.report import Count, Region, Report, Statement
from ptxgen.simulate.scheduler import Scheduler
from ptxgen.simulate.site import Bank
from ptxgen.simulate.specials import special_values
from ptxgen.simulate.traffic import GlobalTraffic, SharedTraffic

Array: TypeAlias = NDArray[Any]
Extents: TypeAlias = "int | Sequence[int]"

LANES_PER_BATCH = 32768
BYTES_PER_BATCH = 64 << 20


def simulate(
    module: Module,
    kernel: str | None = None,
    *,
    grid: Extents,
    block: Extents,
    args: Sequence[Argument] | Mapping[str, Argument] = (),
    shared_bytes: int = 0,
    target: Target | str | None = None,
    checks: frozenset[Check] = ALL_CHECKS,
    seed: int | None = None,
    limit: int | None = None,
) -> Report:
    """Run a kernel of `module` (the only one, or the one named) and report what was found and counted.

    `grid` and `block` are CTAs and threads as a number or up to three, x first. `args` stand in the order of the
    parameters or by name: a numpy array for a pointer, written in place like device memory; `(array, byte_offset)` for
    an address inside it; `unwritten(array)` where reading before writing is a fault; a number for a scalar; bytes for
    an array parameter. `shared_bytes` are dynamic shared memory. Tensor cores follow the numerics of `target`, by
    default the module's. `seed` replaces the order of the warps by a random one. LimitReached after more than `limit`
    warp- instructions.

    Raises KernelError naming every instruction that the simulator does not run, before anything ran, and
    LaunchError for arguments that do not fit. What goes wrong while it runs is in the report's findings.
    """
    function = _kernel(module, kernel)
    extents = _extents(grid, "grid"), _extents(block, "block")
    layout = layout_of(module, function, shared_bytes)
    memory, parameters = bind(function, args, layout.global_bytes)
    bank = Bank(dict(layout.symbols), parameters)
    _place_globals(layout, memory, bank)
    on = module.target if target is None else target_named(target) if isinstance(target, str) else target
    program = decode(function, on, bank, checks)
    with np.errstate(all="ignore"):
        journal = _run(program, layout, memory, extents[0], extents[1], checks, seed, limit)
    memory.copy_back()
    return _report(function, program, journal, extents[0], extents[1])


def _kernel(module: Module, name: str | None) -> Function:
    function = module.function(name)
    if function.body is None:
        raise LookupError(f"{function.name} is declared but has no body")
    return function


def _extents(given: Extents, what: str) -> tuple[int, int, int]:
    values = [int(given)] if isinstance(given, (int, np.integer)) else [int(each) for each in given]
    if not 1 <= len(values) <= 3 or any(each < 1 for each in values):
        raise LaunchError(f"{what} must be one to three positive numbers, got {given!r}")
    x, y, z = (*values, 1, 1)[:3]
    if what == "block" and x * y * z > 1024:
        raise LaunchError(f"a block has at most 1024 threads, got {x * y * z} ({given!r})")
    return x, y, z


def _place_globals(layout: Layout, memory: GlobalMemory, bank: Bank) -> None:
    """Give the module's global variables their addresses behind the arguments."""
    for name, (offset, initial) in layout.globals.items():
        start = memory.end + offset
        memory.arena.data[start : start + len(initial)] = np.frombuffer(initial, np.uint8)
        memory.arena.shadow[start : start + len(initial)] = WRITTEN
        bank.symbols[name] = GLOBAL_BASE + start


def _run(
    program: Program, layout: Layout, memory: GlobalMemory, grid: tuple[int, int, int], block: tuple[int, int, int],
    checks: frozenset[Check], seed: int | None, limit: int | None,
) -> Journal:  # fmt: skip
    threads = block[0] * block[1] * block[2]
    warps_per_cta = -(-threads // LANES)
    journal = Journal(program.flow.instructions, grid, block, warps_per_cta, checks)
    ctas = grid[0] * grid[1] * grid[2]
    races = Check.RACES in checks
    grain = layout.grain(Space.GLOBAL)
    tracker = None
    if races and layout.writes_global:
        across = not layout.fences_across
        tracker = Tracker(memory.arena.size_bytes // grain, warps_per_cta, per_warp_reads=False, across=across)
    everywhere = SpaceMemory("global", memory.arena, GLOBAL_BASE, memory.arena.size_bytes, None, tracker, grain)
    chance = random.Random(seed) if seed is not None else None
    for first, count in _batches(ctas, warps_per_cta, layout):
        batch = _batch(first, count, warps_per_cta, threads, layout, everywhere, journal, races)
        registers = _registers(program, batch, grid, block, layout)
        alive = None if batch.present.all() else batch.present.copy()
        start = Group(0, np.arange(batch.warps), alive, registers)
        Scheduler(program, batch, limit, chance).run(start)
    return journal


def _batches(ctas: int, warps_per_cta: int, layout: Layout) -> Iterator[tuple[int, int]]:
    """(first CTA, CTAs) of each batch, as large as lanes and memory allow."""
    per_cta = layout.shared_bytes + warps_per_cta * LANES * layout.local_bytes
    size = max(1, min(LANES_PER_BATCH // (warps_per_cta * LANES), BYTES_PER_BATCH // max(per_cta, 1)))
    for first in range(0, ctas, size):
        yield first, min(size, ctas - first)


def _batch(
    first: int, ctas: int, warps_per_cta: int, threads: int, layout: Layout, everywhere: SpaceMemory, journal: Journal,
    races: bool,
) -> Batch:  # fmt: skip
    warps = ctas * warps_per_cta
    inside = (np.arange(warps_per_cta * LANES) < threads).reshape(warps_per_cta, LANES)
    existing = np.tile(inside, (ctas, 1))
    spaces = {"global": everywhere}
    if layout.shared_bytes:
        spaces["shared"] = _shared(layout, ctas, warps_per_cta, races)
    if layout.local_bytes:
        stride = -(-layout.local_bytes // 16) * 16
        offsets = np.arange(warps * LANES).reshape(warps, LANES) * stride
        spaces["local"] = SpaceMemory("local", Arena(warps * LANES * stride, 1), 0, layout.local_bytes, offsets)
    if layout.const_bytes:
        constants = Arena(len(layout.const_bytes))
        constants.data[: len(layout.const_bytes)] = np.frombuffer(layout.const_bytes, np.uint8)
        constants.shadow[: len(layout.const_bytes)] = WRITTEN
        spaces["const"] = SpaceMemory("const", constants, 0, len(layout.const_bytes))
    for name in ("shared", "local", "const"):
        spaces.setdefault(name, SpaceMemory(name, Arena(16), 0, 0))
    clocks = Clocks(ctas, warps_per_cta)
    flags: dict[tuple[str, int, int], Array] | None = {} if layout.fences else None
    return Batch(first, ctas, warps_per_cta, existing, existing.copy(), spaces, journal, clocks, flags=flags)


def _shared(layout: Layout, ctas: int, warps_per_cta: int, races: bool) -> SpaceMemory:
    stride = -(-layout.shared_bytes // 128) * 128
    arena = Arena(ctas * stride)
    for start, size in layout.shared_spans:
        arena.shadow.reshape(ctas, stride)[:, start : start + size] = 1
    offsets = np.repeat(np.arange(ctas) * stride, warps_per_cta)
    grain = layout.grain(Space.SHARED)
    tracker = Tracker(arena.size_bytes // grain, warps_per_cta, per_warp_reads=True) if races else None
    return SpaceMemory("shared", arena, 0, layout.shared_bytes, offsets, tracker, grain)


def _registers(
    program: Program, batch: Batch, grid: tuple[int, int, int], block: tuple[int, int, int], layout: Layout
) -> list[Any]:
    bank = program.bank
    registers: list[Any] = [None] * len(bank.dtypes)
    for place, value in bank.initial.items():
        registers[place] = value
    for name, place in bank.specials.items():
        registers[place] = special_values(name, batch, grid, block, layout).astype(bank.dtypes[place])
    for flag in program.doubtful.values():
        registers[flag] = np.zeros((1, 1), np.bool_)
    return registers


def _report(
    function: Function, program: Program, journal: Journal, grid: tuple[int, int, int], block: tuple[int, int, int]
) -> Report:
    statements = tuple(
        Statement(
            index, instruction, Count(int(journal.warps[index]), int(journal.lanes[index])),
            journal.shared.get(index, SharedTraffic()), journal.global_.get(index, GlobalTraffic()),
        )
        for index, instruction in enumerate(journal.instructions)
    )  # fmt: skip
    blocks = tuple(
        Region(tuple(label.text for label in each.labels), statements[each.start : each.stop])
        for each in program.flow.blocks
    )
    loops = tuple(
        Region(
            blocks[loop.header].labels, tuple(s for number in sorted(loop.blocks) for s in blocks[number].statements)
        )
        for loop in program.loops
    )
    findings = tuple(sorted(journal.faults.values(), key=lambda fault: (fault.statement, fault.code)))
    return Report(function.name, grid, block, statements, blocks, loops, findings)
