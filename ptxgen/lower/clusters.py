"""Blocks of a cluster: their ranks, what depends on a rank, and barriers in other blocks' shared memory."""

from __future__ import annotations

from attrs import frozen

from ptxgen.build import Value
from ptxgen.errors import UnsupportedError
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.bases import pool_start
from ptxgen.lower.context import Context
from ptxgen.lower.trees import ends_of
from ptxgen.tile import LANE_BITS, Arrive, Arriving, Copy, Grid, Node, rank_name

LANES = (1 << LANE_BITS) - 1
GROUP_LANES = (4 << LANE_BITS) - 1
WORD_BITS, DOUBLE_BITS = 32, 64

Masks = tuple[int, ...]


def rank(context: Context) -> Value:
    """The block's rank in its cluster."""

    def read() -> Value:
        moved: Value = context.k.mov.u32(context.k.cluster_ctarank)
        return moved

    return context.once(("rank",), read)


def rank_digits(context: Context, grid: Grid) -> list[tuple[str, Number]]:
    """The block's ranks along the tile indices that a cluster extends along; the last one's is fastest."""
    found: list[tuple[str, Number]] = []
    number: Number = rank(context) if grid.cluster > 1 else 0
    left = grid.cluster
    for dim in reversed(grid.dims):
        if dim.cluster > 1:
            left //= dim.cluster
            digit = context.narrow.remainder(number, dim.cluster) if left > 1 else number
            number = context.narrow.floor_quotient(number, dim.cluster) if left > 1 else 0
            found.append((rank_name(dim.variable), digit))
    return found[::-1]


def by_rank(context: Context, values: tuple[int, ...]) -> Number:
    """The entry of a table at the block's rank; UnsupportedError where the table has more than 64 bits."""
    if len(set(values)) == 1:
        return values[0]
    width = max(value.bit_length() for value in values)
    table = sum(value << width * place for place, value in enumerate(values))
    if table.bit_length() > DOUBLE_BITS:
        raise UnsupportedError(f"a table of {len(values)} entries of {width} bits, by the rank in a cluster")
    return context.once(("by rank", values), lambda: _looked_up(context, table, width))


def _looked_up(context: Context, table: int, width: int) -> Value:
    k = context.k
    shift = k.mul.lo.u32(rank(context), width)
    if table.bit_length() <= WORD_BITS:
        moved = k.shr.u32(k.mov.u32(table), shift)
    else:
        moved = k.cvt.u32.u64(k.shr.u64(k.mov.u64(table), shift))
    entry: Value = k.and_.b32(moved, (1 << width) - 1)
    return entry


@frozen
class FarBarriers:
    """Where arrivals at other blocks' barriers go: `start` is the pool of the block that this thread tells, `tells`
    whether it tells one."""

    start: Value
    tells: Value


def far_barriers(context: Context, node: Arrive) -> FarBarriers:
    """For an arrival at several blocks: thread number r of each arriving unit tells the block of rank r, so that all of
    them are told by one instruction."""

    def prepare() -> FarBarriers:
        k, size = context.k, len(node.to)
        lane = k.and_.b32(context.thread_number(), LANES if node.by is Arriving.WARP else GROUP_LANES)
        mask = by_rank(context, node.to)
        asked = k.shr.u32(k.mov.u32(mask) if isinstance(mask, int) else mask, lane)
        tells = k.setp.ne.s32(k.and_.b32(asked, 1), 0)
        start = k.mapa.shared__cluster.u32(pool_start(context), k.min.u32(lane, size - 1))
        return FarBarriers(start, tells)

    return context.once(("far barriers", node.to, node.by), prepare)


def prepare_clusters(context: Context, body: Node) -> None:
    """Computes before a role's loops what depends on the rank alone."""
    for node in ends_of(body):
        match node:
            case Arrive(to=masks) if masks:
                far_barriers(context, node)
            case Copy(masks=masks) if masks:
                by_rank(context, masks)
            case _:
                pass
