"""Work lists whose tiles blocks share slab by slab: which part of which tile each of them takes, in which order."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np
from attrs import frozen

from ptxgen.tile.grid import WorkList
from ptxgen.tile.variables import BLOCK_COUNT, BLOCK_NUMBER, ITEM_FIRST, ITEM_SLABS, JOINING, LEAVING


@frozen
class Item:
    """A tile by its number in the order of the raster, the first of its slabs that is taken, and how many are."""

    tile: int
    first: int
    slabs: int


@frozen
class Share:
    """What one block of several takes: its items, how many of the first go on in the next block, and the number of the
    one that has begun in the block before, -1 without any."""

    items: tuple[Item, ...]
    leaving: int
    joining: int

    def of_block(self, number: int, count: int) -> dict[str, int]:
        """What the block of that number knows of itself."""
        return {BLOCK_NUMBER: number, BLOCK_COUNT: count, LEAVING: self.leaving, JOINING: self.joining}

    def of_items(self) -> list[dict[str, int]]:
        """What each item is."""
        return [{ITEM_FIRST: item.first, ITEM_SLABS: item.slabs} for item in self.items]


def most_workers(shared: WorkList, tiles: int, slabs: int) -> int:
    """The most blocks, or clusters, that a work list of so many tiles of so many slabs is for."""
    return tiles if shared.slabs is None else min(2 * tiles, tiles * max(1, slabs))


def shares(tiles: int, slabs: int, workers: int) -> list[Share]:
    """How so many blocks share tiles: all slabs of the streamed ones in a row, cut into runs as even as they can be,
    the longer ones first; the other tiles in turn."""
    rest = tiles % workers
    streamed = min(tiles, workers + rest) if rest else 0
    units = np.array(list(product(range(streamed), range(max(1, slabs))))).reshape(-1, 2)
    return [
        _share(run.tolist(), range(streamed + worker, tiles, workers), slabs)
        for worker, run in enumerate(np.array_split(units, workers))
    ]


def _share(run: list[list[int]], whole: range, slabs: int) -> Share:
    parts = [(tile, [slab for _, slab in own]) for tile, own in groupby(run, key=lambda unit: unit[0])][::-1]
    leaving = int(bool(parts) and parts[0][1][-1] != max(1, slabs) - 1)
    joining = len(parts) - 1 if parts and parts[-1][1][0] else -1
    cut = (Item(tile, own[0], min(len(own), slabs)) for tile, own in parts)
    return Share((*cut, *(Item(tile, 0, slabs) for tile in whole)), leaving, joining)
