"""Pointwise statements and reductions without a multiplication as ops on registers."""

from __future__ import annotations

from attrs import frozen

from isa.mechanisms import LOAD, REGISTERS, STORE
from polyhedral import Affine, Set, const
from ptxgen.compute import Array, ArrayKind, Expression, Load, Operand, Statement, loads, rebuild
from ptxgen.derive.access import Reach, reach
from ptxgen.derive.draft import Draft, divided, op, register_buffer, whole
from ptxgen.derive.ops import Op, Touch, TouchKind
from ptxgen.derive.placement import within_warps
from ptxgen.derive.products import before_reduction, staging_source
from ptxgen.derive.staging import (
    ACCESS_BYTES,
    Chain,
    load_fragments,
    load_registers,
    memory_vector,
    path_at,
    store_shared,
)
from ptxgen.errors import PlanError
from ptxgen.plan import Drain
from ptxgen.tile import (
    Buffer,
    Copy,
    Distribution,
    Fill,
    Iteration,
    Map,
    MapOperand,
    Outside,
    Reduce,
    Region,
    Space,
)


def derive_pointwise(draft: Draft, statement: Statement) -> None:
    """Adds a pointwise statement, or a reduction over lanes and values, to the draft."""
    path = draft.paths[statement.name]
    outer = before_reduction(draft, statement, path)
    spread = iteration_distribution(draft, statement)
    sources = [Source.of(draft, statement, access, spread, path) for access in loads(statement.value)]
    for source in sources:
        for found in source.ops:
            inner = path[len(found.time.loops)] if len(path) > len(found.time.loops) else None
            draft.before_loop(found.time.loops, inner, [found])
    work = Work.of(draft, statement, spread)
    result = result_buffer(draft, work)
    if statement.reduction:
        inner = path[len(outer)] if len(path) > len(outer) else None
        draft.before_loop(outer, inner, [fill(draft, statement, result, outer)])
    draft.append(path, calculations(draft, work, sources, result, path))
    if draft.space.compute.array(statement.target.array).kind is ArrayKind.OUTPUT:
        draft.append(outer, stores(draft, statement, result, outer))


@frozen
class Work:
    """A statement's iteration: its dims, and after them the number of each part that its target tells apart.

    `target_dims` says which of them index the target.
    """

    statement: Statement
    target: Reach
    names: tuple[str, ...]
    parts: tuple[tuple[str, int], ...]
    spread: Distribution
    target_dims: tuple[int, ...]

    @classmethod
    def of(cls, draft: Draft, statement: Statement, spread: Distribution) -> Work:
        """The iteration of a statement whose dims are held as `spread` says."""
        target = reach(statement, statement.target)
        names = dim_names(statement)
        kept = kept_dims(statement, target)
        parts = tuple((names[place], d) for place, d in zip(kept, target.divisors, strict=True) if d > 1)
        numbers = iter(range(len(names), len(names) + len(parts)))
        dims = tuple(next(numbers) if d > 1 else place for place, d in zip(kept, target.divisors, strict=True))
        spread = with_parts(spread, tuple((names.index(name), divisor) for name, divisor in parts))
        return cls(statement, target, names, parts, spread, dims)

    def iteration(self, draft: Draft, path: tuple[str, ...], guarded: tuple[int, ...]) -> Iteration:
        """The iteration inside the loops of `path`."""
        array = draft.space.compute.array(self.target.array)
        places = [self.target_dims.index(len(self.names) + number) for number in range(len(self.parts))]
        return Iteration(
            (*self.names, *(f"{name}//{divisor}" for name, divisor in self.parts)),
            (
                *(draft.origin(path, name) for name in self.names),
                *(divided(draft.origin(path, name), divisor) for name, divisor in self.parts),
            ),
            (*(dim.extent for dim in self.statement.dims), *(array.extents[place] for place in places)),
            self.spread,
            (
                *guarded,
                *(len(self.names) + n for n, (name, _) in enumerate(self.parts) if self._place(name) in guarded),
            ),
        )

    def _place(self, name: str) -> int:
        return self.names.index(name)


def with_parts(spread: Distribution, parts: tuple[tuple[int, int], ...]) -> Distribution:
    """The distribution with one more dimension for each (dimension, size): the part's number, coordinate // size."""
    if not parts:
        return spread

    def extend(image: tuple[int, ...]) -> tuple[int, ...]:
        return (*image, *(image[place] // size for place, size in parts))

    return Distribution(
        (*spread.shape, *(max(1, spread.shape[place] // size) for place, size in parts)),
        tuple(map(extend, spread.values)),
        tuple(map(extend, spread.lanes)),
        tuple(map(extend, spread.warps)),
    )


def fill(draft: Draft, statement: Statement, result: Buffer, path: tuple[str, ...]) -> Op:
    """The op that gives a reduction's result its start."""
    assert statement.reduction is not None
    node = Fill(f"{statement.name}.fill", whole(result), statement.reduction.op.identity, statement.line)
    touches = (Touch(result, TouchKind.WRITE, const(0)),)
    return op(node.op, path, draft.domain(path), REGISTERS, touches, node, statement.line)


def dim_names(statement: Statement) -> tuple[str, ...]:
    """The iteration dims' names in order."""
    return tuple(dim.name for dim in statement.dims)


def kept_dims(statement: Statement, access: Reach) -> tuple[int, ...]:
    """The positions of the iteration dims that index an array, in the array's order; PlanError for a constant index."""
    names = dim_names(statement)
    if None in access.dims:
        raise PlanError(f"{access.array}: a constant index into a register tile", line=statement.line)
    return tuple(names.index(dim) for dim in access.named)


def iteration_distribution(draft: Draft, statement: Statement) -> Distribution:
    """Who computes what: as an operand that is in registers already lies, else so that memory accesses coalesce."""
    names = dim_names(statement)
    for access in loads(statement.value):
        held = draft.held(access.array)
        found = reach(statement, access)
        if held is None or Chain.of(draft, access.array).fragments or set(found.named) != set(names):
            continue
        return held.distribution.project(tuple(found.dims.index(name) for name in names))
    shape = tuple(draft.space.block_extent(name) for name in names)
    guide = _guide(draft, statement)
    array = draft.space.compute.array(guide.array)
    contiguous = array.contiguous_dimension
    fastest = guide.dims[contiguous] if contiguous is not None else guide.named[-1]
    place = names.index(fastest) if fastest in names else len(names) - 1
    width = array.element.byte_count
    vector = min(shape[place], max(1, _guide_bytes(draft, statement) // width))
    return within_warps(shape, place, width, vector, draft.space.warp_images(statement, names))


def _guide(draft: Draft, statement: Statement) -> Reach:
    """The access whose memory order decides: the result where it goes to memory, else the largest operand."""
    target = reach(statement, statement.target)
    if draft.space.compute.array(target.array).kind is ArrayKind.OUTPUT and not statement.reduction:
        return target
    found = [reach(statement, access) for access in loads(statement.value)]
    return max(found, key=lambda access: len(access.named), default=target)


def _guide_bytes(draft: Draft, statement: Statement) -> int:
    drain = drain_step(draft, statement.target.array)
    return drain.by.vector_bytes if drain else ACCESS_BYTES


def drain_step(draft: Draft, array: str) -> Drain | None:
    """The plan's way out for an array."""
    return next((s for s in draft.space.plan.steps if isinstance(s, Drain) and s.array == array), None)


@frozen
class Source:
    """An operand of a statement: what the map reads, and the ops that bring it there."""

    access: Load
    reach: Reach
    buffer: Buffer
    ops: tuple[Op, ...]

    @classmethod
    def of(
        cls, draft: Draft, statement: Statement, access: Load, spread: Distribution, path: tuple[str, ...]
    ) -> Source:
        """Finds an operand: in fragments through shared memory, staging registers, a statement's registers, memory."""
        found = reach(statement, access)
        chain = Chain.of(draft, access.array)
        held = draft.held(access.array)
        if chain.fragments:
            return cls(access, found, *_through_shared(draft, statement, found, chain, spread, path))
        if chain.shared:
            raise PlanError(
                f"{chain.shared.op} is read by {statement.name}: "
                f"stage({access.array}, into=fragments(...)) brings it back",
                line=chain.shared.line,
            )
        if chain.registers:
            ops = load_registers(
                draft,
                chain.registers,
                found,
                path_at(draft, path, chain.registers.at),
                spread.project(kept_dims(statement, found)),
            )
            return cls(access, found, draft.buffers[chain.registers.op], ops)
        if held is None:
            return cls(access, found, draft.global_buffer(access.array), ())
        if held.distribution != spread.project(kept_dims(statement, found)):
            raise PlanError(
                f"{statement.name} reads {access.array} in another distribution than the one it was left in: "
                f"stage({access.array}) through shared memory into fragments",
                line=statement.line,
            )
        return cls(access, found, held, ())


def _through_shared(
    draft: Draft,
    statement: Statement,
    access: Reach,
    chain: Chain,
    spread: Distribution,
    path: tuple[str, ...],
) -> tuple[Buffer, tuple[Op, ...]]:
    assert chain.fragments is not None
    if chain.shared is None:
        raise PlanError(
            f"{chain.fragments.op} of {statement.name} come from shared memory: "
            f"stage({access.array}, into=shared(...)) is missing",
            line=chain.fragments.line,
        )
    wanted = spread.project(kept_dims(statement, access))
    at = path_at(draft, path, chain.shared.at)
    ops, source = staging_source(draft, statement, chain, access, path)
    ring, store = store_shared(draft, chain.shared, at, source, const(0), wanted, chain.fragments.by.vector_bytes)
    origin = (0,) * len(access.dims)
    buffer, fetched = load_fragments(draft, chain.fragments, path, ring, wanted, (origin,))
    return buffer, (*ops, store, *fetched)


def result_buffer(draft: Draft, work: Work) -> Buffer:
    """The registers that the statement fills."""
    statement, array = work.statement, draft.space.compute.array(work.target.array)
    held = work.spread.project(work.target_dims)
    reduced = [work.names.index(dim) for dim in statement.reduced]
    if any(
        any(image[place] for place in reduced) and not any(kept)
        for image, kept in zip(work.spread.warps, held.warps, strict=True)
    ):
        raise PlanError(
            f"{statement.name} reduces over {', '.join(statement.reduced)}, which is dealt to several warps: "
            "keep a reduced dim within one warp, or let each part have an element of its own",
            line=statement.line,
        )
    name = array.name if array.kind is ArrayKind.LOCAL else f"{array.name}.registers"
    return register_buffer(draft, name, array.name, held)


def calculations(draft: Draft, work: Work, sources: list[Source], result: Buffer, path: tuple[str, ...]) -> list[Op]:
    """The maps or reductions of the statement, one for each variant of its domain."""
    statement = work.statement
    needs_guard = bool(statement.reduction) or any(source.buffer.space is Space.GLOBAL for source in sources)
    found: list[Op] = []
    variants = draft.variants(path, work.names)
    if not needs_guard:
        variants = [(draft.domain(path), variants[-1][1])]
    for domain, ragged in variants:
        guarded = tuple(place for place, name in enumerate(work.names) if name in ragged)
        iteration = work.iteration(draft, path, guarded)
        operands = tuple(_operand(draft, source, iteration, path) for source in sources)
        found.append(_calculation(draft, work, iteration, operands, sources, result, path, domain))
    return found


def _operand(draft: Draft, source: Source, iteration: Iteration, path: tuple[str, ...]) -> MapOperand:
    names = iteration.dims
    dims = tuple(names.index(dim) if dim else None for dim in source.reach.dims)
    if source.buffer.space is not Space.GLOBAL:
        return MapOperand(whole(source.buffer), dims, 1)
    origin = draft.at_origin(path, source.reach)
    array = draft.space.compute.array(source.access.array)
    kept = tuple(place for place in dims if place is not None)
    view = iteration.distribution.project(kept)
    guarded = tuple(place for place, dim in enumerate(dims) if dim in iteration.guarded)
    vector = memory_vector(draft, array, _in_array(view, dims), origin, guarded, ACCESS_BYTES)
    return MapOperand(Region(source.buffer, const(0), origin), dims, vector)


def _in_array(view: Distribution, dims: tuple[int | None, ...]) -> Distribution:
    """A projected distribution with the array's constant dimensions put back, of extent 1."""
    places = [place for place, dim in enumerate(dims) if dim is not None]

    def spell(image: tuple[int, ...]) -> tuple[int, ...]:
        full = [0] * len(dims)
        for place, value in zip(places, image, strict=True):
            full[place] = value
        return tuple(full)

    shape = [1] * len(dims)
    for place, extent in zip(places, view.shape, strict=True):
        shape[place] = extent
    return Distribution(
        tuple(shape), tuple(map(spell, view.values)), tuple(map(spell, view.lanes)), tuple(map(spell, view.warps))
    )


def _calculation(
    draft: Draft,
    work: Work,
    iteration: Iteration,
    operands: tuple[MapOperand, ...],
    sources: list[Source],
    result: Buffer,
    path: tuple[str, ...],
    domain: Set,
) -> Op:
    statement, dims = work.statement, work.target_dims
    numbers = {source.access: index for index, source in enumerate(sources)}

    def leaf(node: Expression) -> Expression:
        return Operand(numbers[node]) if isinstance(node, Load) else node

    value = rebuild(statement.value, leaf)
    touches = [Touch(s.buffer, TouchKind.READ, const(0)) for s in sources]
    touches.append(Touch(result, TouchKind.WRITE, const(0)))
    reads_memory = any(source.buffer.space is Space.GLOBAL for source in sources)
    if statement.reduction:
        touches.append(Touch(result, TouchKind.READ, const(0)))
        node: Map | Reduce = Reduce(
            statement.name,
            statement.reduction.op,
            iteration,
            whole(result),
            dims,
            value,
            operands,
            statement.line,
        )
    else:
        beyond = Outside.ZERO if _summed_later(draft, statement, iteration) else Outside.ANY
        node = Map(statement.name, iteration, whole(result), dims, value, operands, statement.line, beyond)
    mechanism = LOAD if reads_memory else REGISTERS
    return op(statement.name, path, domain, mechanism, touches, node, statement.line)


def _summed_later(draft: Draft, statement: Statement, iteration: Iteration) -> bool:
    """Whether a later sum runs over guarded points of the result: they must then be zero."""
    target = reach(statement, statement.target)
    ragged = [iteration.dims[place] for place in iteration.guarded]
    places = [place for place, dim in enumerate(target.dims) if dim in ragged]
    for reader in draft.space.compute.statements:
        for access in reader.reads:
            if access.array == target.array:
                read = reach(reader, access)
                if any(read.dims[place] in reader.reduced for place in places):
                    return True
    return False


def stores(draft: Draft, statement: Statement, result: Buffer, path: tuple[str, ...]) -> list[Op]:
    """The copies of a statement's result to memory."""
    target = reach(statement, statement.target)
    array: Array = draft.space.compute.array(target.array)
    drain = drain_step(draft, target.array)
    line = drain.line if drain else statement.line
    most = drain.by.vector_bytes if drain else ACCESS_BYTES
    name = f"{target.array}.global"
    found: list[Op] = []
    for domain, ragged in draft.variants(path, target.named):
        guarded = tuple(place for place, dim in enumerate(target.dims) if dim in ragged)
        origin: tuple[Affine, ...] = draft.at_origin(path, target)
        vector = memory_vector(draft, array, result.distribution, origin, guarded, most)
        destination = Region(draft.global_buffer(array.name), const(0), origin)
        node = Copy(name, whole(result), destination, result.distribution, vector, guarded, Outside.NEVER, line)
        touches = (Touch(result, TouchKind.READ, const(0)), Touch(destination.buffer, TouchKind.WRITE, const(0)))
        found.append(op(name, path, domain, STORE, touches, node, line))
    return found
