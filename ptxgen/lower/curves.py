"""Tiles along Hilbert's curve: from a number to a row and a column."""

from __future__ import annotations

from ptxgen.build import Value
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.context import Context


def along_curve(context: Context, number: Number, rows: Number, columns: Number, side: int) -> tuple[Number, Number]:
    """Bands of squares of `side` by `side` tiles, a power of two, one square beside the other, each walked along the
    curve from its first column to its last one, so that it goes on in the next; every second band is walked backwards.
    A square that is not whole is walked column by column.
    """
    narrow = context.narrow
    band, inside = context.divided(number, narrow.multiply(columns, side))
    first = narrow.multiply(band, side)
    height = narrow.minimum(narrow.subtract(rows, first), side)
    square, rest = context.divided(inside, narrow.multiply(height, side))
    left = narrow.multiply(square, side)
    width = narrow.minimum(narrow.subtract(columns, left), side)
    across, down = context.divided(rest, height)
    curved = _on_curve(context, narrow.value(rest), side)
    whole = _is_whole(context, height, width, side)
    column = narrow.add(left, _chosen(context, whole, curved[0], across))
    row = _chosen(context, whole, curved[1], down)
    backwards = narrow.subtract(narrow.subtract(columns, 1), column)
    odd = context.k.setp.ne.s32(context.k.and_.b32(narrow.value(band), 1), 0)
    return narrow.add(first, row), _chosen(context, odd, backwards, column)


def _is_whole(context: Context, height: Number, width: Number, side: int) -> Value:
    k, narrow = context.k, context.narrow
    shorter = narrow.value(narrow.minimum(height, width))
    found: Value = k.setp.eq.s32(shorter, side)
    return found


def _chosen(context: Context, condition: Value, one: Number, other: Number) -> Value:
    found: Value = context.k.selp.b32(context.narrow.value(one), context.narrow.value(other), condition)
    return found


def _on_curve(context: Context, number: Value, side: int) -> tuple[Value, Value]:
    """Column and row of a place on the curve through a square, which goes from its first column to its last one in row
    0. Two bits of the number say in which quarter of a square it lies; a quarter of the first row is turned."""
    k = context.k
    column, row, rest = k.mov.b32(0), k.mov.b32(0), number
    half = 1
    while half < side:
        right = k.and_.b32(k.shr.u32(rest, 1), 1)
        below = k.and_.b32(k.xor.b32(rest, right), 1)
        turned = k.setp.eq.s32(below, 0)
        mirrored = k.and_.b32(k.neg.s32(right), half - 1)
        turned_column, turned_row = k.xor.b32(row, mirrored), k.xor.b32(column, mirrored)
        column, row = k.selp.b32(turned_column, column, turned), k.selp.b32(turned_row, row, turned)
        column = k.mad.lo.s32(right, half, column)
        row = k.mad.lo.s32(below, half, row)
        rest = k.shr.u32(rest, 2)
        half *= 2
    return column, row
