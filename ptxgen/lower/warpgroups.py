"""Products of warpgroups: descriptors of operands in shared memory, one instruction for each step along k."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from isa.descriptors import SharedMatrix, Swizzle
from ptxgen.build import Value
from ptxgen.errors import UnsupportedError
from ptxgen.lower.bases import shared_thread_base
from ptxgen.lower.boxes import tile_address
from ptxgen.lower.context import Context
from ptxgen.lower.held import held_operand, held_sums
from ptxgen.lower.multiply import serpentine
from ptxgen.lower.registers import constant_origin
from ptxgen.lower.rings import slot_of
from ptxgen.lower.threads import ThreadMap
from ptxgen.tile import Coordinate, Distribution, Factor, Multiply, MultiplyRow, Space

UNIT_BYTES = 16
ADDRESS_SHIFT = 4
ADDRESS_MASK = (1 << 14) - 1
PATTERN_ROWS = 8
SWIZZLED_SPANS = (32, 64, 128)


@frozen
class Described:
    """An operand as the instruction's descriptor tells of it: its constant bits, without an address, whether it lies
    along m or n instead of k, and the byte offsets of each repeat along m or n and of each step along k."""

    bits: int
    across: bool
    repeats: tuple[int, ...]
    steps: tuple[int, ...]


def described(factor: Factor, side: int, inner: int, extent: int, depth: int, counts: tuple[int, int]) -> Described:
    """The descriptor of a shared tile whose dimension `side` is m or n and whose dimension `inner` is k; an instruction
    takes `extent` by `depth` of it, `counts` times each way. UnsupportedError where its layout is none that a
    descriptor tells of (PTX ISA, wgmma, canonical layouts)."""
    layout, width = factor.region.buffer.layout, factor.region.buffer.element.byte_count
    across = layout.offsets[side][0] == 1
    span = layout.row_elements(side if across else inner) * width
    if span not in SWIZZLED_SPANS or not (across or layout.offsets[inner][0] == 1):
        raise UnsupportedError(
            f"{factor.region.buffer.name}: a warpgroup's product reads swizzled rows of 32, 64 or 128 bytes, not {span}"
        )

    def at(dimension: int, coordinate: int) -> int:
        corner = tuple(coordinate if place == dimension else 0 for place in range(len(layout.shape)))
        return layout.offset(corner) * width

    rows = inner if across else side
    stride = at(rows, PATTERN_ROWS)
    beside = span // width
    leading = at(side, beside) if across and beside < layout.shape[side] else UNIT_BYTES
    bits = SharedMatrix(0, leading, stride, Swizzle(span)).bits
    first = constant_origin(factor.region)
    repeats = tuple(at(side, first[side] + extent * number) for number in range(counts[0]))
    steps = tuple(at(inner, first[inner] + depth * number) for number in range(counts[1]))
    return Described(bits, across, repeats, steps)


def lower_warpgroup_multiply(context: Context, node: Multiply) -> None:
    """Issues the products of a step in ascending order of k."""
    row, k = node.row, context.k
    _, n, depth = node.repeats
    left = _left(context, node)
    b = described(node.b, node.b.column_dimension, node.b.row_dimension, row.n, row.k, (n, depth))
    sums = held_sums(context, node)
    first = _address(context, node.b, ThreadMap())
    multiply = k.function(row.instruction)
    added = context.once(("added",), lambda: k.setp.ne.b32(1, 0))
    for m_step, n_step, k_step in serpentine(node.repeats):
        right = _descriptor(context, first, b, b.repeats[n_step] + b.steps[k_step])
        scale = 0 if node.fresh and k_step == 0 else added
        multiply(sums(m_step, n_step), left.operand(m_step, k_step), right, scale, *_modifiers(row, left.lies, b))


@frozen
class _Left:
    """Operand A of a step: what an instruction is given of it for each repeat along m and step along k, and whether it
    lies along m, which is said of what is in shared memory only."""

    operand: Callable[[int, int], Value | tuple[Value, ...]]
    lies: tuple[int, ...]


def _left(context: Context, node: Multiply) -> _Left:
    if node.a.region.buffer.space is Space.REGISTERS:
        return _Left(held_operand(context, node), ())
    m, _, depth = node.repeats
    a = described(node.a, node.a.row_dimension, node.a.column_dimension, node.row.m, node.row.k, (m, depth))
    first = _address(context, node.a, _group_map(node))

    def operand(m_step: int, k_step: int) -> Value:
        return _descriptor(context, first, a, a.repeats[m_step] + a.steps[k_step])

    return _Left(operand, (int(a.across),))


def _modifiers(row: MultiplyRow, lies: tuple[int, ...], b: Described) -> tuple[int, ...]:
    """What follows the operands: signs of products of floats, and of 16 bits how the operands lie (PTX ISA, wgmma)."""
    if row.input.is_integer:
        return ()
    return (1, 1, *lies, int(b.across)) if row.input.bits == 16 else (1, 1)


def _group_map(node: Multiply) -> ThreadMap:
    """The byte offset of a warpgroup's first row of A, from the bits of the thread's number above its warpgroup."""
    held: Distribution = node.c.region.buffer.distribution
    layout, width = node.a.region.buffer.layout, node.a.region.buffer.element.byte_count
    rows = [image[node.c.row_dimension] for image in held.warps[2:]]

    def place(row: int) -> Coordinate:
        return tuple(row if d == node.a.row_dimension else 0 for d in range(len(layout.shape)))

    return ThreadMap((*(0,) * 7, *(layout.offset(place(row)) * width for row in rows)))


def _address(context: Context, factor: Factor, threads: ThreadMap) -> Value:
    """The first byte of an operand's tile in shared memory, plus what the thread's warpgroup adds."""
    buffer = factor.region.buffer
    slot = slot_of(context, buffer.depth, context.resolved(factor.region.rank))
    if not threads.mask:
        return tile_address(context, buffer.name, slot, buffer.slot_bytes, context.pool.offsets[buffer.name])

    def address() -> Value:
        first = context.narrow.add(shared_thread_base(context, threads), context.pool.offsets[buffer.name])
        return context.narrow.value(context.narrow.multiply_add(slot, buffer.slot_bytes, first))

    return context.once(("tile", buffer.name, threads, slot if isinstance(slot, int) else slot.node), address)


def _descriptor(context: Context, first: Value, told: Described, byte_offset: int) -> Value:
    """The descriptor of what lies `byte_offset` behind an address: its low word counts units of 16 bytes. In a cluster
    the block's rank stands in the high bits of shared addresses, where the descriptor has other fields."""
    k = context.k

    def word() -> Value:
        units = k.shr.u32(first, ADDRESS_SHIFT)
        if context.program.grid.cluster > 1:
            units = k.and_.b32(units, ADDRESS_MASK)
        made: Value = k.add.u32(units, told.bits & 0xFFFFFFFF)
        return made

    low = context.once(("descriptor", first.node, told.bits), word)
    moved = k.add.u32(low, byte_offset >> ADDRESS_SHIFT) if byte_offset else low
    made: Value = k.mov.b64((moved, k.mov.b32(told.bits >> 32)))
    return made
