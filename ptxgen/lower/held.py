"""Operand A of a warpgroup's products in registers: which of them an instruction takes."""

from __future__ import annotations

from collections.abc import Callable

from isa.layouts import warpgroup_layout
from ptxgen.build import Value
from ptxgen.errors import UnsupportedError
from ptxgen.lower.context import Context
from ptxgen.lower.registers import constant_origin, constant_slot, value_coordinates, values_per_register
from ptxgen.tile import LANE_BITS, Coordinate, Distribution, Factor, Multiply, MultiplyRow


def held_operand(context: Context, node: Multiply) -> Callable[[int, int], tuple[Value, ...]]:
    """The registers for each repeat along m and step along k. UnsupportedError unless each thread holds what the
    instruction takes from it, in whole registers (isa.layouts)."""
    region = node.a.region
    registers = context.tiles.slot(region.buffer, constant_slot(region, context.bindings))
    numbers = _numbers(node.a, node.row)
    start = constant_origin(region)

    def operand(m_step: int, k_step: int) -> tuple[Value, ...]:
        corner = list(start)
        corner[node.a.row_dimension] += m_step * node.row.m
        corner[node.a.column_dimension] += k_step * node.row.k
        return tuple(registers[number] for number in numbers(tuple(corner)))

    return operand


def _numbers(a: Factor, row: MultiplyRow) -> Callable[[Coordinate], tuple[int, ...]]:
    """For the corner of what one instruction takes, the numbers of the registers that hold it."""
    held = a.region.buffer.distribution
    piece = warpgroup_layout(row.shape, "a", row.input.label)
    places = {coordinate: value for value, coordinate in enumerate(value_coordinates(held))}
    width = values_per_register(row.input)

    def placed(bit: tuple[int, int, int]) -> Coordinate:
        where = {a.row_dimension: bit[1], a.column_dimension: bit[2]}
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
                f"{a.region.buffer.name}: the registers do not hold what {row.instruction} takes from each thread: "
                f"{held}"
            )
        return tuple(value // width for value in values[::width])

    return numbers
