"""What a warpgroup's products have in registers, sums and operand A: which of them an instruction takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from isa.fragments import Fragment, Place
from isa.layouts import warpgroup_layout
from ptxgen.build import Value
from ptxgen.errors import UnsupportedError
from ptxgen.lower.context import Context
from ptxgen.lower.registers import constant_origin, constant_slot, value_coordinates, values_per_register
from ptxgen.tile import LANE_BITS, Coordinate, Distribution, Factor, Multiply, MultiplyRow


def held_operand(context: Context, node: Multiply) -> Callable[[int, int], tuple[Value, ...]]:
    """The registers of A for each repeat along m and step along k. UnsupportedError unless each thread holds what the
    instruction takes from it, in whole registers (isa.layouts)."""
    piece = warpgroup_layout(node.row.shape, "a", node.row.input.label)
    return _held(context, node.a, (node.row.m, node.row.k), piece, node.row)


def held_sums(context: Context, node: Multiply) -> Callable[[int, int], tuple[Value, ...]]:
    """The registers of the sums for each repeat along m and along n; UnsupportedError likewise."""
    piece = warpgroup_layout(node.row.shape, "d", node.row.accumulate.label)
    return _held(context, node.c, (node.row.m, node.row.n), piece, node.row)


def _held(
    context: Context, factor: Factor, steps: tuple[int, int], piece: Fragment, row: MultiplyRow
) -> Callable[[int, int], tuple[Value, ...]]:
    region = factor.region
    registers = context.tiles.slot(region.buffer, constant_slot(region, context.bindings))
    numbers = _numbers(factor, piece, row)
    start = constant_origin(region)

    @cache
    def operand(row_step: int, column_step: int) -> tuple[Value, ...]:
        corner = list(start)
        corner[factor.row_dimension] += row_step * steps[0]
        corner[factor.column_dimension] += column_step * steps[1]
        return tuple(registers[number] for number in numbers(tuple(corner)))

    return operand


def _numbers(factor: Factor, piece: Fragment, row: MultiplyRow) -> Callable[[Coordinate], tuple[int, ...]]:
    """For the corner of what one instruction takes, the numbers of the registers that hold it."""
    held = factor.region.buffer.distribution
    places = {coordinate: value for value, coordinate in enumerate(value_coordinates(held))}
    width = values_per_register(factor.region.buffer.element)

    def placed(bit: Place) -> Coordinate:
        where = {factor.row_dimension: bit[1], factor.column_dimension: bit[2]}
        return tuple(where.get(d, 0) for d in range(held.rank))

    own = Distribution(held.shape, tuple(map(placed, piece.value_bits)), (), ())
    threads = tuple(map(placed, piece.lane_bits))
    fits = (*held.lanes, *held.warps[: len(threads) - LANE_BITS]) == threads

    def numbers(corner: Coordinate) -> tuple[int, ...]:
        wanted = [tuple(c ^ o for c, o in zip(corner, each, strict=True)) for each in value_coordinates(own)]
        values = [places.get(each, -1) for each in wanted]
        whole = all(
            values[first : first + width] == list(range(values[first], values[first] + width))
            and values[first] % width == 0
            for first in range(0, len(values), width)
        )
        if not fits or not whole or -1 in values:
            raise UnsupportedError(
                f"{factor.region.buffer.name}: the registers do not hold what {row.instruction} takes from each "
                f"thread: {held}"
            )
        return tuple(value // width for value in values[::width])

    return numbers
