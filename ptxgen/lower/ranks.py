"""The rank of a block in its cluster, and what depends on it by tables."""

from __future__ import annotations

from ptxgen.build import Value
from ptxgen.errors import UnsupportedError
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.context import Context
from ptxgen.tile import Grid, rank_name

WORD_BITS, DOUBLE_BITS = 32, 64


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
