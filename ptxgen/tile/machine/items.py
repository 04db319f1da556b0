"""Which tiles a block takes, in which order."""

from __future__ import annotations

from itertools import product

from ptxgen.tile.machine.state import Launch, evaluate

Place = tuple[int, ...]
RESIDENT_BLOCKS = 3


def tiles_of(launch: Launch) -> list[Place]:
    """The tile indices in the order of the raster: the last dim fastest, or bands of rows, each column by column."""
    counts = [evaluate(dim.count, launch.sizes) for dim in launch.program.grid.dims]
    group = launch.program.grid.raster.group
    if group == 1 or len(counts) < 2:
        return list(product(*map(range, counts)))
    *outer, rows, columns = counts
    return [
        (*slow, row, column)
        for slow in product(*map(range, outer))
        for first in range(0, rows, group)
        for column in range(columns)
        for row in range(first, min(first + group, rows))
    ]


def items_of(launch: Launch, workers: int | None) -> list[tuple[Place, ...]]:
    """What each block takes: a tile each, or with a work list every W-th tile. W is what the list says, `workers` where
    it leaves that to the device, and never more than the tiles."""
    tiles, shared = tiles_of(launch), launch.program.grid.work_list
    if shared is None:
        return [(place,) for place in tiles]
    count = min(shared.workers or workers or RESIDENT_BLOCKS, len(tiles))
    return [tuple(tiles[worker::count]) for worker in range(count)]
