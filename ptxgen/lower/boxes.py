"""Tiles copied box by box by one thread, there and back, and the maps that describe their arrays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from attrs import evolve, frozen

from polyhedral import Affine, const, var
from ptxgen.build import Value
from ptxgen.errors import UnsupportedError
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.bases import pool_start
from ptxgen.lower.context import Context
from ptxgen.lower.groups import first_thread
from ptxgen.lower.ranks import by_rank
from ptxgen.lower.registers import value_coordinates
from ptxgen.lower.rings import barrier_at, ring_of, slot_of
from ptxgen.tile import MIDDLE, Buffer, Copy, Eviction, Region, Side, Space, TensorBox

TENSOR_STORE = "cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group"
TENSOR_COPY = "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"


@frozen
class Piece:
    """One box of a tile: where it starts in the tile, and its first byte in a slot."""

    start: tuple[int, ...]
    byte_offset: int


def pieces(copy: Copy, box: TensorBox) -> tuple[Piece, ...]:
    """The boxes that make up what is copied: as many as rows of the swizzle's span lie beside each other, and as parts
    of a piece lie apart. A box starts with a whole row, wherever in it the swizzle puts the first element."""
    buffer = next(side.buffer for side in (copy.source, copy.destination) if side.buffer.space is Space.SHARED)
    inside = dict(zip(box.order, box.extents, strict=True))
    apart = [image for image in copy.distribution.values if any(image[d] >= size for d, size in inside.items())]
    corners = value_coordinates(evolve(copy.distribution, values=tuple(apart)))
    row = buffer.layout.row_elements(box.order[0])
    starts = ((c, buffer.layout.offset(c) // row * row) for c in sorted(corners))
    return tuple(Piece(c, start * buffer.element.byte_count) for c, start in starts)


def box_of(context: Context, copy: Copy) -> TensorBox:
    """The map that a copy goes by."""
    for box in context.program.boxes:
        if box.op == copy.op:
            return box
    raise UnsupportedError(f"{copy.op}: no tensor map describes the array of {copy.source.buffer.name}")


def lower_box_copy(context: Context, copy: Copy) -> None:
    """One copy for each box; all arrive at the full barrier of the tile's slot, in each block that they go to."""
    box = box_of(context, copy)
    ring = ring_of(context.program, copy.ring)
    rank = context.resolved(copy.destination.rank)
    slot = slot_of(context, ring.depth, rank)
    barrier = barrier_at(context, ring, Side.FULL, slot)
    name = TENSOR_COPY.format(box.rank) + (".multicast::cluster" if copy.masks else "")
    put, hint = _hinted(context, name, copy)
    to, condition = _blocks(context, copy)
    first = part_address(context, copy, slot)
    for piece in pieces(copy, box):
        corner = _corner(context, copy.source, piece, box)
        where, description = first + piece.byte_offset, map_address(context, box)
        with nullcontext() if condition is None else context.k.guard(condition):
            put(where, (description, corner), barrier, *to, *hint)


def _blocks(context: Context, copy: Copy) -> tuple[tuple[Value, ...], Value | None]:
    """The mask of the blocks that a copy goes to, and whether there are any where that is a question."""
    if not copy.masks:
        return (), None
    mask = by_rank(context, copy.masks)

    def narrowed() -> Value:
        half: Value = context.k.mov.b16(mask) if isinstance(mask, int) else context.k.cvt.u16.u32(mask)
        return half

    some = None
    if 0 in copy.masks:
        some = context.once(("some blocks", copy.masks), lambda: context.k.setp.ne.s32(mask, 0))
    return (context.once(("mask", copy.masks), narrowed),), some


def part_address(context: Context, copy: Copy, slot: Number) -> Value:
    """The first byte that a block's copy fills: parts of a tile lie one behind the other."""
    start, layout = slot_address(context, copy.destination.buffer, slot), copy.destination.buffer.layout
    offset = const(0)
    for place, corner in enumerate(copy.destination.origin):
        unit = [0] * len(copy.destination.origin)
        for name, coefficient in (*corner.terms, ("", corner.constant)):
            unit[place] = coefficient
            elements = layout.offset(tuple(unit))
            offset = offset + (var(name) * elements if name else elements)
    moved = context.integer(context.resolved(offset * copy.destination.buffer.element.byte_count))
    return context.once(("part", start.node, offset), lambda: context.narrow.value(context.narrow.add(start, moved)))


def lower_box_store(context: Context, copy: Copy) -> None:
    """One store for each box, by the role's first thread; what is outside the array is not stored."""
    box, buffer = box_of(context, copy), copy.source.buffer
    slot = slot_of(context, buffer.depth, context.resolved(copy.source.rank))
    put, hint = _hinted(context, TENSOR_STORE.format(box.rank), copy)
    first, described, chosen = slot_address(context, buffer, slot), map_address(context, box), first_thread(context)
    for piece in pieces(copy, box):
        corner = _corner(context, copy.destination, piece, box)
        with context.k.guard(chosen):
            put((described, corner), first + piece.byte_offset, *hint)


def _hinted(context: Context, name: str, copy: Copy) -> tuple[Callable[..., Any], tuple[Value, ...]]:
    """The instruction of a copy, and the policy that it takes where the copy says what becomes of its lines."""
    if copy.eviction is None:
        return context.k.function(name), ()
    return context.k.function(f"{name}.L2::cache_hint"), (policy(context, copy.eviction),)


def policy(context: Context, eviction: Eviction) -> Value:
    """A cache policy for all lines of a copy (PTX ISA, createpolicy.fractional)."""

    def made() -> Value:
        found: Value = context.k.function(f"createpolicy.fractional.L2::{eviction.value}.b64")()
        return found

    return context.once(("policy", eviction), made)


def _corner(context: Context, memory: Region, piece: Piece, box: TensorBox) -> list[Value]:
    """The coordinates of a box in its array, in the order of the map (`TensorBox`)."""
    found = {place: context.resolved(memory.origin[place]) + piece.start[place] for place in box.order}
    beside: tuple[Affine, ...] = ()
    if box.bounded is not None:
        end = context.resolved(memory.buffer.in_memory.reach[box.bounded])
        found[box.bounded] = found[box.bounded] - end + MIDDLE
        beside = (end, const(MIDDLE))
    return [context.narrow.value(context.integer(coordinate)) for coordinate in (*found.values(), *beside)]


def slot_address(context: Context, buffer: Buffer, slot: Number) -> Value:
    """The first byte of a slot of a ring."""
    start = context.pool.offsets[buffer.name]
    return tile_address(context, buffer.name, slot, buffer.slot_bytes, start)


def tile_address(context: Context, name: str, slot: Number, slot_bytes: int, start: int) -> Value:
    """The first byte of a slot of a shared buffer."""

    def address() -> Value:
        first = context.narrow.add(pool_start(context), start)
        return context.narrow.value(context.narrow.multiply_add(slot, slot_bytes, first))

    return context.once(("tile", name, slot if isinstance(slot, int) else slot.node), address)


def map_address(context: Context, box: TensorBox) -> Value:
    """The generic address of a tensor map, a parameter of the kernel."""

    def address() -> Value:
        inside = context.k.mov.b64(context.k.args[box.name])
        generic: Value = context.k.cvta.param.u64(inside)
        return generic

    return context.once(("map", box.name), address)
