"""The ops that bring an array's tiles to where a statement reads them: global to registers to shared to fragments."""

from __future__ import annotations

from attrs import frozen

from isa.forms import resolve
from isa.mechanisms import LANE_COPY, LOAD, STORE, WARP_LOAD
from isa.targets import target as target_named
from polyhedral import Affine, const, var
from ptxgen.compute import Array, SourceLine, Statement
from ptxgen.derive.access import Reach, neighbours
from ptxgen.derive.draft import Draft, op, register_buffer, whole
from ptxgen.derive.layouts import (
    SharedAccess,
    common_vector,
    conflict_free,
    fitting_vector,
    swizzled,
)
from ptxgen.derive.loops import Path
from ptxgen.derive.placement import coalesced
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op, Touch, TouchKind
from ptxgen.plan import (
    ByHand,
    Drain,
    IntoFragments,
    IntoRegisters,
    IntoShared,
    LayoutWish,
    Shift,
    Stage,
    Swizzle,
    Transport,
)
from ptxgen.tile import (
    Buffer,
    Carrier,
    Copy,
    Distribution,
    MatrixRows,
    Outside,
    Region,
    SharedLayout,
    Space,
    matrix_rows,
)

ACCESS_BYTES = 16
ROW_BYTES = 16
LEAST_COPY_BYTES = 4


@frozen
class Chain:
    """The stage steps of one array, in the order in which its tiles move; `converted` instead where they stay in the
    registers of the statement that fills them."""

    registers: Stage | None
    shared: Stage | None
    fragments: Stage | None
    converted: Stage | None

    @classmethod
    def of(cls, draft: Draft, array: str) -> Chain:
        """The chain that the plan's stage steps give."""
        steps = [s for s in draft.space.plan.steps if isinstance(s, Stage) and s.array == array]
        moving = [s for s in steps if s.by.transport is not Transport.CONVERT]

        def of_kind(kind: type) -> Stage | None:
            return next((s for s in moving if isinstance(s.into, kind)), None)

        converted = next((s for s in steps if s not in moving), None)
        return cls(of_kind(IntoRegisters), of_kind(IntoShared), of_kind(IntoFragments), converted)

    @property
    def fragment_depth(self) -> int:
        """The tiles that the ring of fragments holds; 1 where there is none."""
        return self.fragments.into.depth if self.fragments and isinstance(self.fragments.into, IntoFragments) else 1


def steps_ahead(draft: Draft, name: str, at: str) -> int:
    """How many steps of loop `at` an op runs early."""
    return sum(s.ahead for s in draft.space.plan.steps if isinstance(s, Shift) and name in s.ops and s.at == at)


def ahead_in(draft: Draft, name: str, path: Path) -> tuple[int, ...]:
    """How many steps an op runs early in each loop of `path`."""
    return tuple(steps_ahead(draft, name, loop.at) for loop in path)


def path_at(draft: Draft, path: Path, at: str) -> Path:
    """The loops of `path` that are outside, or are, `at`."""
    named = [loop.at for loop in path]
    if at in named:
        return path[: named.index(at) + 1]
    level = at.partition(".")[0]
    levels = [tile.level for tile in draft.space.levels]
    outside = levels[: levels.index(level) + (1 if "." in at else 0)]
    return tuple(loop for loop in path if loop.level in outside)


def rank_of(path: Path) -> Affine:
    """The number of a tile in its ring: the innermost loop's step."""
    return var(path[-1].name) if path else const(0)


def in_loop(name: str, path: Path) -> str:
    """A name for registers that are numbered by the steps of the innermost loop: of further copies of a loop their
    own."""
    return f"{name}#{path[-1].copy}" if path and path[-1].copy > 1 else name


def tile_shape(draft: Draft, statement: Statement, access: Reach, at: str) -> tuple[int, ...]:
    """The box of an access that the loops inside `at` use."""
    return tuple(draft.space.inside(statement, dim, at) if dim else 1 for dim in access.dims)


def load_registers(draft: Draft, step: Stage, access: Reach, path: Path, layout: Distribution) -> tuple[Op, ...]:
    """The loads of an array's tiles into staging registers, full steps apart from partial ones."""
    buffer = register_buffer(draft, step.op, step.array, layout)
    return copies_from_memory(draft, step.op, access, path, buffer, whole(buffer), step.line, step.by.vector_bytes)


def copies_from_memory(
    draft: Draft,
    name: str,
    access: Reach,
    path: Path,
    buffer: Buffer,
    destination: Region,
    line: SourceLine,
    most_bytes: int,
) -> tuple[Op, ...]:
    """The copies of a tile from memory to a register buffer, for every variant of its domain."""
    array = draft.space.compute.array(access.array)
    ops: list[Op] = []
    for domain, ragged in draft.variants(path, access.named):
        guarded = tuple(place for place, dim in enumerate(access.dims) if dim in ragged)
        origin = draft.at_origin(path, access)
        vector = memory_vector(draft, array, buffer.distribution, origin, guarded, most_bytes)
        source = Region(draft.global_buffer(array.name), const(0), origin)
        node = Copy(name, source, destination, buffer.distribution, vector, guarded, Outside.ZERO, line)
        touches = (
            Touch(source.buffer, TouchKind.READ, const(0)),
            Touch(buffer, TouchKind.WRITE, destination.rank),
        )
        ops.append(op(name, path, domain, LOAD, touches, node, line, ahead_in(draft, name, path)))
    return tuple(ops)


def memory_vector(
    draft: Draft,
    array: Array,
    distribution: Distribution,
    origin: tuple[Affine, ...],
    guarded: tuple[int, ...],
    most_bytes: int,
) -> int:
    """The elements that one access of a tile in memory may move, proved from the facts."""
    contiguous = array.contiguous_dimension
    most = min(neighbours(distribution, contiguous), max(1, most_bytes // array.element.byte_count))
    if contiguous is None or most == 1:
        return 1
    values = [
        stride for place, stride in enumerate(array.strides) if place != contiguous and distribution_moves(array, place)
    ]
    values.append(origin[contiguous])
    if contiguous in guarded:
        values.append(array.extents[contiguous])
    return draft.facts.vector(array.name, array.element.byte_count, values, most)


def distribution_moves(array: Array, place: int) -> bool:
    """Whether the address of a tile depends on the stride of a dimension: not where the array has extent 1 there."""
    return array.extents[place] != const(1)


@frozen
class Reader:
    """How a stage step reaches a shared tile: who asks for what, how many elements at once, and the rows of matrices
    where it asks for those."""

    held: Distribution
    reach: SharedAccess
    vector: int
    rows: MatrixRows | None


def reader(draft: Draft, step: Stage, held: Distribution) -> Reader:
    """How fragments held like this are read by the transport of their stage step; PlanError where it cannot."""
    array = draft.space.compute.array(step.array)
    width = array.element.byte_count
    if step.by.transport is not Transport.LDMATRIX:
        most = max(1, step.by.vector_bytes // width)
        return Reader(held, SharedAccess(held, min(1 << len(held.values), most)), most, None)
    check_instruction(draft, f"ldmatrix.sync.aligned.m8n8.x{step.by.matrices}.shared.b16", step)
    contiguous = array.contiguous_dimension
    rows = None if contiguous is None else matrix_rows(held, width, contiguous, step.by.matrices)
    if rows is None:
        raise PlanError(
            f"{step.op}: {step.by} gives each lane words of rows that lie together in memory, but the fragments of "
            f"{array.name} are held otherwise: {held}",
            line=step.line,
        )
    return Reader(held, SharedAccess(rows.reach, ROW_BYTES // width), ROW_BYTES // width, rows)


def check_instruction(draft: Draft, name: str, step: Stage | Drain | ByHand) -> None:
    """PlanError where the target has no such instruction."""
    target = target_named(draft.space.plan.target)
    availability = resolve(name).availability
    if availability.least_version(target) is None:
        raise PlanError(f"{step.op}: {target} has no {name}, which needs {availability}", line=step.line)


def store_shared(
    draft: Draft, step: Stage, path: Path, source: Buffer, source_rank: Affine, wanted: Reader
) -> tuple[Buffer, Op]:
    """The op that stores a register tile to shared memory, and the ring that it fills, laid out for both accesses."""
    array = draft.space.compute.array(step.array)
    load = wanted.reach
    most = step.by.vector_bytes // array.element.byte_count
    written = min(source.distribution.value_count, common_vector(source.distribution, load.distribution, most))
    ring = shared_ring(draft, step, array, SharedAccess(source.distribution, written), load)
    written = fitting_vector(ring.layout, source.distribution, written)
    rank = rank_of(path)
    node = Copy(
        step.op,
        whole(source, source_rank),
        whole(ring, rank),
        source.distribution,
        written,
        (),
        Outside.NEVER,
        step.line,
    )
    touches = (Touch(source, TouchKind.READ, source_rank), Touch(ring, TouchKind.WRITE, rank))
    return ring, op(step.op, path, draft.domain(path), STORE, touches, node, step.line, ahead_in(draft, step.op, path))


def shared_ring(draft: Draft, step: Stage, array: Array, store: SharedAccess, load: SharedAccess) -> Buffer:
    """The ring of shared tiles that a stage step asks for, laid out for the access that fills it and its reader."""
    assert isinstance(step.into, IntoShared)
    layout = shared_layout(draft, step, array, store, load)
    shape = store.distribution.shape
    return draft.add_buffer(Buffer(step.op, step.array, array.element, Space.SHARED, shape, step.into.depth, layout))


def copy_shared(
    draft: Draft, statement: Statement, step: Stage, access: Reach, path: Path, wanted: Reader
) -> tuple[Buffer, Op]:
    """The asynchronous copy of an array's tiles into a shared ring, and the ring. It fills zeros outside the array, so
    that partial tiles need not be kept apart.

    PlanError where no access of 4 bytes or more is proved to be aligned.
    """
    array = draft.space.compute.array(step.array)
    width = array.element.byte_count
    dealt = cooperative(draft, statement, step, access)
    store = SharedAccess(dealt, min(step.by.vector_bytes // width, dealt.value_count))
    ring = shared_ring(draft, step, array, store, wanted.reach)
    ragged, origin = draft.ragged(path, access.named), draft.at_origin(path, access)
    guarded = tuple(place for place, dim in enumerate(access.dims) if dim in ragged)
    vector = memory_vector(draft, array, dealt, origin, guarded, step.by.vector_bytes)
    vector = fitting_vector(ring.layout, dealt, vector)
    if vector * width < LEAST_COPY_BYTES:
        raise PlanError(
            f"{step.op}: cp.async copies 4, 8 or 16 bytes at once, but only {vector * width} of {array.name} are known "
            f"to be aligned neighbours; assume more of its address, strides and extents, or go through registers",
            line=step.line,
        )
    check_instruction(draft, f"cp.async.{'cg' if vector * width == ROW_BYTES else 'ca'}.shared.global", step)
    source = Region(draft.global_buffer(array.name), const(0), origin)
    rank = rank_of(path)
    node = Copy(step.op, source, whole(ring, rank), dealt, vector, guarded, Outside.ZERO, step.line, Carrier.LANE_COPY)
    touches = (Touch(source.buffer, TouchKind.READ, const(0)), Touch(ring, TouchKind.WRITE, rank))
    early = ahead_in(draft, step.op, path)
    return ring, op(step.op, path, draft.domain(path), LANE_COPY, touches, node, step.line, early)


def shared_layout(draft: Draft, step: Stage, array: Array, store: SharedAccess, load: SharedAccess) -> SharedLayout:
    """The layout that a stage asks for; PlanError where the operand's order does not allow it."""
    assert isinstance(step.into, IntoShared)
    shape = store.distribution.shape
    contiguous = array.contiguous_dimension
    fastest = len(shape) - 1 if contiguous is None else contiguous
    across = neighbours(load.distribution, fastest) < load.vector
    match step.into.layout:
        case Swizzle(span):
            return swizzled(shape, fastest, array.element.byte_count, span)
        case LayoutWish.LINEAR:
            return SharedLayout.linear(shape, fastest)
        case LayoutWish.CONGRUOUS if across:
            wanted, have = "congruous", "one lane reads runs of several rows: crosswise fits"
        case LayoutWish.CROSSWISE if not across:
            wanted, have = "crosswise", "one lane reads neighbours in memory: congruous fits"
        case _:
            return conflict_free(shape, array.element.byte_count, store, load, fastest)
    raise PlanError(
        f"{step.op}: a {wanted} layout does not fit {array.name} as it lies in memory: {have}", line=step.line
    )


def cooperative(draft: Draft, statement: Statement, step: Stage, access: Reach) -> Distribution:
    """The distribution of a tile that all warps of a block bring from memory together."""
    array = draft.space.compute.array(step.array)
    contiguous = array.contiguous_dimension
    shape = tile_shape(draft, statement, access, step.at)
    fastest = len(shape) - 1 if contiguous is None else contiguous
    vector = min(shape[fastest], max(1, step.by.vector_bytes // array.element.byte_count))
    whole = step.by.transport is Transport.CP_ASYNC
    return coalesced(shape, fastest, array.element.byte_count, vector, draft.space.warp_bits, whole_rows=whole)


def load_fragments(
    draft: Draft,
    step: Stage,
    path: Path,
    ring: Buffer,
    wanted: Reader,
    steps: tuple[tuple[int, ...], ...],
) -> tuple[Buffer, tuple[Op, ...]]:
    """The ops that load one fragment tile for each unrolled step from a shared ring; `steps[s]` is where the step's
    box starts inside the shared tile."""
    assert isinstance(step.into, IntoFragments)
    buffer = register_buffer(draft, in_loop(step.op, path), step.array, wanted.held, step.into.depth)
    vector = fitting_vector(ring.layout, wanted.reach.distribution, wanted.vector)
    if wanted.rows and vector != wanted.vector:
        raise PlanError(f"{step.op}: the layout of {ring.name} does not keep rows of 16 bytes together", line=step.line)
    mechanism, carrier = (WARP_LOAD, Carrier.MATRIX) if wanted.rows else (LOAD, Carrier.ACCESS)
    ops: list[Op] = []
    ahead = steps_ahead(draft, step.op, step.at)
    outer = ahead_in(draft, step.op, path)
    for number, origin in enumerate(steps):
        rank = rank_of(path) * len(steps) + number
        early = -((number - ahead) // len(steps))
        times = (*outer[:-1], outer[-1] + early) if path and step.at not in [loop.at for loop in path] else outer
        node = Copy(
            step.op,
            whole(ring, rank_of(path), origin),
            whole(buffer, rank),
            wanted.held,
            vector,
            (),
            Outside.ANY,
            step.line,
            carrier,
            wanted.rows,
        )
        touches = (Touch(ring, TouchKind.READ, rank_of(path)), Touch(buffer, TouchKind.WRITE, rank))
        ops.append(op(step.op, path, draft.domain(path), mechanism, touches, node, step.line, times, (number,)))
    return buffer, tuple(ops)
