"""What each block has of tiles whose slabs the blocks of a work list share, as `WorkList` defines it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from attrs import frozen

from ptxgen.tile import BLOCK_COUNT, BLOCK_NUMBER, ITEM_FIRST, ITEM_SLABS, JOINING, LEAVING

NONE = -1


@frozen
class Part:
    """An item: the first slab of a tile that a block takes, how many it takes, and whether others have those before it
    and behind it."""

    first: int
    slabs: int
    begun: bool = False
    goes_on: bool = False

    @property
    def told(self) -> dict[str, int]:
        """What a block is told of it."""
        return {ITEM_FIRST: self.first, ITEM_SLABS: self.slabs}


@frozen
class Share:
    """What one block has, or each block of a cluster: its items in the order in which it takes them."""

    parts: tuple[Part, ...]

    def told(self, block: int, blocks: int) -> dict[str, int]:
        """What block number `block` of so many is told of itself."""
        joining = next((number for number, part in enumerate(self.parts) if part.begun), NONE)
        leaving = sum(part.goes_on for part in self.parts)
        return {BLOCK_NUMBER: block, BLOCK_COUNT: blocks, LEAVING: leaving, JOINING: joining}


def numbered(found: Sequence[Share]) -> tuple[tuple[int, ...], ...]:
    """The number of the tile of each item of each share: what goes on in the next one is of the same tile there."""
    tiles, left, numbers = count(), NONE, list[tuple[int, ...]]()
    for share in found:
        before = left
        own = tuple(before if part.begun else next(tiles) for part in share.parts)
        left = next((tile for tile, part in zip(own, share.parts, strict=True) if part.goes_on), NONE)
        numbers.append(own)
    return tuple(numbers)


def most_workers(tiles: int, slabs: int) -> int:
    """The most blocks that share so many tiles of so many slabs."""
    return min(2 * tiles, tiles * max(1, slabs))


def shares(tiles: int, slabs: int, workers: int) -> tuple[Share, ...]:
    """How so many blocks share tiles: the slabs of those of the last round and of one more in a row, as evenly as they
    can be, the longer runs first, each from its last tile down; the other tiles whole."""
    units, rest = max(1, slabs), tiles % workers
    streamed = min(tiles, workers + rest) if rest else 0
    each, longer = divmod(streamed * units, workers)
    found: list[Share] = []
    for worker in range(workers):
        start = worker * each + min(worker, longer)
        run = tuple(_cut(start, start + each + (worker < longer), units, slabs))
        found.append(Share((*run, *(Part(0, slabs) for _ in range(streamed + worker, tiles, workers)))))
    return tuple(found)


def _cut(start: int, end: int, units: int, slabs: int) -> list[Part]:
    """A run of slabs by tiles, the last tile first."""
    found: list[Part] = []
    while end > start:
        tile = (end - 1) // units * units
        first, last = max(start, tile), min(end, tile + units)
        found.append(Part(first - tile, min(last - first, slabs), first > tile, last < tile + units))
        end = first
    return found
