"""The order in which tiles are taken."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ptxgen.tile.grid import Raster

Place = tuple[int, ...]


def in_order(counts: list[int], raster: Raster, height: int = 1) -> list[Place]:
    """The places of a box of so many along each dim: the last dim fastest, or bands of rows, each column by column or
    along a curve. A place stands for `height` rows of tiles, which a band counts."""
    raster = raster.over(height)
    group = raster.group
    if group == 1 or len(counts) < 2:
        return list(product(*map(range, counts)))
    *outer, rows, columns = counts
    if raster.curve:
        plane = list(along_curves(rows, columns, group))
        return [(*slow, *place) for slow in product(*map(range, outer)) for place in plane]
    return [
        (*slow, row, column)
        for slow in product(*map(range, outer))
        for first in range(0, rows, group)
        for column in range(columns)
        for row in range(first, min(first + group, rows))
    ]


def along_curves(rows: int, columns: int, side: int) -> Iterator[Place]:
    """Bands of squares, each along Hilbert's curve where it is whole; every second band from its last column on."""
    for band, first in enumerate(range(0, rows, side)):
        height = min(side, rows - first)
        for left in range(0, columns, side):
            width = min(side, columns - left)
            inside = curve(side) if height == width == side else product(range(width), range(height))
            for column, row in inside:
                yield first + row, columns - 1 - left - column if band % 2 else left + column


def curve(side: int) -> list[Place]:
    """Hilbert's curve through a square from its first column to its last one, as (column, row): a quarter turned over
    its diagonal, two as they are, and the first one's mirror image."""
    if side == 1:
        return [(0, 0)]
    half = side // 2
    quarter = curve(half)
    turned = [(row, column) for column, row in quarter]
    return [
        *turned,
        *((column, row + half) for column, row in quarter),
        *((column + half, row + half) for column, row in quarter),
        *((side - 1 - column, half - 1 - row) for column, row in turned),
    ]
