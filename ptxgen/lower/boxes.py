"""Tiles copied box by box by one thread, and the maps that describe their arrays."""

from __future__ import annotations

from attrs import frozen

from ptxgen.build import Value
from ptxgen.errors import UnsupportedError
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.bases import pool_start
from ptxgen.lower.context import Context
from ptxgen.lower.rings import barrier_at, ring_of, slot_of
from ptxgen.tile import Copy, Side, TensorBox

TENSOR_COPY = "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"


@frozen
class Piece:
    """One box of a tile: where it starts in the tile, and its first byte in a slot."""

    start: tuple[int, ...]
    byte_offset: int


def pieces(copy: Copy, box: TensorBox) -> tuple[Piece, ...]:
    """The boxes that make up a tile: as many as rows of the swizzle's span lie beside each other."""
    buffer = copy.destination.buffer
    along, width = box.order[0], box.extents[0]
    found = []
    for start in range(0, buffer.shape[along], width):
        corner = tuple(start if place == along else 0 for place in range(len(buffer.shape)))
        found.append(Piece(corner, buffer.layout.offset(corner) * buffer.element.byte_count))
    return tuple(found)


def lower_box_copy(context: Context, copy: Copy) -> None:
    """One copy for each box; all of them arrive at the full barrier of the tile's slot."""
    box = next((box for box in context.program.boxes if box.op == copy.op), None)
    if box is None:
        raise UnsupportedError(f"{copy.op}: no tensor map describes {copy.source.buffer.name}")
    ring = ring_of(context.program, copy.ring)
    rank = context.resolved(copy.destination.rank)
    slot = slot_of(context, ring.depth, rank)
    barrier = barrier_at(context, ring, Side.FULL, slot)
    put = context.k.function(TENSOR_COPY.format(len(box.order)))
    for piece in pieces(copy, box):
        corner = [
            context.narrow.value(context.integer(context.resolved(copy.source.origin[place]) + piece.start[place]))
            for place in box.order
        ]
        put(slot_address(context, copy, slot) + piece.byte_offset, (map_address(context, box), corner), barrier)


def slot_address(context: Context, copy: Copy, slot: Number) -> Value:
    """The first byte of a slot of the ring that a copy fills."""
    buffer = copy.destination.buffer
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
