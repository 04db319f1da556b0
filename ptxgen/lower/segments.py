"""From the number of a tile to its group, where an array in memory tells how many tiles each group has.

A block goes through the groups once, however many tiles it takes: those come in ascending order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import reduce

from attrs import evolve, frozen

from isa.types import s32, s64, u32
from ptxgen.build import Value
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.bases import pointer
from ptxgen.lower.context import Context
from ptxgen.lower.grid import counts_of, tile_indices
from ptxgen.tile import Grid, Segmented

END_BYTES = 4


@frozen(eq=False)
class Groups:
    """How far a block has come: registers of a group's number, its first index and its end, its tiles and those of all
    groups before, the end as memory has it and the address of the next one. `count` groups there are."""

    count: Number
    number: Value
    first: Value
    end: Value
    tiles: Value
    before: Value
    told: Value
    address: Value

    def has(self, context: Context) -> Value:
        """Whether the group is one."""
        found: Value = context.k.setp.lt.s32(self.number, self.count)
        return found


def before_groups(context: Context, segments: Segmented) -> Groups:
    """Before the first group, which has no tiles."""
    k, grid = context.k, context.program.grid
    count = context.integer(context.resolved(grid.dims[0].count.numerator))
    zeros = (k.register(s32, 0), k.register(s32, 0), k.register(u32, 0), k.register(u32, 0), k.register(s32, 0))
    return Groups(count, k.register(s32, -1), *zeros, k.register(s64, pointer(context, segments.ends)))


def find_group(context: Context, groups: Groups, tile: Value) -> None:
    """Goes on to the group of tile number `tile`, which is not before the group reached; beyond the last group where no
    group has it."""
    k = context.k
    behind = k.add.u32(groups.before, groups.tiles)
    with k.when(k.setp.ge.u32(tile, behind)), context.frame(), k.loop() as rounds, context.frame({}):
        _go_on(context, groups)
        beyond = k.setp.ge.u32(tile, k.add.u32(groups.before, groups.tiles))
        rounds.while_(k.and_.pred(groups.has(context), beyond))


def _go_on(context: Context, groups: Groups) -> None:
    """To the next group: it begins where this one ends."""
    k, grid = context.k, context.program.grid
    assert grid.segments is not None
    k.add.u32(groups.before, groups.tiles, into=groups.before)
    k.add.s32(groups.number, 1, into=groups.number)
    k.mov.s32(groups.end, into=groups.first)
    with k.guard(groups.has(context)):
        k.ld.global_.s32(groups.address, into=groups.told)
    k.add.s64(groups.address, END_BYTES, into=groups.address)
    rows = context.integer(context.resolved(grid.segments.rows))
    k.min.s32(k.max.s32(groups.told, groups.first), rows, into=groups.end)
    with _in_group(context, groups, grid.segments):
        counts: list[Number] = [1, *counts_of(context, _inside(grid))]
        k.mov.u32(reduce(context.narrow.multiply, counts), into=groups.tiles)


@contextmanager
def _in_group(context: Context, groups: Groups, segments: Segmented) -> Iterator[None]:
    """Inside, the group's variables have their values."""
    values = {segments.group: groups.number, segments.first: groups.first, segments.end: groups.end}
    with ExitStack() as stack:
        for name, value in values.items():
            stack.enter_context(context.bound(name, context.symbol(name, value)))
        yield


def _inside(grid: Grid) -> Grid:
    """The tiles of one group."""
    return evolve(grid, dims=grid.dims[1:], segments=None)


@contextmanager
def tile_in_group(context: Context, groups: Groups, tile: Value) -> Iterator[None]:
    """Inside, the variables of the grid have their values for tile number `tile`, which the group reached has."""
    grid = context.program.grid
    assert grid.segments is not None
    with _in_group(context, groups, grid.segments):
        number = context.k.sub.u32(tile, groups.before)
        with tile_indices(context, _inside(grid), number):
            yield


@contextmanager
def own_tile(context: Context) -> Iterator[None]:
    """Inside, the variables of the grid have their values for the block's own tile; a block that has none does nothing
    there."""
    grid, k = context.program.grid, context.k
    if grid.segments is None:
        with tile_indices(context, grid):
            yield
        return
    groups, tile = before_groups(context, grid.segments), k.mov.u32(k.ctaid.x)
    find_group(context, groups, tile)
    with k.when(groups.has(context)), context.frame(), tile_in_group(context, groups, tile):
        yield
