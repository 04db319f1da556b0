"""Races by happens-before: vector clocks of warps, and who touched each cell of memory last.

A cell is as wide as the narrowest access of the kernel to its space. Accesses of different lanes are ordered by
barriers of the CTA and, within a warp, by `bar.warp.sync`; not by shuffles or by running in step.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

_CLOCK_SHIFT, _SITE_SHIFT, _ATOMIC_BIT = 45, 29, np.int64(1) << 28
_SITE_MASK, _THREAD_MASK = np.int64(0xFFFF), np.int64((1 << 28) - 1)
_READ_CLOCK_SHIFT, _SEVERAL = 32, 63
_LAST_CLOCK = np.int64((1 << 18) - 1)
SITES = 1 << 16


class Clocks:
    """What each warp of a batch knows of the warps of its CTA.

    `own[w]` is the warp's epoch, from 1. `known[w, v]` is the last epoch of warp v of the CTA whose accesses are
    ordered before what warp w does now; `known[w, itself]` counts for the other lanes of the warp.
    """

    def __init__(self, ctas: int, warps_per_cta: int) -> None:
        self.ctas, self.width = ctas, warps_per_cta
        self.own = np.ones(ctas * warps_per_cta, np.int64)
        self.known = np.zeros((ctas * warps_per_cta, warps_per_cta), np.int64)
        self.column = np.arange(ctas * warps_per_cta) % warps_per_cta

    def warp_barrier(self, warps: Array) -> None:
        """The lanes of each of these warps meet."""
        self.known[warps, self.column[warps]] = self.own[warps]
        self._step(warps)

    def barrier(self, warps: Array, arrived: Array | None = None) -> None:
        """These warps meet, CTA by CTA; `arrived` [ctas, width] is what warps that only arrived have released."""
        self.known[warps, self.column[warps]] = self.own[warps]
        table = np.zeros((self.ctas * self.width, self.width), np.int64)
        table[warps] = self.known[warps]
        joined = table.reshape(self.ctas, self.width, self.width).max(axis=1)
        if arrived is not None:
            joined = np.maximum(joined, arrived)
        self.known[warps] = joined[warps // self.width]
        self._step(warps)

    def release(self, warps: Array) -> Array:
        """What these warps know, their own epoch included, [warps, width]; their next accesses are later."""
        rows = self.known[warps]
        rows[np.arange(len(warps)), self.column[warps]] = self.own[warps]
        self._step(warps)
        return rows

    def _step(self, warps: Array) -> None:
        """Begin the next epoch; past the last one that a stamp can hold everything counts as ordered."""
        self.own[warps] = np.minimum(self.own[warps] + 1, _LAST_CLOCK)

    def acquire(self, warps: Array, rows: Array) -> None:
        """These warps learn what the rows say."""
        self.known[warps] = np.maximum(self.known[warps], rows)


@frozen(eq=False)
class Touches:
    """Accesses of one instruction, lane by lane as flat arrays.

    `cells` are cell numbers, `warps` numbers within the batch, `threads` numbers within the grid, `columns` the warp
    within its CTA.
    """

    cells: Array
    warps: Array
    lanes: Array
    threads: Array
    site: int
    atomic: bool


@frozen(eq=False)
class Conflict:
    """Accesses that race with an earlier one: indices into the touches, the other's site and thread, what it was."""

    at: Array
    site: int
    thread: int
    earlier: str


class Tracker:
    """The last writer of each cell of a space, and its readers.

    Shared memory keeps every warp's last read of a cell; global memory the last two readers, which may miss a race and
    never invents one. Threads of other CTAs are never ordered (`across` False leaves such pairs out).
    """

    def __init__(self, cells: int, warps_per_cta: int, *, per_warp_reads: bool, across: bool = True) -> None:
        self.width, self.across, self.per_warp_reads = warps_per_cta, across, per_warp_reads
        self.writer = np.zeros(cells, np.int64)
        self.reads = np.zeros(cells * warps_per_cta if per_warp_reads else 0, np.int64)
        self.last_reader = np.zeros(0 if per_warp_reads else cells, np.int64)
        self.other_reader = np.zeros(0 if per_warp_reads else cells, np.int64)

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
            found += self._against(self.other_reader, touches, clocks, "read")
        stamp = self._stamps(touches, clocks)
        self.writer[touches.cells] = stamp
        if values is not None:
            found += self._within(touches, stamp, values)
        return found

    def _stamps(self, touches: Touches, clocks: Clocks) -> Array:
        site = np.int64(touches.site) & _SITE_MASK
        mark = site << _SITE_SHIFT | (_ATOMIC_BIT if touches.atomic else np.int64(0))
        stamps: Array = (clocks.own[touches.warps] << _CLOCK_SHIFT) | mark | touches.threads
        return stamps

    def _against(self, table: Array, touches: Touches, clocks: Clocks, earlier: str) -> list[Conflict]:
        before = table.take(touches.cells)
        clock = before >> _CLOCK_SHIFT
        if not clock.any():
            return []
        thread = before & _THREAD_MASK
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
        before = self.last_reader.take(touches.cells)
        changed = (before != 0) & ((before & _THREAD_MASK) != touches.threads)
        if changed.any():
            self.other_reader[touches.cells[changed]] = before[changed]
        self.last_reader[touches.cells] = stamp

    def _remember_by_warp(self, touches: Touches, clocks: Clocks) -> None:
        place = touches.cells * self.width + clocks.column[touches.warps]
        own = clocks.own[touches.warps]
        before = self.reads.take(place)
        again = (before >> _READ_CLOCK_SHIFT == own) & ((before & _SEVERAL) != touches.lanes)
        head = own << _READ_CLOCK_SHIFT | np.int64(touches.site) << 8
        self.reads[place] = head | np.where(again, np.int64(_SEVERAL), touches.lanes)
        left = self.reads.take(place) & _SEVERAL
        clash = (left != touches.lanes) & (left != _SEVERAL)
        if clash.any():
            self.reads[place[clash]] = head[clash] | np.int64(_SEVERAL)

    def _against_reads(self, touches: Touches, clocks: Clocks) -> list[Conflict]:
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
