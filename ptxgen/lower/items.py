"""Blocks that walk a work list, and the counters that go on from item to item."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import lcm

from isa.types import s32, u32
from ptxgen.build import Value
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.context import Context
from ptxgen.lower.grid import counts_of, tile_indices
from ptxgen.lower.loops import floor_quotient
from ptxgen.lower.segments import before_groups, find_group, tile_in_group
from ptxgen.lower.streaming import lower_streamed
from ptxgen.tile import Advance, Counter, ForEachItem, Node, Program

LowerNode = Callable[[Context, Node], None]


def lower_items(context: Context, node: ForEachItem, lower_node: LowerNode) -> None:
    """Runs the body for tiles w, w + W, w + 2W, ... of block w of W, or of cluster w of W clusters. There are no more
    of them than tiles, or clusters of those, so that each has a first one; those whom others leave only some items may
    have none, and blocks whose tiles memory counts."""
    k, grid = context.k, context.program.grid
    if grid.work_list is not None and grid.work_list.slabs is not None:
        lower_streamed(context, node, grid.work_list.slabs, lower_node)
        return
    alone = grid.cluster == 1
    tile, number = k.register(u32, k.ctaid.x if alone else k.clusterid.x), k.register(s32, 0)
    workers = k.nctaid.x if alone else k.nclusterid.x
    if node.first:
        k.mov.s32(node.first, into=number)
        k.mad.lo.u32(workers, node.first, tile, into=tile)
    if grid.segments is not None:
        _walk_groups(context, node, lower_node, tile, number, workers)
        return
    counts: list[Number] = [1, *counts_of(context, grid)]
    tiles = context.narrow.value(reduce(context.narrow.multiply, counts))
    if not node.first:
        _walk(context, node, lower_node, tile, number, workers, tiles)
        return
    with k.when(k.setp.lt.u32(tile, tiles)), context.frame():
        _walk(context, node, lower_node, tile, number, workers, tiles)


def _walk(
    context: Context, node: ForEachItem, lower_node: LowerNode, tile: Value, number: Value, workers: Value, tiles: Value
) -> None:
    """Every `step`-th tile from `tile` on, the first of which is there."""
    k = context.k
    onwards = workers if node.step == 1 else k.mul.lo.u32(workers, node.step)
    with k.loop() as rounds, context.frame({}):
        with (
            context.bound(node.variable, context.symbol(node.variable, number)),
            tile_indices(context, context.program.grid, tile),
        ):
            lower_node(context, node.body)
        k.add.s32(number, node.step, into=number)
        k.add.u32(tile, onwards, into=tile)
        rounds.while_(k.setp.lt.u32(tile, tiles))


def _walk_groups(
    context: Context, node: ForEachItem, lower_node: LowerNode, tile: Value, number: Value, workers: Value
) -> None:
    """Every `step`-th tile from `tile` on, for as long as a group has it."""
    k, segments = context.k, context.program.grid.segments
    assert segments is not None
    groups = before_groups(context, segments)
    onwards = workers if node.step == 1 else k.mul.lo.u32(workers, node.step)
    with k.loop() as rounds, context.frame({}):
        find_group(context, groups, tile)
        rounds.break_(k.setp.ge.s32(groups.number, groups.count))
        with (
            context.bound(node.variable, context.symbol(node.variable, number)),
            tile_in_group(context, groups, tile),
        ):
            lower_node(context, node.body)
        k.add.s32(number, node.step, into=number)
        k.add.u32(tile, onwards, into=tile)


def lower_counter(context: Context, node: Counter, lower_node: LowerNode) -> None:
    """Runs the body with a register that counts, reduced by what slots and phases of all rings repeat after."""
    counter = context.k.register(s32, 0)
    context.counters[node.variable] = counter
    with context.bound(node.variable, context.symbol(node.variable, counter)):
        lower_node(context, node.body)


def lower_advance(context: Context, node: Advance) -> None:
    """Moves a counter on; what was computed from it before is forgotten."""
    counter = context.counters[node.variable]
    by = floor_quotient(context, context.resolved(node.by.numerator), node.by.divisor)
    total = context.narrow.remainder(context.narrow.add(counter, by), period(context.program))
    context.k.mov.s32(total, into=counter)
    context.rebind(node.variable, context.symbol(node.variable, counter))


def period(program: Program) -> int:
    """After how many tiles the slots and parities of all rings are the same again."""
    return lcm(*(2 * ring.depth for ring in program.rings), *(buffer.depth for buffer in program.buffers))
