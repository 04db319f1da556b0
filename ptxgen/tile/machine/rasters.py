"""The order in which tiles are taken."""

from __future__ import annotations

from itertools import product

from ptxgen.tile.nodes import Raster

Place = tuple[int, ...]


def in_order(counts: list[int], raster: Raster, height: int = 1) -> list[Place]:
    """The places of a box of so many along each dim: the last dim fastest, or bands of rows, each column by column. A
    place stands for `height` rows of tiles, which a band counts."""
    group = max(1, raster.group // height)
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
