"""Tiles that one thread has copied box by box from memory to shared memory."""

from __future__ import annotations

from math import prod

from isa.mechanisms import BULK_LOAD
from polyhedral import Affine, const
from ptxgen.compute import Array, Statement
from ptxgen.derive.access import Reach
from ptxgen.derive.draft import Draft, op
from ptxgen.derive.hinting import eviction_of
from ptxgen.derive.layouts import swizzled
from ptxgen.derive.loops import Path
from ptxgen.derive.placement import unit
from ptxgen.derive.segments import check_boxed
from ptxgen.derive.sharing import Sharing, Tile, sharing
from ptxgen.derive.staging import ahead_in, check_instruction, distribution_moves, path_at, rank_of, tile_shape
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op, Touch, TouchKind
from ptxgen.plan import Drain, IntoShared, Stage, Swizzle
from ptxgen.tile import (
    LANE_BITS,
    Buffer,
    Carrier,
    Copy,
    Distribution,
    Outside,
    Region,
    SharedLayout,
    Space,
    TensorBox,
    coordinate_bits,
    is_power,
    zero,
)

MAP_UNIT_BYTES = 16
PATTERN_ROWS = 8
PROMOTED_BYTES = 128
TENSOR_COPY = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"


def boxes(draft: Draft, statement: Statement, step: Stage, access: Reach, path: Path) -> Buffer:
    """The ring of the tiles that a statement in the loops of `path` reads, with the op that fills it: in the role that
    the plan names for it, once for all statements that share its loops."""
    ring = box_ring(draft, step, tile_shape(draft, statement, access, step.at))
    inside, own = path_at(draft, path, step.at), draft.role
    moving = next((loop for loop in path[len(inside) :] if loop.dim in access.named), None)
    if moving is not None:
        raise PlanError(
            f"{step.op}: the loop {moving.at} inside {step.at} goes from one tile of {access.array} to the next: stage "
            f"it at {moving.at}, or leave {moving.dim} of constant length untiled, so that one tile has all of it",
            line=step.line,
        )
    draft.role = draft.role_of(step.op)
    if draft.role == own:
        raise PlanError(
            f"{step.op}: one thread has boxes copied, in a role of its own: roles(load=role({step.op!r}), ...)",
            line=step.line,
        )
    if all(not isinstance(item, Op) or item.name != step.op for item in draft.body(inside).items):
        draft.append(inside, [copy_box(draft, step, access, inside, ring)])
    draft.role = own
    return ring


def box_ring(draft: Draft, step: Stage, shape: tuple[int, ...]) -> Buffer:
    """The shared ring that a stage by tensor copies asks for. PlanError for a layout that the copies cannot make."""
    assert isinstance(step.into, IntoShared)
    array = draft.space.compute.array(step.array)
    layout = _layout(step, array, shape)
    return draft.add_buffer(Buffer(step.op, step.array, array.element, Space.SHARED, shape, step.into.depth, layout))


def _layout(step: Stage, array: Array, shape: tuple[int, ...]) -> SharedLayout:
    assert isinstance(step.into, IntoShared)
    contiguous = array.contiguous_dimension
    wish = step.into.layout
    if contiguous is None or not isinstance(wish, Swizzle):
        raise PlanError(
            f"{step.op}: tensor copies lay a tile out by swizzle(32), swizzle(64) or swizzle(128) along the dimension "
            f"that lies together in memory, not as {wish.value}",
            line=step.line,
        )
    tile, pattern = prod(shape) * array.element.byte_count, PATTERN_ROWS * wish.span
    if tile % pattern:
        raise PlanError(
            f"{step.op}: a tile of {tile} bytes does not fill the pattern of {wish.value}, {PATTERN_ROWS} rows of it: "
            f"take larger tiles or a narrower swizzle",
            line=step.line,
        )
    try:
        return swizzled(shape, contiguous, array.element.byte_count, wish.span)
    except ValueError as error:
        raise PlanError(f"{step.op}: {error}", line=step.line) from None


def copy_box(draft: Draft, step: Stage, access: Reach, path: Path, ring: Buffer) -> Op:
    """The op by which one thread has an array's tile copied. Outside the array it brings zeros. What blocks of a
    cluster have in common they bring to each other, in slices or one for all.

    PlanError where the facts do not show what a tensor map needs: an address and strides that are multiples of 16
    bytes.
    """
    array = draft.space.compute.array(step.array)
    check_instruction(draft, TENSOR_COPY, step)
    check_map(draft, step, array)
    origin = draft.at_origin(path, access)
    contiguous = array.contiguous_dimension
    assert contiguous is not None
    whole_tile = Tile(ring.shape, contiguous, ring.layout.row_elements(contiguous))
    shared = sharing(draft.space, step, origin, ring.layout, whole_tile)
    shape, moved = part_of(ring.shape, shared)
    source = Region(draft.global_buffer(array.name), const(0), tuple(o + m for o, m in zip(origin, moved, strict=True)))
    rank = rank_of(path)
    masks, shares = (shared.masks, shared.shares) if shared else ((), 1)
    ragged = draft.ragged(path, access.named)
    guarded = tuple(place for place, dim in enumerate(access.dims) if dim in ragged)
    node = Copy(
        step.op,
        source,
        Region(ring, rank, moved),
        by_one_thread(shape),
        1,
        guarded,
        Outside.ZERO,
        step.line,
        Carrier.TENSOR,
        masks=masks,
        eviction=eviction_of(draft.space, step.op),
    )
    filled = Touch(ring, TouchKind.WRITE, rank, masks=masks, shares=shares)
    touches = (Touch(source.buffer, TouchKind.READ, const(0)), filled)
    early = ahead_in(draft, step.op, path)
    return op(step.op, path, draft.domain(path), BULK_LOAD, touches, node, step.line, early)


def part_of(shape: tuple[int, ...], shared: Sharing | None) -> tuple[tuple[int, ...], tuple[Affine, ...]]:
    """The box that a block brings, and where it starts in the tile."""
    if shared is None:
        return shape, tuple(const(0) for _ in shape)
    extent = shape[shared.dimension] // shared.shares
    part = tuple(extent if place == shared.dimension else whole for place, whole in enumerate(shape))
    return part, tuple(shared.number * extent if place == shared.dimension else const(0) for place in range(len(shape)))


def check_map(draft: Draft, step: Stage | Drain, array: Array) -> None:
    """PlanError where the facts do not show what a tensor map needs, or tiles begin where no box can."""
    check_boxed(draft.space, array, step.op, step.line)
    width = array.element.byte_count
    strides = [s for place, s in enumerate(array.strides) if not s.is_constant and distribution_moves(array, place)]
    count = draft.facts.vector(array.name, width, strides, MAP_UNIT_BYTES // width)
    if count * width < MAP_UNIT_BYTES:
        raise PlanError(
            f"{step.op}: a tensor map needs an address and strides that are multiples of {MAP_UNIT_BYTES} bytes, of "
            f"{array.name} only {count * width} are known; assume more, or copy by cp_async or through registers",
            line=step.line,
        )


def by_one_thread(shape: tuple[int, ...]) -> Distribution:
    """A tile that one thread moves: all of it are its values, those along an extent that is no power of two last."""
    rank = len(shape)
    places = sorted(range(rank), key=lambda place: not is_power(shape[place]))
    values = tuple(unit(rank, place, 1 << bit) for place in places for bit in range(coordinate_bits(shape[place])))
    return Distribution(shape, values, (zero(rank),) * LANE_BITS, ())


def tensor_box(array: Array, copy: Copy, *, early: bool = False) -> TensorBox:
    """The map of an array that is copied tile by tile or piece by piece; a box has rows of the swizzle's span, and of
    the rest what lies together. Dimensions of extent 1 that nothing moves along are left out. What is brought comes to
    the L2 cache with its neighbours in memory, which the next slab or the block beside asks for."""
    buffer = next(side.buffer for side in (copy.source, copy.destination) if side.buffer.space is Space.SHARED)
    contiguous = array.contiguous_dimension
    assert contiguous is not None
    row = buffer.layout.row_elements(contiguous)
    others = [d for d in reversed(range(len(buffer.shape))) if d != contiguous and distribution_moves(array, d)]
    extents = (row, *(_together(copy.distribution, buffer.layout, d) for d in others))
    span = row * array.element.byte_count
    brought = copy.source.buffer.space is Space.GLOBAL
    name, order = f"{copy.op.replace('.', '_')}_map", (contiguous, *others)
    return TensorBox(name, copy.op, array.name, order, extents, span, PROMOTED_BYTES if brought else 0, early)


def _together(moved: Distribution, layout: SharedLayout, dimension: int) -> int:
    """The extent of a box along a dimension, from its corner on: as long as what it moves lies one behind the other."""
    extent, reached = 1, 0
    while (one := unit(moved.rank, dimension, extent)) in moved.values:
        place = layout.offset(one).bit_length()
        if reached and place != reached + 1:
            break
        extent, reached = extent * 2, place
    return min(extent, moved.shape[dimension])
