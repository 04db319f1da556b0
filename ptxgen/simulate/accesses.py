"""Loads and stores: where a lane's access goes, and whether it may."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import frozen

from ptxgen.ir import Address, Int, Register, SymbolAddress
from ptxgen.simulate.batch import Batch, SpaceMemory
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.journal import Check
from ptxgen.simulate.memory import (
    CONST_WINDOW, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES,
)  # fmt: skip
from ptxgen.simulate.races import Conflict, Touches
from ptxgen.simulate.site import Array, Reader, Site, storage_dtype
from ptxgen.simulate.traffic import GlobalTraffic, SharedTraffic, count_global, count_shared

_WINDOWS = (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW), ("const", CONST_WINDOW))


@frozen(eq=False)
class Request:
    """An access as decoded: `space` None is generic; `width_bytes` per lane, all parts of a vector together.

    `strong` accesses (volatile, relaxed, acquire, release, atomic) do not race with each other.
    """

    index: int
    space: str | None
    width_bytes: int
    address: Callable[[list[Any]], Array]
    guard: Reader | None
    strong: bool


@frozen(eq=False)
class Target:
    """Where a request goes in one space: byte indices into its arena and addresses [warps, 32], and which lanes."""

    memory: SpaceMemory
    index: Array
    addresses: Array
    mask: Array | None


def request_of(site: Site, operand: int, width_bytes: int) -> Request:
    """The request of a load or store whose address stands at `operand`."""
    words = site.instruction.form.words
    space = words.get("space")
    strong = site.has("volatile", "relaxed", "acquire", "release", "mmio")
    if space is not None:
        space = space.partition("::")[0]
    return Request(site.index, space, width_bytes, address_reader(site, operand), site.guard(), strong)


def address_reader(site: Site, operand: int) -> Callable[[list[Any]], Array]:
    """The byte address of a memory operand as int64."""
    address = site.operands[operand]
    if not isinstance(address, Address):
        raise site.unsupported("an address that is none")
    match address.base:
        case Register() as register:
            place, offset = site.bank.place_of(register), address.offset
            wide = storage_dtype(register.type).itemsize == 8
            if wide:
                return (lambda r: r[place].view(np.int64) + offset) if offset else (lambda r: r[place].view(np.int64))
            return lambda r: r[place].astype(np.int64) + offset
        case SymbolAddress(name=name):
            fixed = site.symbol(name) + address.base.offset + address.offset
        case Int(value=value):
            fixed = value + address.offset
    constant = site.bank.constant(fixed, np.int64)
    return lambda r: r[constant]


def targets(request: Request, group: Group, batch: Batch, *, writes: bool, reads: bool) -> Iterator[Target]:
    """The parts of a request, one per space, with the lanes that may not go there taken out and reported."""
    guard = request.guard(group.registers) if request.guard is not None else None
    mask = group.active(guard)
    if mask is not None and not mask.any():
        return
    addresses = np.broadcast_to(request.address(group.registers), group.shape)
    if request.space is not None:
        yield _checked(request, group, batch, batch.spaces[request.space], addresses, mask, writes, reads)
        return
    rest = mask
    for name, window in _WINDOWS:
        inside = (addresses >= window) & (addresses < window + WINDOW_BYTES)
        if inside.any():
            part = inside if mask is None else inside & mask
            rest = ~inside if rest is None else rest & ~inside
            if part.any() and name in batch.spaces:
                memory = batch.spaces[name]
                yield _checked(request, group, batch, memory, addresses - window, part, writes, reads)
    if rest is None or rest.any():
        yield _checked(request, group, batch, batch.spaces["global"], addresses, rest, writes, reads)


def _checked(
    request: Request, group: Group, batch: Batch, memory: SpaceMemory, addresses: Array, mask: Array | None,
    writes: bool, reads: bool,
) -> Target:  # fmt: skip
    width = request.width_bytes
    index = addresses - memory.base if memory.base else addresses
    outside = index.view(np.uint64) > np.uint64(max(memory.size_bytes - width, 0))
    if memory.size_bytes < width:
        outside = np.ones_like(outside)
    verb = "writes" if writes else "reads"
    mask = _without(outside, mask, request, group, batch, addresses, "memory.bounds",
                    f"{verb} {width} bytes outside {memory.name} memory")  # fmt: skip
    if width > 1:
        mask = _without((index & (width - 1)) != 0, mask, request, group, batch, addresses, "memory.misaligned",
                        f"{verb} {width} bytes of {memory.name} memory at an address that is no multiple of {width}")  # fmt: skip
    if mask is not None:
        index = np.where(mask, index, 0)
    if memory.offsets is not None:
        index = index + (memory.offsets[group.warps][:, None] if memory.offsets.ndim == 1 else memory.offsets[group.warps])
    mask = _shadowed(request, group, batch, memory, index, addresses, mask, verb, reads)
    if Check.TRAFFIC in batch.journal.checks:
        _count(request, batch, memory, index, addresses, mask)
    return Target(memory, index, addresses, mask)


def _shadowed(
    request: Request, group: Group, batch: Batch, memory: SpaceMemory, index: Array, addresses: Array,
    mask: Array | None, verb: str, reads: bool,
) -> Array | None:  # fmt: skip
    width = request.width_bytes
    if reads:
        lacking = memory.arena.lacks_written(index, width)
        if not lacking.any():
            return mask
    unallocated = memory.arena.lacks_allocated(index, width)
    mask = _without(unallocated, mask, request, group, batch, addresses, "memory.bounds",
                    f"{verb} {width} bytes outside every allocation of {memory.name} memory")  # fmt: skip
    if reads and Check.UNINITIALISED_MEMORY in batch.journal.checks:
        lacking = memory.arena.lacks_written(index, width) & ~unallocated
        code = f"uninitialised.{memory.name}"
        _without(lacking, mask, request, group, batch, addresses, code,
                 f"reads {width} bytes of {memory.name} memory that nothing wrote")  # fmt: skip
    return mask


def _without(
    bad: Array, mask: Array | None, request: Request, group: Group, batch: Batch, addresses: Array, code: str, what: str
) -> Array | None:
    """The mask without the bad lanes, which are reported."""
    if not bad.any():
        return mask
    if mask is not None:
        bad = bad & mask
        if not bad.any():
            return mask
    row, lane = map(int, np.argwhere(bad)[0])
    address = int(addresses[row, lane])
    batch.journal.fault(
        code, request.index, lambda: f"{what}, at {address:#x}", thread=batch.thread(group, row, lane),
        address=address, count=int(bad.sum()),
    )  # fmt: skip
    return ~bad if mask is None else mask & ~bad


def _count(
    request: Request, batch: Batch, memory: SpaceMemory, index: Array, addresses: Array, mask: Array | None
) -> None:
    journal = batch.journal
    if memory.name == "shared":
        count_shared(journal.shared.setdefault(request.index, SharedTraffic()), index, mask, request.width_bytes)
    elif memory.name == "global":
        count_global(journal.global_.setdefault(request.index, GlobalTraffic()), addresses, mask, request.width_bytes)


def watch(request: Request, group: Group, batch: Batch, target: Target, values: Array | None, *, writes: bool) -> None:
    """Judge an access against the others by happens-before; `values` [lanes, ...] are what a plain store writes."""
    tracker = target.memory.tracker
    if tracker is None:
        return
    touches, whole = _touches(request, group, batch, target)
    if not len(touches.cells):
        return
    if writes:
        spread = np.repeat(values, whole, axis=0) if values is not None and whole > 1 else values
        found = tracker.store(touches, batch.clocks, spread)
    else:
        found = tracker.load(touches, batch.clocks)
    for conflict in found:
        _report(request, batch, target, touches, conflict, writes)


def _touches(request: Request, group: Group, batch: Batch, target: Target) -> tuple[Touches, int]:
    """The accesses lane by lane, and how many cells each covers."""
    memory = target.memory
    lanes = np.broadcast_to(np.arange(LANES), group.shape)
    warps = np.broadcast_to(group.warps[:, None], group.shape)
    if target.mask is None:
        index, warps, lanes = target.index.ravel(), warps.ravel(), lanes.ravel()
    else:
        index, warps, lanes = target.index[target.mask], warps[target.mask], lanes[target.mask]
    cells = index // memory.cell_bytes
    whole = max(1, request.width_bytes // memory.cell_bytes)
    if whole > 1:
        cells = (cells[:, None] + np.arange(whole)).ravel()
        warps, lanes = np.repeat(warps, whole), np.repeat(lanes, whole)
    threads = warps * LANES + lanes + batch.first_thread
    return Touches(cells, warps, lanes, threads, request.index, request.strong), whole


def _report(
    request: Request, batch: Batch, target: Target, touches: Touches, conflict: Conflict, writes: bool
) -> None:
    memory = target.memory
    at = int(conflict.at[0])
    warp = int(touches.warps[at])
    offset = 0
    if memory.offsets is not None:
        offset = int(memory.offsets[warp] if memory.offsets.ndim == 1 else memory.offsets[warp, int(touches.lanes[at])])
    address = int(touches.cells[at]) * memory.cell_bytes - offset + memory.base
    cta, thread = batch.journal.place(conflict.thread)
    verb = "writes" if writes else "reads"
    past = "wrote" if conflict.earlier == "write" else "read"
    batch.journal.fault(
        f"race.{memory.name}", request.index,
        lambda: f"{verb} {memory.name} memory at {address:#x}, which thread {thread} of CTA {cta} {past}, with nothing "
        "that orders the two",
        thread=int(touches.threads[at]), address=address, count=len(conflict.at), related=conflict.site,
    )  # fmt: skip


