"""Loads and stores: where a lane's access goes, and whether it may."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import define, evolve, frozen

from ptxgen.ir import Address, Int, Register
from ptxgen.simulate.asynchronous.clusters import reach
from ptxgen.simulate.batch import Batch, SpaceMemory
from ptxgen.simulate.flags import Strength, strength_of
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.journal import Check
from ptxgen.simulate.memory import (
    CONST_WINDOW,
    LOCAL_WINDOW,
    PARAMETER_WINDOW,
    RANK_MASK,
    RANK_SHIFT,
    SHARED_WINDOW,
    WINDOW_BYTES,
)  # fmt: skip
from ptxgen.simulate.races import SITES, Conflict, Touches
from ptxgen.simulate.site import Array, Reader, Site, storage_dtype
from ptxgen.simulate.traffic import GlobalTraffic, SharedTraffic, count_global, count_shared

WINDOWS = (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW), ("const", CONST_WINDOW), ("param", PARAMETER_WINDOW))


@frozen(eq=False)
class Request:
    """An access as decoded: `space` None is generic; `width_bytes` per lane, all parts of a vector together.

    `strong` accesses (volatile, relaxed, acquire, release, atomic) do not race with each other; `remote` ones may go
    to shared memory of other CTAs of the cluster. `strength` tells what a strong one orders.
    """

    index: int
    space: str | None
    width_bytes: int
    address: Callable[[list[Any]], Array]
    guard: Reader | None
    strong: bool
    remote: bool = False
    strength: Strength | None = None


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
    strength = strength_of(site.opcode, words)
    remote = space is None or space == "shared::cluster"
    if space is not None:
        space = "local" if space.startswith("param") else space.partition("::")[0]
    return Request(site.index, space, width_bytes, address_reader(site, operand), site.guard(),
                   strength is not None, remote, strength)  # fmt: skip


def address_reader(site: Site, operand: int) -> Callable[[list[Any]], Array]:
    """The byte address of a memory operand as int64."""
    address = site.operands[operand]
    if not isinstance(address, Address):
        raise site.unsupported("an address that is none")
    if isinstance(address.base, Register):
        place, offset = site.bank.place_of(address.base), address.offset
        if storage_dtype(address.base.type).itemsize < 8:
            return lambda r: r[place].astype(np.int64) + offset
        return (lambda r: r[place].view(np.int64) + offset) if offset else (lambda r: r[place].view(np.int64))
    base = address.base
    if not isinstance(base, Int) and base.name in site.bank.stacked:
        frame, place = site.bank.frame(), site.symbol(base.name) + base.offset + address.offset
        return lambda r: r[frame] + place
    if not isinstance(base, Int) and base.name in site.bank.ranked:
        rank, place = site.bank.rank(), site.symbol(base.name) + base.offset + address.offset
        return lambda r: r[rank] + place
    start = base.value if isinstance(base, Int) else site.symbol(base.name) + base.offset
    constant = site.bank.constant(start + address.offset, np.int64)
    return lambda r: r[constant]


def targets(request: Request, group: Group, batch: Batch, *, reads: bool) -> Iterator[Target]:
    """The parts of a request, one per space, with the lanes that may not go there taken out and reported."""
    guard = request.guard(group.registers) if request.guard is not None else None
    mask = group.active(guard)
    if mask is not None and not mask.any():
        return
    addresses = np.broadcast_to(request.address(group.registers), group.shape)
    if request.space is not None:
        yield _checked(_Attempt(request, group, batch, batch.spaces[request.space], addresses, mask), reads)
        return
    rest = mask
    for name, window in WINDOWS:
        inside = (addresses >= window) & (addresses < window + WINDOW_BYTES)
        if inside.any():
            part = inside if mask is None else inside & mask
            rest = ~inside if rest is None else rest & ~inside
            if part.any() and name in batch.spaces:
                memory = batch.spaces[name]
                yield _checked(_Attempt(request, group, batch, memory, addresses - window, part), reads)
    if rest is None or rest.any():
        yield _checked(_Attempt(request, group, batch, batch.spaces["global"], addresses, rest), reads)


def located(request: Request, group: Group, batch: Batch) -> Target:
    """Where in shared memory a request's lanes go, those that may not taken out and reported; its bytes are not looked
    at. A generic address must lie in the shared window.
    """
    mask = group.active(request.guard(group.registers) if request.guard is not None else None)
    addresses = np.broadcast_to(request.address(group.registers), group.shape)
    if request.space is None:
        addresses = addresses - SHARED_WINDOW
    attempt = _Attempt(request, group, batch, batch.spaces["shared"], addresses, mask)
    index = attempt.arena_index()
    attempt.drop(attempt.memory.arena.lacks_allocated(index, request.width_bytes), "memory.bounds",
                 f"touches {request.width_bytes} bytes outside every allocation of shared memory")  # fmt: skip
    return Target(attempt.memory, index, attempt.addresses, attempt.mask)


@define(eq=False)
class _Attempt:
    """A request on its way into one space: `addresses` of the space [warps, 32] and the lanes still going there."""

    request: Request
    group: Group
    batch: Batch
    memory: SpaceMemory
    addresses: Array
    mask: Array | None

    def drop(self, bad: Array, code: str, what: str) -> None:
        """Report the lanes that are `bad` and leave them out."""
        if not bad.any():
            return
        if self.mask is not None:
            bad = bad & self.mask
            if not bad.any():
                return
        row, lane = map(int, np.argwhere(bad)[0])
        address = int(self.addresses[row, lane])
        self.batch.journal.fault(
            code,
            self.request.index,
            lambda: f"{what}, at {address:#x}",
            thread=self.batch.thread(self.group, row, lane),
            address=address,
            count=int(bad.sum()),
        )
        self.mask = ~bad if self.mask is None else self.mask & ~bad

    def arena_index(self) -> Array:
        """The byte index of each lane's access in the arena; lanes outside the space or misaligned are dropped."""
        memory = self.memory
        if memory.stride and self.batch.cluster > 1:
            return self._index_in_cluster()
        index = self.addresses - memory.base if memory.base else self.addresses
        self._check(index)
        if self.mask is not None:
            index = np.where(self.mask, index, 0)
        if memory.offsets is None:
            return index
        offsets = memory.offsets[self.group.warps]
        return index + (offsets[:, None] if offsets.ndim == 1 else offsets)

    def _index_in_cluster(self) -> Array:
        memory, batch, warps = self.memory, self.batch, self.group.warps[:, None]
        rank = self.addresses >> RANK_SHIFT
        own = warps // batch.warps_per_cta % batch.cluster
        if not self.request.remote:
            what = "touches shared memory of another CTA of its cluster, which .shared::cta does not reach"
            self.drop((rank != own) & (rank != 0), "memory.bounds", what)
            rank = np.broadcast_to(own, rank.shape)
        cluster = f"touches shared memory of a CTA that its cluster of {batch.cluster} does not have"
        self.drop((rank < 0) | (rank >= batch.cluster), "memory.bounds", cluster)
        index = (self.addresses & RANK_MASK) - memory.base
        self._check(index)
        far = rank != own
        if self.mask is not None:
            index, far = np.where(self.mask, index, 0), far & self.mask
            rank = np.where(self.mask, rank, own)
        if far.any():
            reach(batch, self.request.index, self.group, rank, far)
        placed: Array = index + (warps // batch.warps_per_cta - own + rank) * memory.stride
        return placed

    def _check(self, index: Array) -> None:
        memory, width = self.memory, self.request.width_bytes
        if width > 1:
            what = f"touches {width} bytes of {memory.name} memory at an address that is no multiple of {width}"
            self.drop((index & (width - 1)) != 0, "memory.misaligned", what)
        last = memory.size_bytes - width
        outside = index.view(np.uint64) > np.uint64(last) if last >= 0 else np.ones(index.shape, np.bool_)
        self.drop(outside, "memory.bounds", f"touches {width} bytes outside {memory.name} memory")


def _checked(attempt: _Attempt, reads: bool) -> Target:
    index = attempt.arena_index()
    memory, width, journal = attempt.memory, attempt.request.width_bytes, attempt.batch.journal
    lacking = memory.arena.lacks_written(index, width) if reads else None
    if lacking is None or lacking.any():
        unallocated = memory.arena.lacks_allocated(index, width)
        what = f"touches {width} bytes outside every allocation of {memory.name} memory"
        attempt.drop(unallocated, "memory.bounds", what)
        if lacking is not None and memory.arena.owed:
            owed = memory.arena.owes(index, width)
            what = f"reads {width} bytes of {memory.name} memory that a copy under way has not delivered"
            going = attempt.mask
            attempt.drop(owed, f"async.{memory.name}", what)
            attempt.mask = going
            lacking = lacking & ~owed
        if lacking is not None and memory.arena.objects:
            lacking = lacking & ~_objects(attempt, index, "reads")
        if lacking is not None and Check.UNINITIALISED_MEMORY in journal.checks:
            going = attempt.mask
            what = f"reads {width} bytes of {memory.name} memory, not all of them written by anything"
            attempt.drop(lacking & ~unallocated, f"uninitialised.{memory.name}", what)
            attempt.mask = going
    if not reads and memory.arena.owed:
        what = f"writes {width} bytes of {memory.name} memory that a copy under way is to write"
        attempt.drop(memory.arena.owes(index, width), f"async.{memory.name}", what)
    if not reads and memory.arena.objects:
        _objects(attempt, index, "writes")
    if Check.TRAFFIC in journal.checks:
        _count(attempt.request, attempt.batch, memory, index, attempt.addresses, attempt.mask)
    return Target(memory, index, attempt.addresses, attempt.mask)


def _objects(attempt: _Attempt, index: Array, verb: str) -> Array:
    """Report the lanes whose access touches an mbarrier."""
    hits = attempt.memory.arena.holds_object(index, attempt.request.width_bytes)
    going = attempt.mask
    attempt.drop(hits, "mbarrier.access", f"{verb} bytes of an mbarrier, which only mbarrier instructions may")
    attempt.mask = going
    return hits


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
    if request.strength is not None and request.strength.releases and batch.lateness is not None:
        batch.lateness.show(touches.warps)
    if request.strength is not None and batch.flags is not None:
        batch.flags.exchange(target.memory.name, touches.cells, touches.warps, request.strength)


def watch_delivery(
    batch: Batch, site: int, threads: tuple[Array, Array], index: Array, values: Array, epochs: Array | None = None
) -> None:
    """Judge what copies deliver to shared memory now as stores of the threads (warps, lanes) whose copies they are.

    `index` are byte places in the arena, `values` the bytes [lanes, size]. The stores are of the threads' `epochs`, by
    default of now.
    """
    memory = batch.spaces["shared"]
    if memory.tracker is None:
        return
    width = values.shape[1]
    touches, whole = _flat(batch, memory, index, threads, width, site, False)
    if epochs is not None:
        touches = evolve(touches, epochs=np.repeat(epochs, whole))
    spread = np.repeat(values, whole, axis=0) if whole > 1 else values
    request = Request(site, "shared", width, lambda r: index, None, False)
    for conflict in memory.tracker.store(touches, batch.clocks, spread):
        _report(request, batch, Target(memory, index, index, None), touches, conflict, True)


def _touches(request: Request, group: Group, batch: Batch, target: Target) -> tuple[Touches, int]:
    """The accesses lane by lane, and how many cells each covers."""
    memory, mask = target.memory, target.mask
    if mask is None:
        warps, lanes, threads = batch.whole_warps(group.warps)
        if request.width_bytes == memory.cell_bytes:
            cells = target.index.ravel() // memory.cell_bytes
            return Touches(cells, warps, lanes, threads, request.index, request.strong), 1
        index = target.index.ravel()
    else:
        rows, lanes = np.nonzero(mask)
        index, warps = target.index[mask], group.warps[rows]
    return _flat(batch, memory, index, (warps, lanes), request.width_bytes, request.index, request.strong)


def _flat(
    batch: Batch, memory: SpaceMemory, index: Array, threads: tuple[Array, Array], width_bytes: int, site: int,
    strong: bool,
) -> tuple[Touches, int]:  # fmt: skip
    warps, lanes = threads
    cells = index // memory.cell_bytes
    whole = max(1, width_bytes // memory.cell_bytes)
    if whole > 1:
        cells = (cells[:, None] + np.arange(whole)).ravel()
        warps, lanes = np.repeat(warps, whole), np.repeat(lanes, whole)
    return Touches(cells, warps, lanes, batch.participants(warps, lanes), site, strong), whole


def _report(request: Request, batch: Batch, target: Target, touches: Touches, conflict: Conflict, writes: bool) -> None:
    memory = target.memory
    at = int(conflict.at[0])
    warp = int(touches.warps[at])
    offset = 0
    if memory.offsets is not None:
        offset = int(memory.offsets[warp] if memory.offsets.ndim == 1 else memory.offsets[warp, int(touches.lanes[at])])
    address = int(touches.cells[at]) * memory.cell_bytes - offset + memory.base
    verb = "writes" if writes else "reads"
    past = "wrote" if conflict.earlier == "write" else "read"
    other = f"which {batch.told(conflict.thread)} {past}, with nothing that orders the two"
    batch.journal.fault(
        f"race.{memory.name}",
        request.index,
        lambda: f"{verb} {memory.name} memory at {address:#x}, {other}",
        thread=batch.first_thread + warp * LANES + int(touches.lanes[at]),
        address=address,
        count=len(conflict.at),
        related=conflict.site if len(batch.journal.instructions) <= SITES else None,
    )
