"""Which lane holds which matrix element of a warp-level `mma`, in which place.

Every map is linear over F2 in the bits of (lane, value), and sends each bit to one bit of one coordinate:
`lane_bits[n]` and `value_bits[n]` give the (tile, row, column) that bit n adds. A is M x K, B is K x N, C and D
are M x N. `value` counts elements from the low end of the first register upwards.
"""

from __future__ import annotations

from functools import cache

from attrs import frozen

from isa.derive import shape_of
from isa.types import Kind, Type, type_named

Place = tuple[int, int, int]


@frozen
class Fragment:
    """The map of one operand. `tiles` products are done at once (Volta's quad pairs: 4), else 1.

    `rows` and `columns` are the extents of one tile, `values_per_register` counts 32-bit registers (64-bit for f64).
    `held` is the number of values where it is no power of two (accumulators of `wgmma`), else 0.
    """

    rows: int
    columns: int
    tiles: int
    values_per_register: int
    lane_bits: tuple[Place, ...]
    value_bits: tuple[Place, ...]
    held: int = 0

    @property
    def values(self) -> int:
        """Elements that a lane holds."""
        return self.held or 1 << len(self.value_bits)

    @property
    def registers(self) -> int:
        """Registers that a lane holds."""
        return self.values // self.values_per_register

    def place(self, lane: int, value: int) -> Place:
        """The (tile, row, column) of an element, 0 <= lane < 32 (128 of a warpgroup) and 0 <= value < values."""
        tile = row = column = 0
        for number, bits in ((lane, self.lane_bits), (value, self.value_bits)):
            for index, (tile_bit, row_bit, column_bit) in enumerate(bits):
                if number >> index & 1:
                    tile, row, column = tile + tile_bit, row + row_bit, column + column_bit
        return tile, row, column

    def position(self, lane: int, value: int) -> tuple[int, int]:
        """The (row, column) of an element within its tile."""
        _, row, column = self.place(lane, value)
        return row, column

    def tile(self, lane: int) -> int:
        """The tile that a lane works for."""
        return self.place(lane, 0)[0]

    def holder(self, row: int, column: int, tile: int = 0) -> tuple[int, int]:
        """The inverse of `place`: the (lane, value) that holds an element."""
        wanted = (tile, row, column)
        return _gather(wanted, self.lane_bits), _gather(wanted, self.value_bits)


def _gather(wanted: Place, bits: tuple[Place, ...]) -> int:
    number = 0
    for index, image in enumerate(bits):
        if any(have & bit for have, bit in zip(wanted, image, strict=True)):
            number |= 1 << index
    return number


@cache
def fragment(shape: str, operand: str, element: str, layout: str = "") -> Fragment:
    """The map of operand `"a"`, `"b"`, `"c"` or `"d"` with elements of type `element` (`"f16"`) in `shape`.

    `layout` (`"row"`, `"col"`) matters for A and B of the f16 m8n8k4 only; elsewhere A is row and B column.
    ValueError for what no instruction has. Source: manual, and checked against products computed through the maps.
    """
    of_type = type_named(element)
    if operand not in ("a", "b", "c", "d") or not shape.startswith("m"):
        raise ValueError(f"no fragment {operand!r} of {shape!r}")
    if shape == "m8n8k4" and (of_type.bits == 16 or (of_type.bits == 32 and operand in "cd")):
        return _quad_pairs(operand, of_type, layout)
    if layout not in ("", "col" if operand == "b" else "row"):
        raise ValueError(f"operand {operand} of {shape} has no layout {layout!r}")
    return _row_groups(shape, operand, of_type)


_LOW_QUAD_ROWS = ((0, 1, 0), (0, 2, 0), (1, 0, 0), (2, 0, 0), (0, 4, 0))
_LOW_QUAD_COLUMNS = ((0, 0, 1), (0, 0, 2), (1, 0, 0), (2, 0, 0), (0, 0, 4))
_VOLTA: dict[tuple[str, str], tuple[tuple[Place, ...], tuple[Place, ...]]] = {
    ("a", "row"): (_LOW_QUAD_ROWS, ((0, 0, 1), (0, 0, 2))),
    ("a", "col"): (((0, 0, 1), (0, 0, 2), (1, 0, 0), (2, 0, 0), (0, 4, 0)), ((0, 1, 0), (0, 2, 0))),
    ("b", "row"): (((0, 1, 0), (0, 2, 0), (1, 0, 0), (2, 0, 0), (0, 0, 4)), ((0, 0, 1), (0, 0, 2))),
    ("b", "col"): (_LOW_QUAD_COLUMNS, ((0, 1, 0), (0, 2, 0))),
    ("c", "f16"): (_LOW_QUAD_ROWS, ((0, 0, 1), (0, 0, 2), (0, 0, 4))),
    ("c", "f32"): (((0, 1, 0), (0, 0, 2), (1, 0, 0), (2, 0, 0), (0, 4, 0)), ((0, 0, 1), (0, 2, 0), (0, 0, 4))),
}


def _quad_pairs(operand: str, element: Type, layout: str) -> Fragment:
    extents = {"a": (8, 4), "b": (4, 8)}.get(operand, (8, 8))
    key = (operand, layout) if operand in "ab" else ("c", element.name)
    if key not in _VOLTA:
        raise ValueError(f"operand {operand} of the f16 m8n8k4 has layout 'row' or 'col', not {layout!r}")
    lane_bits, value_bits = _VOLTA[key]
    return Fragment(*extents, 4, 32 // element.bits, lane_bits, value_bits)


def _container(element: Type, depth: int) -> int:
    """Bits of an element in a register: floats of 4 and 6 bits lie in bytes, but with K of 64 nibbles are packed."""
    small = element.kind is Kind.FLOAT and element.bits < 8
    return 8 if small and not (element.bits == 4 and depth == 64) else element.bits


def _row_groups(shape: str, operand: str, element: Type) -> Fragment:
    rows, columns, depth = shape_of(shape)
    packed = max(1, 32 // _container(element, depth))
    if operand in "cd":
        value_bits = [(0, 0, 1)] + ([(0, 8, 0)] if rows == 16 else [])
        return Fragment(rows, columns, 1, packed, _groups((0, 1, 0), (0, 0, 2)), tuple(value_bits))
    inner = [(0, 0, 1 << bit) for bit in range(packed.bit_length() - 1)]
    outer = [(0, 0, step) for step in _doublings(4 * packed, depth)]
    if operand == "a":
        halves = [(0, 8, 0)] if rows == 16 else []
        return Fragment(rows, depth, 1, packed, _groups((0, 1, 0), (0, 0, packed)), (*inner, *halves, *outer))
    upright = tuple((0, step, 0) for _, _, step in (*inner, *outer))
    return Fragment(depth, columns, 1, packed, _groups((0, 0, 1), (0, packed, 0)), upright)


def _groups(group: Place, thread: Place) -> tuple[Place, ...]:
    def scaled(place: Place, by: int) -> Place:
        return place[0] * by, place[1] * by, place[2] * by

    return scaled(thread, 1), scaled(thread, 2), scaled(group, 1), scaled(group, 2), scaled(group, 4)


def _doublings(first: int, end: int) -> list[int]:
    steps = []
    while first < end:
        steps.append(first)
        first *= 2
    return steps
