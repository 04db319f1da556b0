"""Vector clocks: every access to an element is ordered by meetings with the accesses before it, or it is a race.

An access is kept as one integer: cluster, clock of the warp, warp, op (from the highest bits down); 0 is none. What is
called a block here is a cluster: blocks that run together, most often one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ptxgen.tile.machine.geometry import Index

OP_BITS, WARP_BITS, CLOCK_BITS, BLOCK_BITS = 14, 7, 24, 18
WARP_SHIFT = OP_BITS
CLOCK_SHIFT = WARP_SHIFT + WARP_BITS
BLOCK_SHIFT = CLOCK_SHIFT + CLOCK_BITS
SEVERAL_BLOCKS = (1 << BLOCK_BITS) - 1


@frozen
class Stamp:
    """An access: the block's number counted from 1, the warp's place in the block, its clock and the op's number; and
    the clocks that the warp has seen of blocks before, by their numbers."""

    block: int
    clock: int
    warp: int
    op: int
    before: Mapping[int, Index] = field(factory=dict, eq=False, repr=False)

    @property
    def packed(self) -> int:
        """The integer kept for each element."""
        return self.block << BLOCK_SHIFT | self.clock << CLOCK_SHIFT | self.warp << WARP_SHIFT | self.op

    @classmethod
    def unpack(cls, entry: int) -> Stamp:
        """The access that an integer stands for."""
        return cls(
            entry >> BLOCK_SHIFT,
            entry >> CLOCK_SHIFT & (1 << CLOCK_BITS) - 1,
            entry >> WARP_SHIFT & (1 << WARP_BITS) - 1,
            entry & (1 << OP_BITS) - 1,
        )


@frozen
class Conflict:
    """An earlier access that nothing orders before the present one, and which of the present points it met."""

    point: int
    earlier: Stamp
    earlier_writes: bool


def unordered(entries: Index, stamp: Stamp, seen: Index) -> NDArray[np.bool_]:
    """Which accesses a warp that has seen clock `seen[w]` of each warp w of its block, and those before of others, does
    not know to be over."""
    clock = entries >> CLOCK_SHIFT & (1 << CLOCK_BITS) - 1
    warp = entries >> WARP_SHIFT & (1 << WARP_BITS) - 1
    late = (entries >> BLOCK_SHIFT != stamp.block) | (clock > seen[warp])
    for block, known in stamp.before.items():
        late &= (entries >> BLOCK_SHIFT != block) | (clock > known[warp])
    return np.asarray(late & (entries != 0))


class Clocks:
    """The last write, and each warp's last read, of `size` elements."""

    def __init__(self, size: int, warps: int) -> None:
        self._writes = np.zeros(size, np.int64)
        self._reads = np.zeros((warps, size), np.int64)

    def read(self, stamp: Stamp, seen: Index, index: Index) -> Conflict | None:
        """Notes a read of the elements `index`; the first unordered write among them, if any."""
        found = self._conflict(self._writes[index], stamp, seen, writes=True)
        own = self._reads[stamp.warp]
        foreign = (own[index] >> BLOCK_SHIFT != stamp.block) & unordered(own[index], stamp, seen)
        own[index] = stamp.packed | foreign * (SEVERAL_BLOCKS << BLOCK_SHIFT) if foreign.any() else stamp.packed
        return found

    def write(self, stamp: Stamp, seen: Index, index: Index) -> Conflict | None:
        """Notes a write of the elements `index`; the first unordered access among them, if any."""
        found = self._conflict(self._writes[index], stamp, seen, writes=True)
        for own in self._reads:
            found = found or self._conflict(own[index], stamp, seen, writes=False)
        self._writes[index] = stamp.packed
        return found

    @staticmethod
    def _conflict(entries: Index, stamp: Stamp, seen: Index, *, writes: bool) -> Conflict | None:
        bad = unordered(entries, stamp, seen)
        if not bad.any():
            return None
        point = int(bad.argmax())
        return Conflict(point, Stamp.unpack(int(entries[point])), writes)
