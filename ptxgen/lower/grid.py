"""From the number of a block or cluster to the tile indices of the grid."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from polyhedral import const
from ptxgen.build import Value
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.context import Context
from ptxgen.lower.curves import along_curve
from ptxgen.lower.loops import floor_quotient
from ptxgen.lower.ranks import rank, rank_digits
from ptxgen.lower.tickets import block_number
from ptxgen.tile import TILE_NUMBER, Grid, GridDim, Raster, rank_name


def counts_of(context: Context, grid: Grid) -> list[Number]:
    """The clusters of tiles along each dim of the grid."""
    return [_clusters(context, dim) for dim in grid.dims]


@contextmanager
def tile_indices(context: Context, grid: Grid, tile: Value | None = None) -> Iterator[None]:
    """Inside, the variables of the grid have their values for tile number `tile` along the grid's raster, None for the
    block's own number; in clusters for the block's tile in cluster of tiles number `tile`, with its ranks there."""
    first = block_number(context)
    counts = counts_of(context, grid)
    rows = grid.dims[-2].cluster if len(grid.dims) > 1 else 1
    part, number, beside = _part(context, grid, counts, first if tile is None else tile)
    indices = [*part, *_indices(context, grid.raster.over(rows), beside, number)]
    ranks = {name: context.expression(digit, name) for name, digit in rank_digits(context, grid)}
    with ExitStack() as stack:
        if grid.parts > 1:
            place = context.expression(number, TILE_NUMBER) * grid.cluster
            own = context.expression(rank(context), "rank") if grid.cluster > 1 else const(0)
            stack.enter_context(context.bound(TILE_NUMBER, place + own))
        for name, own in ranks.items():
            stack.enter_context(context.bound(name, own))
        for dim, index in zip(grid.dims, indices, strict=True):
            place = context.expression(index, dim.variable) * dim.cluster + ranks.get(rank_name(dim.variable), 0)
            stack.enter_context(context.bound(dim.variable, place))
        yield


def _part(
    context: Context, grid: Grid, counts: list[Number], number: Number
) -> tuple[list[Number], Number, list[Number]]:
    """The part of a block or cluster where there are parts, its place among those of that part, and the counts of the
    other tile indices."""
    if grid.parts == 1:
        return [], number, counts
    tiles: Number = 1
    for count in counts[1:]:
        tiles = context.narrow.multiply(tiles, count)
    part, inside = context.divided(number, tiles)
    return [part], inside, counts[1:]


def _clusters(context: Context, dim: GridDim) -> Number:
    """How many clusters there are along a tile index."""
    divisor, rest = dim.count.divisor * dim.cluster, dim.count.divisor * (dim.cluster - 1)
    return floor_quotient(context, context.resolved(dim.count.numerator + rest), divisor)


def _indices(context: Context, raster: Raster, counts: list[Number], rest: Number) -> list[Number]:
    if not counts:
        return []
    if len(counts) > 1 and isinstance(counts[0], int) and counts[0] == 1:
        return [0, *_indices(context, raster, counts[1:], rest)]
    if raster.group == 1 or len(counts) == 1:
        return _row_by_row(context, rest, counts)
    *outer, rows, columns = counts
    plane = context.narrow.multiply(rows, columns)
    slow, inside = context.divided(rest, plane) if outer else (0, rest)
    walked = along_curve if raster.curve else _banded
    row, column = walked(context, inside, rows, columns, raster.group)
    return [*_row_by_row(context, slow, outer), row, column]


def _row_by_row(context: Context, number: Number, counts: list[Number]) -> list[Number]:
    """The digits of a number whose last digit is fastest; the first has no bound of its own."""
    digits: list[Number] = []
    for count in reversed(counts[1:]):
        number, digit = context.divided(number, count)
        digits.insert(0, digit)
    return [number, *digits] if counts else []


def _banded(context: Context, number: Number, rows: Number, columns: Number, group: int) -> tuple[Number, Number]:
    """Bands of `group` rows, each walked column by column; the last band may have fewer rows.

    Who launches sees to it that the blocks of a band fit into 32 bits.
    """
    band, inside = context.divided(number, context.narrow.multiply(columns, group))
    first = context.narrow.multiply(band, group)
    height = context.narrow.minimum(context.narrow.subtract(rows, first), group)
    column, row = context.divided(inside, height)
    return context.narrow.add(first, row), column
