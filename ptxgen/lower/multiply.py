"""Products of fragments: one instruction for each repeat."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from isa.forms import resolve
from isa.fragments import Fragment, Place, fragment
from isa.types import Kind
from ptxgen.build import Value
from ptxgen.compute import Element
from ptxgen.errors import UnsupportedError
from ptxgen.lower.context import Context
from ptxgen.lower.registers import constant_origin, constant_slot, values_per_register
from ptxgen.tile import Factor, Multiply, MultiplyRow, bit_count

_FIRST_REPEAT = 1 << 16


def lower_multiply(context: Context, node: Multiply) -> None:
    """Multiplies the fragments, for each k in ascending order a serpentine over (m, n)."""
    row = node.row
    sides = tuple(
        (each.region.buffer.name, each.row_dimension, each.column_dimension) for each in (node.c, node.a, node.b)
    )
    context.alike(("fragments", row, node.repeats, sides), lambda: check_fragments(node))
    multiply = context.k.function(row.instruction)
    own_a, own_b, own_c = _own_values(row)
    m, n, _ = node.repeats
    a = _registers(context, node.a, own_a)
    b = _registers(context, node.b, own_b)
    c = _registers(context, node.c, own_c)
    for m_step, n_step, k_step in serpentine(node.repeats):
        into = c(m_step + m * n_step)
        added = _nothing(context, into) if node.fresh and k_step == 0 else into
        multiply(a(m_step + m * k_step), b(n_step + n * k_step), added, into=into)


def _nothing(context: Context, like: tuple[Value, ...]) -> tuple[Value, ...]:
    """Registers of zeros."""
    kind = like[0].type
    zero = context.once(("nothing", kind), lambda: context.k.register(kind, 0.0 if kind.kind is Kind.FLOAT else 0))
    return (zero,) * len(like)


def serpentine(repeats: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    """The (m, n, k) repeats in order: neighbours within a k differ in m or n alone."""
    m, n, k = repeats
    for k_step in range(k):
        for n_step in range(n):
            steps = range(m) if n_step % 2 == 0 else reversed(range(m))
            for m_step in steps:
                yield m_step, n_step, k_step


class _Fragments:
    """The registers of one operand: `fragments(r)` is a tuple of those of repeat r."""

    def __init__(self, registers: tuple[Value, ...], count: int) -> None:
        self._registers = registers
        self._count = count

    def __call__(self, repeat: int) -> tuple[Value, ...]:
        return self._registers[repeat * self._count : (repeat + 1) * self._count]


def _registers(context: Context, factor: Factor, own_values: int) -> _Fragments:
    region = factor.region
    if any(constant_origin(region)):
        raise UnsupportedError(f"{region.buffer.name}: a multiplication uses whole fragments, not a part")
    registers = context.tiles.slot(region.buffer, constant_slot(region, context.bindings))
    return _Fragments(registers, own_values // values_per_register(region.buffer.element))


@cache
def _own_values(row: MultiplyRow) -> tuple[int, int, int]:
    """The elements of a, b and c that a lane gives to one instruction, from the row's operand slots."""
    slots = {slot.name: slot for slot in resolve(row.instruction)[0].signatures[0].slots}
    narrow, wide = values_per_register(row.input), values_per_register(row.accumulate)
    return slots["a"].count * narrow, slots["b"].count * narrow, slots["c"].count * wide


def check_fragments(node: Multiply) -> None:
    """UnsupportedError unless each lane holds the elements that the instruction takes from it (isa.fragments).

    C says which row and column of the tile an instruction's row and column are; A must hold that row, B that column,
    and both the same k. The maps are linear, so it is enough to compare the images of single bits.
    """
    row = node.row
    sides = {"a": node.a, "b": node.b, "c": node.c}
    maps = _maps(row)
    rows, columns, depths = _Lines(), _Lines(), _Lines()
    m, n, k = map(bit_count, node.repeats)
    fits = (
        _agrees(node.c, maps["c"], _repeated((0, m), (1, n)), (rows, columns))
        and _agrees(node.a, maps["a"], _repeated((0, m), (1, k)), (rows, depths))
        and _agrees(node.b, maps["b"], _repeated((1, n), (0, k)), (depths, columns))
    )
    if not fits:
        held = "; ".join(f"{name} {side.region.buffer.distribution}" for name, side in sides.items())
        raise UnsupportedError(
            f"{node.op}: the registers do not hold what {row.instruction} takes from each lane: {held}"
        )


@cache
def _maps(row: MultiplyRow) -> dict[str, Fragment]:
    shape = row.shape
    by_layout = shape == "m8n8k4" and row.input is Element.F16
    return {
        "a": fragment(shape, "a", row.input.label, row.a_order.value if by_layout else ""),
        "b": fragment(shape, "b", row.b_input.label, row.b_order.value if by_layout else ""),
        "c": fragment(shape, "c", row.accumulate.label),
    }


class _Lines(dict[tuple[int, int], int]):
    """Which line of the tile line n of product t is: bit by bit, for (tile bit, line bit) of the instruction."""

    def agree(self, bit: tuple[int, int], line: int) -> bool:
        """Notes the line, or compares it with what was noted."""
        return self.setdefault(bit, line) == line


def _repeated(*counts: tuple[int, int]) -> tuple[Place, ...]:
    """The places of the value bits behind the instruction's own: (side, bits) repeats along rows (0) or columns (1)."""
    places: list[Place] = []
    for side, bits in counts:
        for bit in range(bits):
            line = _FIRST_REPEAT << bit
            places.append((0, line, 0) if side == 0 else (0, 0, line))
    return tuple(places)


def _agrees(factor: Factor, map_: Fragment, repeats: tuple[Place, ...], lines: tuple[_Lines, _Lines]) -> bool:
    held = factor.region.buffer.distribution
    images = (*held.lanes, *held.values)
    own = (*map_.lane_bits, *map_.value_bits, *repeats)
    if len(images) != len(own):
        return False
    for image, (tile, row, column) in zip(images, own, strict=True):
        where = image[factor.row_dimension], image[factor.column_dimension]
        for line, bit, known in zip(where, (row, column), lines, strict=True):
            if not known.agree((tile, bit), line):
                return False
    return True
