"""What a launch must know of groups whose lengths are in memory: how many tiles there may be, and tensor maps that end
where a group does."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from isa.descriptors import InvalidDescriptor
from isa.tensor_maps import TensorMap
from ptxgen.tile import MIDDLE, ROUND, Grid, GridDim


def most_tiles(grid: Grid, sizes: Mapping[str, int]) -> list[int]:
    """The tiles along each dim of a grid. Where the tiles of a segment are counted, there is 1 in place of the groups,
    and along that dim the most that all together can have: of n groups that are not empty each has one tile, and one
    more for every whole tile behind its first index, (rows - n) / extent in all at most, and the more groups the
    more."""
    if grid.segments is None:
        return [max(0, dim.count.numerator.evaluate(sizes) // dim.count.divisor) for dim in grid.dims]
    groups, rows = grid.dims[0].count.numerator.evaluate(sizes), grid.segments.rows.evaluate(sizes)
    filled, counted = min(groups, rows), any(grid.segments.end in dim.count.numerator.names for dim in grid.dims)
    return [1 if counted else groups, *(_most(dim, sizes, grid.segments.end, filled, rows) for dim in grid.dims[1:])]


def _most(dim: GridDim, sizes: Mapping[str, int], end: str, filled: int, rows: int) -> int:
    if end in dim.count.numerator.names:
        return filled + (rows - filled) // dim.count.divisor if filled else 0
    return max(0, dim.count.numerator.evaluate(sizes) // dim.count.divisor)


def bounded(made: TensorMap, place: int) -> TensorMap:
    """A tensor map whose copies stay below an end that they are given along dimension `place`, not the first one
    (`TensorBox`). InvalidDescriptor where the tensor is too long for it."""
    step = made.strides[place - 1]
    if made.dims[place] > MIDDLE or step >= ROUND:
        text = f"{made.dims[place]} indices in groups, {step} bytes apart"
        raise InvalidDescriptor(f"{text}: at most {MIDDLE} indices less than {ROUND} bytes apart have maps that end so")
    dims = (*made.dims[:place], MIDDLE, *made.dims[place + 1 :], MIDDLE + 1, MIDDLE + 1)
    strides, box = (*made.strides, step, ROUND - step), (*made.box, 1, 1)
    return evolve(made, dims=dims, strides=strides, box=box, element_strides=(*made.element_strides, 1, 1))
