"""Races by happens-before: vector clocks of warps, and who touched each cell of memory last.

A cell is as wide as the narrowest access of the kernel to its space. Accesses of different lanes are ordered by
barriers of the CTA and, within a warp, by `bar.warp.sync`; not by shuffles or by running in step.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

_CLOCK_SHIFT, _SITE_SHIFT, _ATOMIC_BIT = 45, 29, np.int64(1) << 28
_SITE_MASK, _THREAD_MASK = np.int64(0xFFFF), np.int64((1 << 28) - 1)
_READ_CLOCK_SHIFT, _SEVERAL = 32, 63
_LAST_CLOCK = np.int64((1 << 18) - 1)
SITES = 1 << 16


class Reach(Enum):
    """Whose accesses a fence or a strong access orders; the value is PTX's word."""

    CTA = "cta"
    CLUSTER = "cluster"
    ALL = "gpu"


class ProxySpace(Enum):
    """A space that proxy fences cover apart; its place in what they have covered."""

    SHARED = 0
    GLOBAL = 1


class Clocks:
    """What each warp of a batch knows of the participants of its cluster (of its CTA, where clusters have one).

    The columns of a row are the warps of the cluster, then its `engines`, which copy and multiply beside them. `own[w]`
    is the warp's epoch, from 1. `known[w, v]` is the last epoch of participant v whose accesses are ordered before what
    warp w does now; `known[w, itself]` counts for the other lanes of the warp. With engines a row has three more
    parts: `proxied`, what a proxy fence has covered of shared memory and of global memory, and `initialised`, what a
    fence of mbarrier initialisations has.
    """

    def __init__(
        self, ctas: int, warps_per_cta: int, cluster: int = 1, engines: int = 0, *, fences: bool = False
    ) -> None:
        warps = ctas * warps_per_cta
        self.ctas, self.warps_per_cta, self.warps_per_cluster = ctas, warps_per_cta, cluster * warps_per_cta
        self.width = self.warps_per_cluster + engines
        self.row = self.width * (4 if engines else 1)
        self.own = np.ones(warps, np.int64)
        self.state = np.zeros((warps, self.row), np.int64)
        self.known = self.state[:, : self.width]
        self.initialised = self.state[:, 3 * self.width :]
        self.column = np.arange(warps) % self.warps_per_cluster
        self.epochs = np.ones((ctas // cluster, engines), np.int64)
        fenced = warps if engines or fences else 0
        self._fenced = {wide: np.zeros((fenced, self.row), np.int64) for wide in (False, True)}
        self._unfenced = {wide: np.zeros((fenced, self.row), np.int64) for wide in (False, True)}

    def warp_barrier(self, warps: Array) -> None:
        """The lanes of each of these warps meet."""
        self.known[warps, self.column[warps]] = self.own[warps]
        self._step(warps)

    def barrier(self, warps: Array, arrived: Array | None = None) -> None:
        """These warps meet, CTA by CTA; `arrived` [ctas, row] is what warps that only arrived have released."""
        self.known[warps, self.column[warps]] = self.own[warps]
        table = np.zeros((self.ctas * self.warps_per_cta, self.row), np.int64)
        table[warps] = self.state[warps]
        joined = table.reshape(self.ctas, self.warps_per_cta, self.row).max(axis=1)
        if arrived is not None:
            joined = np.maximum(joined, arrived)
        self.state[warps] = joined[warps // self.warps_per_cta]
        self._step(warps)

    def release(self, warps: Array, *, relaxed: bool = False) -> Array:
        """What these warps know, their own epoch included, [warps, row]; their next accesses are later.

        A relaxed release gives what their last fence had covered, and the initialisations of mbarriers.
        """
        if relaxed and len(self._fenced[False]):
            rows = self._fenced[False][warps]
            rows[:, 3 * self.width :] = self.initialised[warps]
            return rows
        rows = self.state[warps]
        rows[np.arange(len(warps)), self.column[warps]] = self.own[warps]
        self._step(warps)
        return rows

    def _step(self, warps: Array) -> None:
        """Begin the next epoch; past the last one that a stamp can hold everything counts as ordered."""
        self.own[warps] = np.minimum(self.own[warps] + 1, _LAST_CLOCK)

    def acquire(self, warps: Array, rows: Array, *, relaxed: bool = False) -> None:
        """These warps learn what the rows say; of a relaxed acquire they do at their next fence."""
        if relaxed and len(self._unfenced[False]):
            self.await_fence(warps, rows, wide=False)
        else:
            self.state[warps] = np.maximum(self.state[warps], rows)

    def await_fence(self, warps: Array, rows: Array, *, wide: bool) -> None:
        """What the rows say is learnt at the next fence; where `wide`, at the next that reaches beyond the CTA."""
        pending = self._unfenced[wide]
        pending[warps] = np.maximum(pending[warps], rows)

    def handed_on(self, warps: Array, *, fenced: bool) -> tuple[Array, Array]:
        """What strong writes of these warps tell threads of their CTA, and all others: what they know now, or if
        `fenced` what their fences have covered.
        """
        if fenced:
            return self._fenced[False][warps], self._fenced[True][warps]
        rows = self.release(warps)
        return rows, rows

    def fence(self, warps: Array, *, wide: bool = True) -> None:
        """A fence of these warps: relaxed releases after it and relaxed acquires before it count, for all where it is
        `wide`, else within the CTA.
        """
        if not len(self._fenced[False]):
            return
        for reach in (False, True) if wide else (False,):
            self.state[warps] = np.maximum(self.state[warps], self._unfenced[reach][warps])
        rows = self.release(warps)
        for reach in (False, True) if wide else (False,):
            self._fenced[reach][warps] = rows

    def fence_proxies(self, warps: Array, spaces: Sequence[ProxySpace] = tuple(ProxySpace)) -> None:
        """What these warps know of these spaces, their own accesses included, is ordered before accesses through the
        async proxy.
        """
        known = self.release(warps)[:, : self.width]
        for space in spaces:
            part = self._proxied(space)
            part[warps] = np.maximum(part[warps], known)

    def _proxied(self, space: ProxySpace) -> Array:
        """What proxy fences have covered of a space, [warps, width]."""
        start = self.width * (1 + space.value)
        return self.state[:, start : start + self.width]

    def fence_initialisations(self, warps: Array) -> None:
        """The mbarriers that these warps know of are seen as initialised by whoever they meet, relaxed or not."""
        self.initialised[warps] = np.maximum(self.initialised[warps], self.release(warps)[:, : self.width])

    def engine_row(self, warp: int) -> tuple[Array, Array]:
        """What an operation that a lane of a warp issues now is ordered behind beside the lane's own accesses, [width],
        and of that what it may see of writes through the generic proxy, [spaces, width]: what a proxy fence has
        covered, and all that other operations have done.
        """
        known = self.known[warp].copy()
        seen = np.stack([self._proxied(space)[warp] for space in ProxySpace])
        seen[:, self.warps_per_cluster :] = known[self.warps_per_cluster :]
        return known, seen

    def engine_step(self, cluster: int, engine: int) -> int:
        """The epoch of an engine's next operation, each later than the one before."""
        epoch = int(self.epochs[cluster, engine])
        self.epochs[cluster, engine] = min(epoch + 1, int(_LAST_CLOCK))
        return epoch

    def learn(self, warps: Array, engine: int, epochs: Array | int) -> None:
        """These warps know that an engine's operations up to these epochs are complete."""
        column = self.warps_per_cluster + engine
        self.known[warps, column] = np.maximum(self.known[warps, column], epochs)


@frozen(eq=False)
class Touches:
    """Accesses of one instruction, lane by lane as flat arrays.

    `cells` are cell numbers, `warps` numbers within the batch, `threads` the participants' numbers within the grid,
    32 to a column of a cluster, `epochs` those of the accesses (None: of their warps now).
    """

    cells: Array
    warps: Array
    lanes: Array
    threads: Array
    site: int
    atomic: bool
    epochs: Array | None = None


@frozen(eq=False)
class EngineTouches:
    """Accesses of one operation of an engine: cells, the participant, its epoch and site, and what it is ordered
    behind, [width] each: `known`, and of writes through the generic proxy `seen`. It is ordered behind all that the
    participant `issuer` did up to the epoch `issued`.
    """

    cells: Array
    thread: int
    epoch: int
    site: int
    known: Array
    seen: Array
    issuer: int
    issued: int
    atomic: bool = False


@frozen(eq=False)
class Conflict:
    """Accesses that race with an earlier one: indices into the touches, the other's site and thread, what it was.

    `unfenced`: the two are ordered, but no fence is between them that orders the proxies they went through.
    """

    at: Array
    site: int
    thread: int
    earlier: str
    unfenced: bool = False


class Tracker:
    """The last writer of each cell of a space, and its readers.

    `width` is the number of participants of a cluster. Shared memory keeps every participant's last read of a cell;
    global memory the last two readers, which may miss a race and never invents one. Threads of other clusters are never
    ordered (`across` False leaves such pairs out). `latest` is the last epoch of any participant that read a cell of
    shared memory: where all know of it, nothing else is asked. `has_others` tells that a cell had two readers.
    """

    def __init__(self, cells: int, width: int, *, per_warp_reads: bool, across: bool = True) -> None:
        self.width, self.across, self.per_warp_reads = width, across, per_warp_reads
        self.writer = np.zeros(cells, np.int64)
        self.reads = np.zeros(cells * width if per_warp_reads else 0, np.int64)
        self.latest = np.zeros(cells if per_warp_reads else 0, np.int64)
        self.last_reader = np.zeros(0 if per_warp_reads else cells, np.int64)
        self.other_reader = np.zeros(0 if per_warp_reads else cells, np.int64)
        self.has_others = False

    def load(self, touches: Touches, clocks: Clocks) -> list[Conflict]:
        """Check reads against the last writes and remember them."""
        found = self._against(self.writer, touches, clocks, "write")
        if not self.per_warp_reads:
            self._remember_two(touches, self._stamps(touches, clocks))
        elif not touches.atomic:
            self._remember_by_warp(touches, clocks)
        return found

    def store(self, touches: Touches, clocks: Clocks, values: Array | None) -> list[Conflict]:
        """Check writes against the last writes and reads and remember them.

        `values` [lanes, ...] are what is stored: two lanes of a warp that store the same value in one instruction do
        not race. None for atomics, which are ordered among each other.
        """
        found = self._against(self.writer, touches, clocks, "write")
        if self.per_warp_reads:
            found += self._against_reads(touches, clocks)
        else:
            found += self._against(self.last_reader, touches, clocks, "read")
            if self.has_others:
                found += self._against(self.other_reader, touches, clocks, "read")
        stamp = self._stamps(touches, clocks)
        self.writer[touches.cells] = stamp
        if values is not None:
            found += self._within(touches, stamp, values)
        return found

    def engine_load(self, touches: EngineTouches) -> list[Conflict]:
        """Check an engine's reads against the last writes and remember them."""
        found = self._engine_against(self.writer, touches, "write")
        if self.per_warp_reads:
            place = touches.cells * self.width + (touches.thread >> 5) % self.width
            self.reads[place] = np.int64(touches.epoch) << _READ_CLOCK_SHIFT | np.int64(touches.site & 0xFFFF) << 8
            self.latest[touches.cells] = _LAST_CLOCK
        else:
            self._replace_reader(touches.cells, self._engine_stamp(touches), np.int64(touches.thread))
        return found

    def engine_store(self, touches: EngineTouches) -> list[Conflict]:
        """Check an engine's writes against the last writes and reads and remember them."""
        found = self._engine_against(self.writer, touches, "write")
        if self.per_warp_reads:
            found += self._engine_against_reads(touches)
        else:
            found += self._engine_against(self.last_reader, touches, "read")
            found += self._engine_against(self.other_reader, touches, "read")
        self.writer[touches.cells] = self._engine_stamp(touches)
        return found

    def _engine_stamp(self, touches: EngineTouches) -> np.int64:
        site = np.int64(touches.site) & _SITE_MASK
        mark = site << _SITE_SHIFT | (_ATOMIC_BIT if touches.atomic else np.int64(0))
        return np.int64(touches.epoch) << _CLOCK_SHIFT | mark | np.int64(touches.thread)

    def _engine_against(self, table: Array, touches: EngineTouches, earlier: str) -> list[Conflict]:
        before = table.take(touches.cells)
        clock = before >> _CLOCK_SHIFT
        if not clock.any():
            return []
        thread = before & _THREAD_MASK
        cluster, column = np.divmod(thread >> 5, self.width)
        near = cluster == (touches.thread >> 5) // self.width
        other = thread != touches.thread
        program = (thread == touches.issuer) & (clock <= touches.issued)
        racing = (clock > np.where(near, touches.known[column], 0)) & other & ~program
        if not self.across:
            racing &= near
        if touches.atomic:
            other = other & ((before & _ATOMIC_BIT) == 0)
            racing &= other
        found = self._conflicts(racing, before, earlier)
        if earlier == "write":
            unfenced = near & other & ~racing & (clock > touches.seen[column])
            found += [evolve(each, unfenced=True) for each in self._conflicts(unfenced, before, earlier)]
        return found

    def _engine_against_reads(self, touches: EngineTouches) -> list[Conflict]:
        table = self.reads.reshape(-1, self.width).take(touches.cells, axis=0)
        racing = (table >> _READ_CLOCK_SHIFT) > touches.known
        racing[:, (touches.thread >> 5) % self.width] = False
        own = (touches.issuer >> 5) % self.width
        alone = (table[:, own] & _SEVERAL) == (touches.issuer & 31)
        racing[:, own] &= ~(alone & ((table[:, own] >> _READ_CLOCK_SHIFT) <= touches.issued))
        at = np.flatnonzero(racing.any(axis=1))
        if not len(at):
            return []
        column = int(racing[at[0]].argmax())
        entry = int(table[at[0], column])
        lane = entry & _SEVERAL
        cluster = (touches.thread >> 5) // self.width
        thread = (cluster * self.width + column) * 32 + (lane if lane != _SEVERAL else 0)
        return [Conflict(at, (entry >> 8) & int(_SITE_MASK), thread, "read")]

    def _stamps(self, touches: Touches, clocks: Clocks) -> Array:
        site = np.int64(touches.site) & _SITE_MASK
        mark = site << _SITE_SHIFT | (_ATOMIC_BIT if touches.atomic else np.int64(0))
        if touches.epochs is None:
            stamps: Array = ((clocks.own << _CLOCK_SHIFT) | mark).take(touches.warps)
            stamps |= touches.threads
            return stamps
        given: Array = (touches.epochs << _CLOCK_SHIFT) | mark | touches.threads
        return given

    def _against(self, table: Array, touches: Touches, clocks: Clocks, earlier: str) -> list[Conflict]:
        before = table.take(touches.cells)
        if not before.any():
            return []
        clock = before >> _CLOCK_SHIFT
        if not clock.any() or (self.per_warp_reads and not _unknown_to_some(clock, touches, clocks).any()):
            return []
        thread = before & _THREAD_MASK
        if (thread == touches.threads).all():
            return []
        cta, column = np.divmod(thread >> 5, self.width)
        near = cta == (touches.threads >> 5) // self.width
        known = clocks.known[touches.warps, column]
        racing = (clock > np.where(near, known, 0)) & (thread != touches.threads)
        if not self.across:
            racing &= near
        if touches.atomic:
            racing &= (before & _ATOMIC_BIT) == 0
        return self._conflicts(racing, before, earlier)

    def _conflicts(self, racing: Array, before: Array, earlier: str) -> list[Conflict]:
        at = np.flatnonzero(racing)
        if not len(at):
            return []
        first = int(before[at[0]])
        site = (first >> _SITE_SHIFT) & int(_SITE_MASK)
        return [Conflict(at, site, first & int(_THREAD_MASK), earlier)]

    def _remember_two(self, touches: Touches, stamp: Array) -> None:
        self._replace_reader(touches.cells, stamp, touches.threads)

    def _replace_reader(self, cells: Array, stamp: Any, threads: Any) -> None:
        before = self.last_reader.take(cells)
        if before.any() and (changed := (before != 0) & ((before & _THREAD_MASK) != threads)).any():
            self.has_others = True
            self.other_reader[cells[changed]] = before[changed]
        self.last_reader[cells] = stamp

    def _remember_by_warp(self, touches: Touches, clocks: Clocks) -> None:
        place = touches.cells * self.width + clocks.column[touches.warps]
        own = clocks.own[touches.warps]
        if (own == own[0]).all():
            self.latest[touches.cells] = np.maximum(self.latest.take(touches.cells), own)
        else:
            np.maximum.at(self.latest, touches.cells, own)
        before = self.reads.take(place)
        again = (before >> _READ_CLOCK_SHIFT == own) & ((before & _SEVERAL) != touches.lanes)
        head = own << _READ_CLOCK_SHIFT | np.int64(touches.site) << 8
        self.reads[place] = head | np.where(again, np.int64(_SEVERAL), touches.lanes)
        left = self.reads.take(place) & _SEVERAL
        clash = (left != touches.lanes) & (left != _SEVERAL)
        if clash.any():
            self.reads[place[clash]] = head[clash] | np.int64(_SEVERAL)

    def _against_reads(self, touches: Touches, clocks: Clocks) -> list[Conflict]:
        if not _unknown_to_some(self.latest.take(touches.cells), touches, clocks).any():
            return []
        table = self.reads.reshape(-1, self.width).take(touches.cells, axis=0)
        if not table.any():
            return []
        racing = (table >> _READ_CLOCK_SHIFT) > clocks.known.take(touches.warps, axis=0)
        index = np.arange(len(touches.cells))
        column = clocks.column[touches.warps]
        racing[index, column] &= (table[index, column] & _SEVERAL) != touches.lanes
        at = np.flatnonzero(racing.any(axis=1))
        if not len(at):
            return []
        warp = int(racing[at[0]].argmax())
        entry = int(table[at[0], warp])
        lane = entry & _SEVERAL
        cta = int(touches.threads[at[0]] >> 5) // self.width
        thread = (cta * self.width + warp) * 32 + (lane if lane != _SEVERAL else 0)
        return [Conflict(at, (entry >> 8) & int(_SITE_MASK), thread, "read")]

    def _within(self, touches: Touches, stamp: Array, values: Array) -> list[Conflict]:
        """Two lanes that store to one cell in the same instruction."""
        left = self.writer.take(touches.cells)
        lost = np.flatnonzero(left != stamp)
        if not len(lost):
            return []
        order = np.argsort(touches.cells, kind="stable")
        last = order[np.searchsorted(touches.cells[order], touches.cells[lost], side="right") - 1]
        same_warp = touches.warps[last] == touches.warps[lost]
        differs = (values[last] != values[lost]).reshape(len(lost), -1).any(axis=1)
        racing = lost[differs | ~same_warp]
        if not len(racing):
            return []
        return [Conflict(racing, touches.site, int(left[racing[0]] & _THREAD_MASK), "write")]


def _unknown_to_some(epochs: Array, touches: Touches, clocks: Clocks) -> Array:
    """Whether an epoch is later than what the warp of a touch knows of the participant that it knows least of."""
    unknown: Array = epochs > clocks.known.min(axis=1).take(touches.warps)
    return unknown
