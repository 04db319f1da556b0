"""How many tiles a launch may have, where memory tells how long the groups are that they belong to."""

from __future__ import annotations

from collections.abc import Mapping

from ptxgen.tile import Grid, GridDim


def most_tiles(grid: Grid, sizes: Mapping[str, int]) -> list[int]:
    """The tiles along each dim of a grid; in place of groups 1, and along the dim that comes in segments the most that
    all groups together can have. Of n groups that are not empty each has one tile, and one more for every whole tile
    behind its first index: (rows - n) / extent in all at most, and the more groups the more."""
    if grid.segments is None:
        return [max(0, dim.count.numerator.evaluate(sizes) // dim.count.divisor) for dim in grid.dims]
    groups, rows = grid.dims[0].count.numerator.evaluate(sizes), grid.segments.rows.evaluate(sizes)
    filled = min(groups, rows)
    return [1, *(_most(dim, sizes, grid.segments.end, filled, rows) for dim in grid.dims[1:])]


def _most(dim: GridDim, sizes: Mapping[str, int], end: str, filled: int, rows: int) -> int:
    if end in dim.count.numerator.names:
        return filled + (rows - filled) // dim.count.divisor
    return max(0, dim.count.numerator.evaluate(sizes) // dim.count.divisor)
