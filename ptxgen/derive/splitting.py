"""Sums whose parts neighbouring blocks of a cluster sum apart: each block leaves its partial tile in shared memory,
then adds its own slice of the tile over all parts in ascending order."""

from __future__ import annotations

from functools import reduce

from attrs import frozen

from isa.mechanisms import LOAD, REGISTERS, STORE
from polyhedral import Affine, const, var
from ptxgen.compute import ArrayKind, Binary, BinaryOp, Element, Expression, Operand
from ptxgen.derive.access import reach
from ptxgen.derive.draft import Draft, op, register_buffer, whole
from ptxgen.derive.layouts import SharedAccess, common_vector, conflict_free, fitting_vector
from ptxgen.derive.loops import Path
from ptxgen.derive.operands import Product
from ptxgen.derive.passing import chain_of, passed
from ptxgen.derive.placement import coalesced
from ptxgen.derive.sharing import coordinates
from ptxgen.derive.space import IndexSpace, Slice
from ptxgen.errors import PlanError
from ptxgen.order.clusters import Masks
from ptxgen.order.ops import Op, Touch, TouchKind
from ptxgen.plan import IntoShared, MultiplyBy, Split
from ptxgen.tile import (
    Buffer,
    Copy,
    Distribution,
    Iteration,
    Map,
    MapOperand,
    Outside,
    Region,
    SharedLayout,
    Space,
    bit_count,
    is_power,
)

ACCESS_BYTES = 16


def check_split(space: IndexSpace) -> None:
    """PlanError where the statements are not a product, then maps of its elements: a split sum of anything else, and
    what sums or multiplies the joined tile, has no place here."""
    step = space.split or space.stream
    if step is None:
        return
    products = {s.statement: s for s in space.plan.steps if isinstance(s, MultiplyBy)}
    first, *others = space.compute.statements
    if step.dim not in first.reduced or first.name not in products:
        raise PlanError(f"{step}: the sum that is split is the first statement, a product that a plan multiplies",
                        line=step.line)  # fmt: skip
    if space.compute.array(first.target.array).element is Element.S32:
        raise PlanError(f"{step}: partial sums are joined in f32, {first.name} is a sum of integers", line=step.line)
    if not isinstance(step, Split) or not step.together:
        return
    _check_extents(space, step)
    for statement in others:
        if statement.reduction is not None:
            raise PlanError(
                f"{step}: {statement.name} sums over {', '.join(statement.reduced)}, but each block joins a slice of "
                f"the tile only: sums of a split product are not derived",
                line=step.line,
            )


def _check_extents(space: IndexSpace, step: Split) -> None:
    odd = [f"{dim}={size} of level {t.level!r}" for t in space.levels for dim, size in t.extents if not is_power(size)]
    if odd or not is_power(space.warps):
        found = ", ".join(odd) or f"{space.warps} warps"
        raise PlanError(
            f"{step}: slices of a tile are dealt to warps by bits, but {found} is no power of two; parts that pass "
            f"their sums on through workspace() take any tile",
            line=step.line,
        )


def partial_name(space: IndexSpace, array: str) -> str:
    """What the registers of a product's sums are called: the array's name, unless a part of them is all that a block
    has."""
    return array if space.split is None or not space.split.together else f"{array}.partial"


@frozen
class Joining:
    """A split sum: the registers `partial` of a block's own part, the slice of the tile that it joins, who holds what
    of that, and the partial tile in shared memory."""

    work: Product
    step: Split
    partial: Buffer
    slice: Slice
    spread: Distribution
    ring: Buffer


def joined(draft: Draft, work: Product, partial: Buffer, path: Path) -> None:
    """Adds the ops that join the parts of a product behind its loop; the statements that follow see a block's slice."""
    chain, step = chain_of(draft.space), draft.space.split
    if chain is not None:
        passed(draft, work, chain, partial, path)
    if chain is not None or step is None:
        return
    cut = _slice(draft, work, partial, step)
    spread = _spread(draft, work, cut)
    ring = _ring(draft, step, work, partial, cut, spread)
    draft.space = draft.space.sliced(cut)
    join = Joining(work, step, partial, cut, spread, ring)
    draft.append(path, [_put(draft, join, path)])
    held = register_buffer(draft, f"{work.c.array}.part", work.c.array, spread, step.parts)
    held_ops = [_fetch(draft, join, path, held, part) for part in range(step.parts)]
    draft.append(path, [*held_ops, _sum(draft, join, path, held)])


def _slice(draft: Draft, work: Product, partial: Buffer, step: Split) -> Slice:
    """The dim along which the tile is cut: not the one that lies together in memory where there is another."""
    together = _together(draft, work)
    candidates = sorted(
        ((place, dim) for place, dim in enumerate(work.c.dims) if dim is not None),
        key=lambda found: (found[1] == together, -partial.shape[found[0]]),
    )
    for place, dim in candidates:
        extent = partial.shape[place] // step.parts
        if extent and all(image[place] < extent for image in partial.distribution.lanes):
            return Slice(dim, step.parts, draft.space.part_variable)
    raise PlanError(
        f"{step}: a tile of {'x'.join(map(str, partial.shape))} has no dim of which each of {step.parts} blocks can "
        f"join a slice that holds what the lanes of a warp hold",
        line=step.line,
    )


def _together(draft: Draft, work: Product) -> str:
    """The dim along which results lie together in memory: as the first output of the tile's shape has it."""
    compute = draft.space.compute
    for statement in compute.statements:
        target = reach(statement, statement.target)
        array = compute.array(target.array)
        if array.kind is ArrayKind.OUTPUT and array.contiguous_dimension is not None:
            dim = target.dims[array.contiguous_dimension]
            if dim in (work.m, work.n):
                return dim
    return work.n


def _spread(draft: Draft, work: Product, cut: Slice) -> Distribution:
    """Who joins what: neighbours of a lane fill a store, lanes lines of memory."""
    space = draft.space
    shape = _slice_shape(space, work, cut)
    together, width = _together(draft, work), _result_bytes(draft)
    place = work.c.dims.index(together)
    each = max(1, _count(shape) >> (5 + space.warp_bits))
    vector = min(ACCESS_BYTES // width, shape[place], each)
    return coalesced(shape, place, width, vector, space.warp_bits)


def _result_bytes(draft: Draft) -> int:
    outputs = [a.element.byte_count for a in draft.space.compute.arrays if a.kind is ArrayKind.OUTPUT]
    return min(outputs, default=ACCESS_BYTES)


def _slice_shape(space: IndexSpace, work: Product, cut: Slice) -> tuple[int, ...]:
    sliced = space.sliced(cut)
    return tuple(sliced.block_extent(dim) if dim else 1 for dim in work.c.dims)


def _count(shape: tuple[int, ...]) -> int:
    return reduce(lambda a, b: a * b, shape, 1)


def _ring(draft: Draft, step: Split, work: Product, partial: Buffer, cut: Slice, spread: Distribution) -> Buffer:
    """The partial tile in shared memory: the slices one behind the other, each free of conflicts for who puts and who
    fetches it."""
    width, place = partial.element.byte_count, work.c.dims.index(cut.dim)
    put = _within(partial.distribution, spread.shape)
    most = max(1, ACCESS_BYTES // width)
    contiguous = work.c.dims.index(_together(draft, work))
    inner = conflict_free(
        spread.shape,
        width,
        SharedAccess(put, common_vector(put, spread, most)),
        SharedAccess(spread, min(spread.value_count, most)),
        contiguous,
    )
    behind = tuple(inner.size << bit for bit in range(bit_count(step.parts)))
    offsets = tuple(own + behind if d == place else own for d, own in enumerate(inner.offsets))
    layout = SharedLayout(partial.shape, offsets)
    name, into = f"{work.c.array}.parts", step.through
    assert isinstance(into, IntoShared)
    ring = Buffer(name, work.c.array, partial.element, Space.SHARED, partial.shape, 1, layout, into.alias or "")
    below = draft.buffers.get(ring.alias)
    if below is not None and below.slot_bytes * below.depth < ring.slot_bytes:
        raise PlanError(
            f"{name} has {ring.slot_bytes} bytes and does not fit over {below.name}, which has "
            f"{below.slot_bytes * below.depth}",
            line=step.line,
        )
    return draft.add_buffer(ring)


def _within(held: Distribution, shape: tuple[int, ...]) -> Distribution:
    """What each lane holds of the slice at the tile's corner; warps whose tiles lie in other slices look the same."""

    def inside(image: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(value & extent - 1 for value, extent in zip(image, shape, strict=True))

    values = tuple(image for image in held.values if inside(image) == image)
    return Distribution(shape, values, tuple(map(inside, held.lanes)), tuple(map(inside, held.warps)))


def _put(draft: Draft, join: Joining, path: Path) -> Op:
    """The block's partial tile to its shared memory."""
    ring, partial, line = join.ring, join.partial, join.step.line
    most = max(1, ACCESS_BYTES // ring.element.byte_count)
    vector = fitting_vector(ring.layout, partial.distribution, most)
    node = Copy(ring.name, whole(partial), whole(ring), partial.distribution, vector, (), Outside.NEVER, line)
    touches = (Touch(partial, TouchKind.READ, const(0)), Touch(ring, TouchKind.WRITE, const(0)))
    return op(ring.name, path, draft.domain(path), STORE, touches, node, line)


def _fetch(draft: Draft, join: Joining, path: Path, held: Buffer, part: int) -> Op:
    """The block's slice of one part, from the block of the cluster that summed it."""
    ring, line, cut = join.ring, join.step.line, join.slice
    masks = _blocks_of(draft.space, part)
    extent = join.spread.shape[join.work.c.dims.index(cut.dim)]
    origin: tuple[Affine, ...] = tuple(
        var(cut.variable) * extent if dim == cut.dim else const(0) for dim in join.work.c.dims
    )
    source, destination = Region(ring, const(0), origin), whole(held, part)
    vector = fitting_vector(ring.layout, join.spread, max(1, ACCESS_BYTES // ring.element.byte_count))
    node = Copy(held.name, source, destination, join.spread, vector, (), Outside.ANY, line, masks=masks)
    touches = (
        Touch(ring, TouchKind.READ, const(0), masks=masks),
        Touch(held, TouchKind.WRITE, const(part)),
    )
    return op(held.name, path, draft.domain(path), LOAD, touches, node, line, (), (part,))


def _blocks_of(space: IndexSpace, part: int) -> Masks:
    """For each block of the cluster the one beside it that has summed a part, by ranks."""
    at, places = list(space.cluster_axes).index(space.part_variable), coordinates(space)
    beside = [tuple(part if axis == at else own for axis, own in enumerate(place)) for place in places]
    return tuple(1 << places.index(place) for place in beside)


def _sum(draft: Draft, join: Joining, path: Path, held: Buffer) -> Op:
    """All parts of the slice added in ascending order, in f32 (f64 where they are)."""
    work, line, spread = join.work, join.step.line, join.spread
    names = work.c.named
    total = register_buffer(draft, work.c.array, work.c.array, spread)
    ragged = draft.ragged(path, names)
    iteration = Iteration(
        names,
        tuple(draft.origin(path, name) for name in names),
        tuple(map(draft.space.extent, names)),
        spread,
        tuple(place for place, name in enumerate(names) if name in ragged),
    )
    dims = tuple(range(len(names)))
    operands = tuple(MapOperand(whole(held, part), dims, 1) for part in range(join.step.parts))
    terms: list[Expression] = [Operand(part) for part in range(join.step.parts)]
    value = reduce(lambda sum, term: Binary(BinaryOp.ADD, sum, term), terms)
    name = f"{work.statement.name}.join"
    node = Map(name, iteration, whole(total), dims, value, operands, line)
    reads = tuple(Touch(held, TouchKind.READ, const(part)) for part in range(join.step.parts))
    touches = (*reads, Touch(total, TouchKind.WRITE, const(0)))
    return op(name, path, draft.domain(path), REGISTERS, touches, node, line)
