"""The way out through shared memory: the pieces of a result put into a ring, and stored from there."""

from __future__ import annotations

from isa.mechanisms import BULK_STORE, LOAD, STORE, WARP_STORE
from polyhedral import Affine, const
from ptxgen.compute import Statement
from ptxgen.derive.boxes import by_one_thread, check_map
from ptxgen.derive.draft import Draft, op, register_buffer, whole
from ptxgen.derive.hinting import eviction_of
from ptxgen.derive.layouts import fitting_vector
from ptxgen.derive.loops import Path, pieces_of
from ptxgen.derive.staging import ROW_BYTES, check_instruction, memory_vector, rank_of
from ptxgen.derive.ways import WayOut, way_out
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op, Touch, TouchKind
from ptxgen.plan import Drain, Swizzle
from ptxgen.tile import Buffer, Carrier, Coordinate, Copy, Distribution, Outside, Region

TENSOR_STORE = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
PATTERN_ROWS = 8


def drained(draft: Draft, statement: Statement, drain: Drain, result: Buffer, path: Path) -> list[Op]:
    """The ops of the pieces in turn: each put into the ring, then stored by one thread or read back and stored by all.

    PlanError where a piece is not spread over all threads, or facts, layout and instruction do not fit.
    """
    way = way_out(draft, statement, drain, result, pieces_of(path))
    found: list[Op] = []
    for number, corner in enumerate(way.corners):
        rank = rank_of(path) * way.count + number
        found.append(_put(draft, way, path, corner, rank, number))
        if way.stored is None:
            found.append(_store_box(draft, way, path, corner, rank, number))
        else:
            found.append(_read_back(draft, way, way.stored, path, corner, rank, number))
            found += _store_rows(draft, way, way.stored, path, corner, rank, number)
    return found


def _put(draft: Draft, way: WayOut, path: Path, corner: Coordinate, rank: Affine, number: int) -> Op:
    """Registers to the ring, by stores or matrices."""
    drain = way.drain
    assert drain.put is not None
    width = way.ring.element.byte_count
    if way.rows is None:
        vector = fitting_vector(way.ring.layout, way.held, max(1, drain.put.vector_bytes // width))
        mechanism, carrier = STORE, Carrier.ACCESS
    else:
        vector, mechanism, carrier = ROW_BYTES // width, WARP_STORE, Carrier.MATRIX
        if fitting_vector(way.ring.layout, way.rows.reach, vector) != vector:
            raise PlanError(
                f"{drain.op}: the layout of {way.ring.name} does not keep rows of 16 bytes together", line=drain.line
            )
    source, destination = whole(way.result, 0, corner), whole(way.ring, rank, corner)
    node = Copy(
        drain.op,
        source,
        destination,
        way.held,
        vector,
        (),
        Outside.NEVER,
        drain.line,
        carrier,
        way.rows,
    )
    touches = (Touch(way.result, TouchKind.READ, const(0)), Touch(way.ring, TouchKind.WRITE, rank))
    return op(drain.op, path, draft.domain(path), mechanism, touches, node, drain.line, (), (number,))


def _store_box(draft: Draft, way: WayOut, path: Path, corner: Coordinate, rank: Affine, number: int) -> Op:
    """The ring to memory by one thread, which has as many boxes copied as a piece has; outside the array nothing is."""
    drain = way.drain
    array = draft.space.compute.array(way.target.array)
    check_instruction(draft, TENSOR_STORE, drain)
    check_map(draft, drain, array)
    own = way.pieces.unpacked(by_one_thread(way.pieces.packed_shape))
    _check_boxes(drain, way, own)
    destination = _in_memory(draft, way, path, corner)
    ragged = draft.ragged(path, way.target.named)
    guarded = tuple(place for place, dim in enumerate(way.target.dims) if dim in ragged)
    name = f"{drain.array}.global"
    source = whole(way.ring, rank, corner)
    told = eviction_of(draft.space, name)
    node = Copy(name, source, destination, own, 1, guarded, Outside.NEVER, drain.line, Carrier.TENSOR, eviction=told)
    touches = (Touch(way.ring, TouchKind.READ, rank), Touch(destination.buffer, TouchKind.WRITE, const(0)))
    return op(name, path, draft.domain(path), BULK_STORE, touches, node, drain.line, (), (number,))


def _check_boxes(drain: Drain, way: WayOut, own: Distribution) -> None:
    """Boxes that lie apart start where the pattern of the swizzle does."""
    layout, width = way.ring.layout, way.ring.element.byte_count
    assert drain.through is not None
    assert isinstance(drain.through.layout, Swizzle)
    pattern = drain.through.layout.span * PATTERN_ROWS
    for image in own.values:
        place = next(d for d, value in enumerate(image) if value)
        below = tuple(value >> 1 for value in image)
        apart = image[place] > 1 and below not in own.values
        if apart and layout.offset(image) * width % pattern:
            raise PlanError(
                f"{drain.op}: the parts of a piece lie {image[place]} apart along dimension {place}, but a box of "
                f"fewer than {PATTERN_ROWS} rows does not fill the pattern of {drain.through.layout.value}",
                line=drain.line,
            )


def _in_memory(draft: Draft, way: WayOut, path: Path, corner: Coordinate) -> Region:
    origin = draft.at_origin(path, way.target)
    return Region(
        draft.global_buffer(way.target.array), const(0), tuple(o + c for o, c in zip(origin, corner, strict=True))
    )


def _read_back(
    draft: Draft, way: WayOut, stored: Distribution, path: Path, corner: Coordinate, rank: Affine, number: int
) -> Op:
    """The ring to the registers of the threads that store."""
    drain = way.drain
    rows = register_buffer(draft, drain.rows, drain.array, stored)
    vector = fitting_vector(way.ring.layout, stored, max(1, drain.by.vector_bytes // way.ring.element.byte_count))
    source = whole(way.ring, rank, corner)
    node = Copy(drain.rows, source, whole(rows, rank), stored, vector, (), Outside.ANY, drain.line)
    touches = (Touch(way.ring, TouchKind.READ, rank), Touch(rows, TouchKind.WRITE, rank))
    return op(drain.rows, path, draft.domain(path), LOAD, touches, node, drain.line, (), (number,))


def _store_rows(
    draft: Draft, way: WayOut, stored: Distribution, path: Path, corner: Coordinate, rank: Affine, number: int
) -> list[Op]:
    """Those registers to memory, guarded where the tile may leave the array."""
    drain, name = way.drain, f"{way.drain.array}.global"
    array = draft.space.compute.array(way.target.array)
    rows, destination = draft.buffers[drain.rows], _in_memory(draft, way, path, corner)
    found: list[Op] = []
    for domain, ragged in draft.variants(path, way.target.named):
        guarded = tuple(place for place, dim in enumerate(way.target.dims) if dim in ragged)
        vector = memory_vector(draft, array, stored, destination.origin, guarded, drain.by.vector_bytes)
        node = Copy(name, whole(rows, rank), destination, stored, vector, guarded, Outside.NEVER, drain.line)
        touches = (Touch(rows, TouchKind.READ, rank), Touch(destination.buffer, TouchKind.WRITE, const(0)))
        found.append(op(name, path, domain, STORE, touches, node, drain.line, (), (number,)))
    return found
