"""Pointwise statements and reductions without a multiplication as ops on registers."""

from __future__ import annotations

from isa.mechanisms import LOAD, REGISTERS, STORE
from polyhedral import Affine, Set, const
from ptxgen.compute import Array, ArrayKind, Expression, Load, Operand, Statement, loads, rebuild
from ptxgen.derive.access import reach
from ptxgen.derive.draft import Draft, before_reduction, op, register_buffer, whole
from ptxgen.derive.draining import drained
from ptxgen.derive.finishing import Finishing, not_yet_there
from ptxgen.derive.iterations import Work, dim_names, drain_step
from ptxgen.derive.loops import Path, below
from ptxgen.derive.sources import Source
from ptxgen.derive.staging import (
    ACCESS_BYTES,
    memory_vector,
)
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op, Touch, TouchKind
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
    outer = before_reduction(statement, path)
    finishing = Finishing.of(draft, statement, path)
    draft.dealt[statement.name] = dim_names(statement), finishing.whole
    sources = [Source.of(draft, statement, access, finishing) for access in loads(statement.value)]
    for source in sources:
        _bring(draft, source, path)
    work = Work.of(draft, statement, finishing.spread)
    result = result_buffer(draft, work)
    if statement.reduction:
        draft.before_loop(outer, below(path, len(outer)), [fill(draft, statement, result, outer)])
    draft.append(path, calculations(draft, work, sources, result, finishing))
    if draft.space.compute.array(statement.target.array).kind is ArrayKind.OUTPUT:
        drain = drain_step(draft, statement.target.array)
        if drain and drain.through:
            draft.append(outer, drained(draft, statement, drain, result, outer))
        else:
            draft.append(outer, stores(draft, statement, result, outer))


def _bring(draft: Draft, source: Source, path: Path) -> None:
    """Adds the ops that bring an operand: before the loop that uses it, or as the tile begins."""
    found = not_yet_there(draft, path, source.ops)
    if source.comes_first:
        draft.first(found)
        return
    for each in found:
        depth = len(each.time.loops)
        draft.before_loop(path[:depth], below(path, depth), [each])


def fill(draft: Draft, statement: Statement, result: Buffer, path: Path) -> Op:
    """The op that gives a reduction's result its start."""
    assert statement.reduction is not None
    node = Fill(f"{statement.name}.fill", whole(result), statement.reduction.op.identity, statement.line)
    touches = (Touch(result, TouchKind.WRITE, const(0)),)
    return op(node.op, path, draft.domain(path), REGISTERS, touches, node, statement.line)


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


def calculations(draft: Draft, work: Work, sources: list[Source], result: Buffer, finishing: Finishing) -> list[Op]:
    """The maps or reductions of the statement, one for each variant of its domain."""
    statement, path = work.statement, finishing.path
    needs_guard = bool(statement.reduction) or any(source.buffer.space is Space.GLOBAL for source in sources)
    found: list[Op] = []
    variants = draft.variants(path, work.names)
    if not needs_guard:
        variants = [(draft.domain(path), variants[-1][1])]
    for domain, ragged in variants:
        guarded = tuple(place for place, name in enumerate(work.names) if name in ragged)
        iteration = work.iteration(draft, path, guarded)
        operands = tuple(_operand(draft, source, iteration, finishing) for source in sources)
        found.append(_calculation(draft, work, iteration, operands, sources, result, path, domain))
    return found


def _operand(draft: Draft, source: Source, iteration: Iteration, finishing: Finishing) -> MapOperand:
    names, path = iteration.dims, finishing.path
    dims = tuple(names.index(dim) if dim else None for dim in source.reach.dims)
    if source.is_whole:
        return MapOperand(finishing.of_whole(source.buffer, source.rank, source.reach.dims), dims, 1)
    if source.buffer.space is not Space.GLOBAL:
        return MapOperand(whole(source.buffer, source.rank), dims, 1)
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
    path: Path,
    domain: Set,
) -> Op:
    statement, dims = work.statement, work.target_dims
    numbers = {source.access: index for index, source in enumerate(sources)}

    def leaf(node: Expression) -> Expression:
        return Operand(numbers[node]) if isinstance(node, Load) else node

    value = rebuild(statement.value, leaf)
    touches = [Touch(s.buffer, TouchKind.READ, s.rank) for s in sources]
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


def stores(draft: Draft, statement: Statement, result: Buffer, path: Path) -> list[Op]:
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
