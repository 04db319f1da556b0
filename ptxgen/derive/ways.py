"""The way out of a result: pieces, the ring that they go through, its layout, and who puts and stores what."""

from __future__ import annotations

from attrs import frozen

from ptxgen.compute import Array, Statement
from ptxgen.derive.access import Reach, reach
from ptxgen.derive.draft import Draft
from ptxgen.derive.layouts import SharedAccess, common_vector, conflict_free, swizzled
from ptxgen.derive.loops import RolledLoop
from ptxgen.derive.pieces import Pieces
from ptxgen.derive.placement import coalesced
from ptxgen.derive.staging import ROW_BYTES, check_instruction
from ptxgen.errors import PlanError
from ptxgen.plan import Drain, IntoShared, LayoutWish, Swizzle, Transport
from ptxgen.tile import Buffer, Coordinate, Distribution, MatrixRows, SharedLayout, Space, matrix_rows


@frozen
class WayOut:
    """A result on its way: the pieces that its tile is cut into, what each lane puts and the ring that it goes to, and
    for a way by threads what each of them stores."""

    drain: Drain
    target: Reach
    pieces: Pieces
    result: Buffer
    ring: Buffer
    held: Distribution
    rows: MatrixRows | None
    stored: Distribution | None
    cut: RolledLoop | None

    @property
    def corners(self) -> tuple[Coordinate, ...]:
        """Where each piece starts in the result: one where a loop around it goes from piece to piece."""
        return self.pieces.corners[:1] if self.cut else self.pieces.corners

    @property
    def count(self) -> int:
        """How many pieces there are."""
        return len(self.corners)


def way_out(draft: Draft, statement: Statement, drain: Drain, result: Buffer, cut: RolledLoop | None) -> WayOut:
    """The way that a drain step asks for, of a result that is `cut` into pieces before it leaves or is not; PlanError
    where a piece is not spread over all threads or nothing fits."""
    if cut and drain.pieces != ((cut.dim, cut.size),):
        raise PlanError(
            f"{drain.op}: {statement.name} is finished in pieces of {cut.dim}={cut.size} and leaves in the same ones, "
            f"not in {', '.join(f'{dim}={size}' for dim, size in drain.pieces) or 'one'}",
            line=drain.line,
        )
    target = reach(statement, statement.target)
    array = draft.space.compute.array(target.array)
    dims = [dim for dim in target.dims if dim is not None]
    if len(dims) < len(target.dims) or any(d > 1 for d in target.divisors) or result.distribution.is_replicated:
        raise PlanError(
            f"{drain.op}: only a tile with one element for each lane and value leaves through shared memory, not "
            f"{target.array} as {statement.name} fills it; drain it through=None",
            line=drain.line,
        )
    sizes = {dims.index(dim): size for dim, size in drain.pieces}
    extents = tuple(draft.space.warp_extent(statement, dim) for dim in dims)
    pieces = Pieces.of(result.shape, extents, sizes)
    held = pieces.within(result.distribution)
    if held is None:
        asked = ", ".join(f"{dim}={size}" for dim, size in drain.pieces)
        raise PlanError(
            f"{drain.op}: pieces of {asked} are not spread over all threads, which hold {result.distribution}",
            line=drain.line,
        )
    rows = _matrix_rows(draft, drain, array, held)
    stored = None if drain.by.transport is Transport.TENSOR else _dealt(draft, drain, array, pieces)
    ring = _ring(draft, drain, array, pieces, rows.reach if rows else held, stored)
    return WayOut(drain, target, pieces, result, ring, held, rows, stored, cut)


def _matrix_rows(draft: Draft, drain: Drain, array: Array, held: Distribution) -> MatrixRows | None:
    """The rows of matrices that lanes put, where the plan asks for matrices."""
    put, width, contiguous = drain.put, array.element.byte_count, _contiguous(drain, array)
    assert put is not None
    if put.transport is not Transport.STMATRIX:
        return None
    check_instruction(draft, f"stmatrix.sync.aligned.m8n8.x{put.matrices}.shared.b16", drain)
    rows = matrix_rows(held, width, contiguous, put.matrices)
    if rows is None or (rows.transposed and width != 2):
        raise PlanError(
            f"{drain.op}: {put} takes from each lane words of rows that lie together in memory, but {array.name} is "
            f"held otherwise: {held}",
            line=drain.line,
        )
    return rows


def _contiguous(drain: Drain, array: Array) -> int:
    if array.contiguous_dimension is None:
        raise PlanError(
            f"{drain.op}: no dimension of {array.name} lies together in memory: drain it through=None", line=drain.line
        )
    return array.contiguous_dimension


def _dealt(draft: Draft, drain: Drain, array: Array, pieces: Pieces) -> Distribution:
    """Who stores what of a piece, so that requests fill whole lines; in packed coordinates."""
    width, contiguous = array.element.byte_count, _contiguous(drain, array)
    vector = min(pieces.packed_shape[contiguous], max(1, drain.by.vector_bytes // width))
    dealt = coalesced(pieces.packed_shape, contiguous, width, vector, draft.space.warp_bits)
    if dealt.is_replicated:
        raise PlanError(
            f"{drain.op}: a piece of {'x'.join(map(str, pieces.packed_shape))} has fewer than {vector} elements for "
            f"each thread: take larger pieces",
            line=drain.line,
        )
    return pieces.unpacked(dealt)


def _ring(
    draft: Draft, drain: Drain, array: Array, pieces: Pieces, written: Distribution, stored: Distribution | None
) -> Buffer:
    assert drain.through is not None
    layout = pieces.laid_out(_layout(drain, drain.through, array, pieces, written, stored))
    into = drain.through
    ring = Buffer(drain.op, array.name, array.element, Space.SHARED, pieces.shape, into.depth, layout, into.alias or "")
    below = draft.buffers.get(ring.alias)
    if below is not None and below.slot_bytes * below.depth < ring.slot_bytes * ring.depth:
        raise PlanError(
            f"{drain.op} has {ring.slot_bytes * ring.depth} bytes and does not fit over {below.name}, which has "
            f"{below.slot_bytes * below.depth}",
            line=drain.line,
        )
    return draft.add_buffer(ring)


def _layout(
    drain: Drain, into: IntoShared, array: Array, pieces: Pieces, written: Distribution, stored: Distribution | None
) -> SharedLayout:
    """The layout of one piece, in packed coordinates."""
    contiguous, width, shape = _contiguous(drain, array), array.element.byte_count, pieces.packed_shape
    match into.layout:
        case Swizzle(span):
            try:
                return swizzled(shape, contiguous, width, span, apart=True)
            except ValueError as error:
                raise PlanError(f"{drain.op}: {error}", line=drain.line) from None
        case LayoutWish.LINEAR:
            return SharedLayout.linear(shape, contiguous)
        case _:
            assert stored is not None
            assert drain.put is not None
            load = pieces.packed(stored)
            wide = ROW_BYTES if drain.put.transport is Transport.STMATRIX else drain.put.vector_bytes
            put = pieces.packed(written)
            vector = common_vector(put, load, max(1, wide // width))
            most = min(load.value_count, max(1, drain.by.vector_bytes // width))
            return conflict_free(shape, width, SharedAccess(put, vector), SharedAccess(load, most), contiguous)
