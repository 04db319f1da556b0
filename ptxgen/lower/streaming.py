"""Blocks that share the slabs of tiles: which items a block has, from its number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import reduce

from attrs import frozen

from isa.types import s32
from polyhedral import Affine, const
from ptxgen.build import Value
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.context import Context
from ptxgen.lower.grid import counts_of, tile_indices
from ptxgen.lower.loops import floor_quotient
from ptxgen.lower.ranks import rank
from ptxgen.lower.tickets import block_number
from ptxgen.tile import (
    BLOCK_COUNT,
    BLOCK_NUMBER,
    ITEM_FIRST,
    ITEM_SLABS,
    JOINING,
    LEAVING,
    ForEachItem,
    Node,
    Quotient,
)

LowerNode = Callable[[Context, Node], None]


@frozen(eq=False)
class Range:
    """What a block, or a cluster of them, has: slabs `start` to `end` of the streamed tiles, and every one of `workers`
    tiles from number `whole` on, of `tiles`. A tile has `slabs` slabs, and counts as `units` of them, one at least."""

    worker: Value
    workers: Value
    tiles: Value
    slabs: Number
    units: Value
    start: Value
    end: Value
    whole: Value


def lower_streamed(context: Context, node: ForEachItem, slabs: Quotient, lower_node: LowerNode) -> None:
    """Runs the body for the items of a streamed work list (`WorkList`): tiles of the block's run of slabs from the last
    one down, then whole tiles. Each block has an item."""
    k = context.k
    own = _own(context, slabs)
    number, end, whole = k.register(s32, 0), k.register(s32, own.end), k.register(s32, own.whole)
    with k.loop() as rounds, context.frame({}):
        streamed = k.setp.gt.s32(end, own.start)
        cut = k.div.u32(k.sub.s32(end, 1), own.units)
        begin = k.mul.lo.s32(cut, own.units)
        tile = k.selp.b32(cut, whole, streamed)
        first = k.selp.b32(k.max.s32(k.sub.s32(own.start, begin), 0), 0, streamed)
        last = k.min.s32(k.selp.b32(k.sub.s32(end, begin), own.units, streamed), own.slabs)
        item = {ITEM_FIRST: first, ITEM_SLABS: k.sub.s32(last, first), node.variable: number}
        with _bound(context, item), tile_indices(context, context.program.grid, tile):
            lower_node(context, node.body)
        k.selp.b32(whole, k.add.s32(whole, own.workers), streamed, into=whole)
        k.selp.b32(begin, end, streamed, into=end)
        k.add.s32(number, 1, into=number)
        more = k.setp.lt.s32(whole, own.tiles)
        rounds.while_(k.setp.gt.or_.s32(end, own.start, more))


def _own(context: Context, slabs: Quotient) -> Range:
    return context.once("items of the block", lambda: _range(context, slabs))


def _range(context: Context, slabs: Quotient) -> Range:
    k, narrow, grid = context.k, context.narrow, context.program.grid
    alone, one = grid.cluster == 1, 1
    worker = k.mov.b32(block_number(context))
    workers = k.mov.b32(k.nctaid.x if alone else k.nclusterid.x)
    counts: list[Number] = [one, *counts_of(context, grid)]
    tiles = narrow.value(reduce(narrow.multiply, counts))
    found = floor_quotient(context, context.resolved(slabs.numerator), slabs.divisor)
    units = narrow.value(narrow.maximum(found, 1))
    rest = k.rem.u32(tiles, workers)
    streamed = k.selp.b32(0, k.min.s32(tiles, k.add.s32(workers, rest)), k.setp.eq.s32(rest, 0))
    shared = k.mul.lo.s32(streamed, units)
    each = k.div.u32(shared, workers)
    left = k.sub.s32(shared, k.mul.lo.s32(each, workers))
    start = k.mad.lo.s32(worker, each, k.min.s32(worker, left))
    longer = k.selp.b32(1, 0, k.setp.lt.s32(worker, left))
    end = k.add.s32(k.add.s32(start, each), longer)
    return Range(worker, workers, tiles, found, units, start, end, k.add.s32(streamed, worker))


@contextmanager
def told_of_items(context: Context, slabs: Quotient) -> Iterator[None]:
    """Inside, a role's body, the block's number and count, and which of its items go on, or have begun, in another
    block."""
    k, together, own = context.k, context.program.grid.cluster, _own(context, slabs)
    goes_on = k.setp.ne.s32(k.rem.u32(own.end, own.units), 0)
    leaving = k.selp.b32(1, 0, goes_on)
    begun = k.setp.ne.s32(k.rem.u32(own.start, own.units), 0)
    between = k.sub.s32(k.div.u32(k.sub.s32(own.end, 1), own.units), k.div.u32(own.start, own.units))
    joining = k.selp.b32(between, -1, begun)
    beside = context.expression(rank(context), "rank") if together > 1 else const(0)
    blocks = {
        BLOCK_NUMBER: context.symbol(BLOCK_NUMBER, own.worker) * together + beside,
        BLOCK_COUNT: context.symbol(BLOCK_COUNT, own.workers) * together,
    }
    numbers = {LEAVING: context.symbol(LEAVING, leaving), JOINING: context.symbol(JOINING, joining)}
    with ExitStack() as stack:
        for name, value in (blocks | numbers).items():
            stack.enter_context(context.bound(name, value))
        yield


@contextmanager
def _bound(context: Context, values: dict[str, Value]) -> Iterator[None]:
    with ExitStack() as stack:
        for name, register in values.items():
            value: Affine = context.symbol(name, register)
            stack.enter_context(context.bound(name, value))
        yield
