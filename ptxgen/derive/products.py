"""A sum of products as ops: operands staged step by step, one multiplication of fragments a step."""

from __future__ import annotations

from attrs import evolve, frozen

from isa.mechanisms import REGISTERS, WARP_REGISTERS
from polyhedral import const
from ptxgen.compute import ArrayKind, Binary, BinaryOp, Load, Statement
from ptxgen.derive.access import Reach, reach
from ptxgen.derive.draft import Draft, op, register_buffer, whole
from ptxgen.derive.ops import Op, Touch, TouchKind
from ptxgen.derive.placement import Axis, axis, fragment_of, operand_distribution
from ptxgen.derive.staging import (
    Chain,
    cooperative,
    copies_from_memory,
    load_fragments,
    load_registers,
    path_at,
    rank_of,
    steps_ahead,
    store_shared,
)
from ptxgen.errors import PlanError
from ptxgen.plan import MultiplyBy
from ptxgen.tile import Buffer, Distribution, Factor, Fill, MatrixOrder, Multiply, MultiplyRow, Space


@frozen
class Product:
    """A statement read as c[.., m, n] += a[.., m, k] * b[.., k, n]: its accesses and the dims' names."""

    statement: Statement
    step: MultiplyBy
    c: Reach
    a: Reach
    b: Reach
    m: str
    n: str
    k: str


def product(draft: Draft, statement: Statement, step: MultiplyBy) -> Product:
    """The statement as a matrix product; PlanError where it is none, or the instruction's types are others."""
    match statement.value:
        case Binary(BinaryOp.MULTIPLY, Load() as left, Load() as right):
            pass
        case _:
            raise PlanError(f"{statement.name} is no product of two arrays: {statement}", line=step.line)
    c, a, b = reach(statement, statement.target), reach(statement, left), reach(statement, right)
    rows = [dim for dim in c.named if dim in a.named and dim not in b.named]
    columns = [dim for dim in c.named if dim in b.named and dim not in a.named]
    inner = [dim for dim in statement.reduced if dim in a.named and dim in b.named]
    if len(rows) != 1 or len(columns) != 1 or len(inner) != 1 or len(statement.reduced) != 1:
        raise PlanError(
            f"{statement.name} is no matrix product of {a.array} and {b.array}: {statement}", line=step.line
        )
    for access in (a, b):
        element = draft.space.compute.array(access.array).element
        if element is not step.instruction.input:
            raise PlanError(
                f"{step.instruction.name} multiplies {step.instruction.input}, but {access.array} holds {element}",
                line=step.line,
            )
    held = draft.space.compute.array(c.array)
    if held.element is not step.instruction.accumulate or held.kind is not ArrayKind.LOCAL:
        raise PlanError(
            f"{step.instruction} accumulates {step.instruction.accumulate} in registers, but {c.array} is a "
            f"{held.kind.value} array of {held.element}: let it fill a local one",
            line=step.line,
        )
    return Product(statement, step, c, a, b, rows[0], columns[0], inner[0])


def derive_product(draft: Draft, statement: Statement, step: MultiplyBy) -> None:
    """Adds the ops of a sum of products to the draft: a fill, the operands' staging, the multiplications."""
    work = product(draft, statement, step)
    path = draft.paths[statement.name]
    steps = unrolled_steps(draft, work)
    m, n, k = axes(draft, work)
    accumulator = accumulators(draft, work, m, n)
    outer = before_reduction(draft, statement, path)
    deeper = path[len(outer)] if len(path) > len(outer) else None
    fill = Fill(f"{statement.name}.fill", whole(accumulator), 0.0, statement.line)
    touch = Touch(accumulator, TouchKind.WRITE, const(0))
    filled = op(fill.op, outer, draft.domain(outer), REGISTERS, (touch,), fill, statement.line)
    draft.before_loop(outer, deeper, [filled])
    a = Operand.of(draft, work, work.a, (work.m, work.k), (m, k), steps, path)
    b = Operand.of(draft, work, work.b, (work.k, work.n), (k, n), steps, path)
    multiplications = [
        multiplication(draft, work, number, accumulator, a, b, (m, n, k), path, len(steps))
        for number in range(len(steps))
    ]
    lay_out(draft, path, (a, b), multiplications)


def unrolled_steps(draft: Draft, work: Product) -> tuple[dict[str, int], ...]:
    """Where each unrolled step starts inside the block's tile, by dim, in the order of execution."""
    starts: list[dict[str, int]] = [{}]
    for _, dim, size in draft.space.unrolled(work.statement):
        outer = draft.space.block_extent(dim)
        starts = [{**s, dim: s.get(dim, 0) + at} for s in starts for at in range(0, outer, size)]
    return tuple(starts)


def axes(draft: Draft, work: Product) -> tuple[Axis, Axis, Axis]:
    """How a warp's product is made of instructions along m, n and k; PlanError where a tile is too small."""
    instruction, at = work.step.instruction, work.step.at
    groups = 2 if fragment_of(instruction.name, "c", instruction.accumulate, None).tiles > 1 else 1
    extents = (
        draft.space.warp_extent(work.statement, work.m),
        draft.space.warp_extent(work.statement, work.n),
        draft.space.inside(work.statement, work.k, at),
    )
    found: list[Axis] = []
    for extent, own, count, dim in zip(
        extents,
        (instruction.m, instruction.n, instruction.k),
        (groups, groups, 1),
        (work.m, work.n, work.k),
        strict=True,
    ):
        try:
            found.append(axis(extent, own, count))
        except ValueError:
            raise PlanError(
                f"{instruction.name} needs a tile of at least {own * count} along {dim} in each warp, got {extent}",
                line=work.step.line,
            ) from None
    return found[0], found[1], found[2]


def accumulators(draft: Draft, work: Product, m: Axis, n: Axis) -> Buffer:
    """The register buffer that holds the sums."""
    shape = tuple(draft.space.block_extent(dim) if dim else 1 for dim in work.c.dims)
    dims = (work.c.dims.index(work.m), work.c.dims.index(work.n))
    piece = fragment_of(work.step.instruction.name, "c", work.step.instruction.accumulate, None)
    spread = operand_distribution(shape, dims, piece, m, n, draft.space.warp_images(work.statement, work.c.dims))
    element = work.step.instruction.accumulate
    return draft.add_buffer(Buffer(work.c.array, work.c.array, element, Space.REGISTERS, shape, 1, spread))


def before_reduction(draft: Draft, statement: Statement, path: tuple[str, ...]) -> tuple[str, ...]:
    """The loops around the whole of a reduction; PlanError where a loop inside it is not reduced."""
    reduced = [draft.loop_dim(loop) in statement.reduced for loop in path]
    first = reduced.index(True) if True in reduced else len(path)
    if not all(reduced[first:]):
        inner = next(loop for loop, is_reduced in zip(path[first:], reduced[first:], strict=True) if not is_reduced)
        raise PlanError(
            f"{inner} runs inside the sum over {path[first]}: its partial sums have no place; tile {inner} first",
            line=statement.line,
        )
    return path[:first]


@frozen
class Operand:
    """One operand staged: the ops in the loop body, by when they run, and what a multiplication reads."""

    name: str
    access: Reach
    order: MatrixOrder
    registers: tuple[Op, ...]
    shared: tuple[Op, ...]
    fragments: tuple[Op, ...]
    buffer: Buffer
    ahead: int

    @classmethod
    def of(
        cls,
        draft: Draft,
        work: Product,
        access: Reach,
        dims: tuple[str, str],
        sides: tuple[Axis, Axis],
        steps: tuple[dict[str, int], ...],
        path: tuple[str, ...],
    ) -> Operand:
        """Stages `access`, whose matrix rows and columns are `dims`, as the plan's chain says."""
        chain = Chain.of(draft, access.array)
        if chain.fragments is None:
            raise PlanError(
                f"{work.statement.name} multiplies fragments: stage({access.array}, into=fragments(...)) is missing",
                line=work.step.line,
            )
        order = matrix_order(draft, access, dims)
        shape = tuple(draft.space.inside(work.statement, dim, chain.fragments.at) if dim else 1 for dim in access.dims)
        spread = fragment_distribution(draft, work, access, dims, sides, order, shape)
        ahead = steps_ahead(draft, chain.fragments.op, chain.fragments.at)
        starts = tuple(tuple(start.get(dim, 0) if dim else 0 for dim in access.dims) for start in steps)
        check_ring(chain, len(steps), path)
        if chain.shared is None:
            return cls._straight(draft, chain, access, order, spread, starts, path)
        registers, source = staging_source(draft, work.statement, chain, access, path)
        ring_path = path_at(draft, path, chain.shared.at)
        rank = const(0)
        ring, store = store_shared(
            draft, chain.shared, ring_path, source, rank, spread, chain.fragments.by.vector_bytes
        )
        buffer, loads = load_fragments(draft, chain.fragments, path, ring, spread, starts)
        return cls(access.array, access, order, registers, (store,), loads, buffer, ahead)

    @classmethod
    def _straight(
        cls,
        draft: Draft,
        chain: Chain,
        access: Reach,
        order: MatrixOrder,
        spread: Distribution,
        starts: tuple[tuple[int, ...], ...],
        path: tuple[str, ...],
    ) -> Operand:
        step = chain.fragments
        assert step is not None
        if chain.registers is not None:
            raise PlanError(
                f"{chain.registers.op} feeds nothing: stage {access.array} into shared as well", line=step.line
            )
        if len(starts) > 1:
            raise PlanError(
                f"{step.op} reads memory at unrolled steps: stage {access.array} into registers and shared first",
                line=step.line,
            )
        depth = chain.fragment_depth
        buffer = register_buffer(draft, step.op, step.array, spread, depth)
        rank = rank_of(path) * depth
        ops = copies_from_memory(
            draft, step.op, access, path, buffer, whole(buffer, rank), step.line, step.by.vector_bytes
        )
        numbered = tuple(evolve(found, instance=(0,)) for found in ops)
        return cls(access.array, access, order, (), (), numbered, buffer, 0)


def check_ring(chain: Chain, steps: int, path: tuple[str, ...]) -> None:
    """A ring of registers needs constant subscripts: its depth divides the unrolled steps of a rolled loop."""
    step = chain.fragments
    assert step is not None
    depth = chain.fragment_depth
    if path and chain.shared is not None and steps % depth:
        raise PlanError(
            f"{step.op}: a ring of {depth} fragments needs a multiple of {depth} unrolled steps, there are {steps}; "
            "registers have constant subscripts only",
            line=step.line,
        )


def matrix_order(draft: Draft, access: Reach, dims: tuple[str, str]) -> MatrixOrder:
    """ROW where the operand's columns are contiguous in memory, COLUMN where its rows are."""
    array = draft.space.compute.array(access.array)
    contiguous = array.contiguous_dimension
    if contiguous is None:
        return MatrixOrder.ROW
    return MatrixOrder.COLUMN if access.dims[contiguous] == dims[0] else MatrixOrder.ROW


def fragment_distribution(
    draft: Draft,
    work: Product,
    access: Reach,
    dims: tuple[str, str],
    sides: tuple[Axis, Axis],
    order: MatrixOrder,
    shape: tuple[int, ...],
) -> Distribution:
    """Who holds what of an operand's tile."""
    instruction = work.step.instruction
    piece = fragment_of(instruction.name, "a" if dims[0] == work.m else "b", instruction.input, order)
    positions = (access.dims.index(dims[0]), access.dims.index(dims[1]))
    return operand_distribution(shape, positions, piece, *sides, draft.space.warp_images(work.statement, access.dims))


def staging_source(
    draft: Draft, statement: Statement, chain: Chain, access: Reach, path: tuple[str, ...]
) -> tuple[tuple[Op, ...], Buffer]:
    """The register tile that is stored to shared memory: staged from memory, or left there by a statement."""
    assert chain.shared is not None
    held = draft.held(access.array)
    if held is not None:
        return (), held
    if chain.registers is None:
        raise PlanError(
            f"{chain.shared.op}: {draft.space.plan.target} has no copy from memory to shared memory that bypasses "
            f"registers: stage({access.array}, into=registers()) first",
            line=chain.shared.line,
        )
    at = path_at(draft, path, chain.registers.at)
    ops = load_registers(draft, chain.registers, access, at, cooperative(draft, statement, chain.registers, access))
    return ops, draft.buffers[chain.registers.op]


def multiplication(
    draft: Draft,
    work: Product,
    number: int,
    accumulator: Buffer,
    a: Operand,
    b: Operand,
    sides: tuple[Axis, Axis, Axis],
    path: tuple[str, ...],
    steps: int,
) -> Op:
    """The multiplication of unrolled step `number`."""
    instruction = work.step.instruction
    row = MultiplyRow(
        instruction.m, instruction.n, instruction.k, instruction.input, instruction.accumulate, a.order, b.order
    )
    factors: list[Factor] = []
    touches = [Touch(accumulator, TouchKind.WRITE, const(0)), Touch(accumulator, TouchKind.READ, const(0))]
    for operand, dims in ((a, (work.m, work.k)), (b, (work.k, work.n))):
        depth_steps = steps if operand.shared else operand.buffer.depth
        rank = rank_of(path) * depth_steps + number
        positions = (operand.access.dims.index(dims[0]), operand.access.dims.index(dims[1]))
        factors.append(Factor(whole(operand.buffer, rank), *positions))
        touches.append(Touch(operand.buffer, TouchKind.READ, rank))
    c_dims = (work.c.dims.index(work.m), work.c.dims.index(work.n))
    node = Multiply(
        work.statement.name,
        row,
        Factor(whole(accumulator), *c_dims),
        factors[0],
        factors[1],
        (sides[0].repeat_count, sides[1].repeat_count, sides[2].repeat_count),
        work.step.line,
    )
    return op(
        work.statement.name, path, draft.domain(path), WARP_REGISTERS, touches, node, work.step.line, (), (number,)
    )


def lay_out(draft: Draft, path: tuple[str, ...], operands: tuple[Operand, ...], multiplications: list[Op]) -> None:
    """Puts the ops of a product into the loops: loads first, at each step the fragments that run then and its
    multiplication, stores to shared memory as late as their first reader allows."""
    body: list[Op] = []
    total = len(multiplications)
    for number in range(-1, total):
        for operand in operands:
            body += [f for f in operand.fragments if step_time(f, operand.ahead, total, bool(path)) == number]
        if number >= 0:
            body.append(multiplications[number])
    stores = [store for operand in operands for store in operand.shared]
    inside = [store for store in stores if store.time.loops == path]
    place = min((_first_reader(body, store) for store in inside), default=0)
    body[place:place] = inside
    for store in stores:
        if store.time.loops != path:
            draft.before_loop(store.time.loops, _below(path, store.time.loops), [store])
    loads = [load for operand in operands for load in operand.registers]
    for load in loads:
        if load.time.loops != path:
            draft.before_loop(load.time.loops, _below(path, load.time.loops), [load])
    draft.append(path, [*(load for load in loads if load.time.loops == path), *body])


def step_time(fragment: Op, ahead: int, total: int, rolled: bool) -> int:
    """The unrolled step at which a fragment op runs; -1 is before the first one of a body without a loop."""
    at = fragment.instance[0] - ahead
    return at % total if rolled else max(at, -1)


def _first_reader(body: list[Op], store: Op) -> int:
    ring = next(touch.buffer for touch in store.touches if touch.kind is TouchKind.WRITE)
    for place, found in enumerate(body):
        reads = any(touch.buffer == ring and touch.kind is TouchKind.READ for touch in found.touches)
        if reads and found.time.ahead == store.time.ahead:
            return place
    return len(body)


def _below(path: tuple[str, ...], outer: tuple[str, ...]) -> str | None:
    return path[len(outer)] if len(path) > len(outer) else None
