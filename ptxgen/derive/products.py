"""A sum of products as ops: operands staged step by step, one multiplication of fragments a step."""

from __future__ import annotations

from isa.mechanisms import REGISTERS, WARP_REGISTERS
from polyhedral import const
from ptxgen.compute import ArrayKind, Binary, BinaryOp, Load, ReductionOp, Statement
from ptxgen.derive.access import reach
from ptxgen.derive.draft import Draft, before_reduction, op, whole
from ptxgen.derive.extents import check_row
from ptxgen.derive.loops import Path, below
from ptxgen.derive.operands import Operand, Product
from ptxgen.derive.ordering import lay_out
from ptxgen.derive.placement import Axis, axis, fragment_of, operand_distribution
from ptxgen.derive.promotion import Sums, promotion, summed_type
from ptxgen.derive.splitting import joined, partial_name
from ptxgen.derive.staging import rank_of
from ptxgen.derive.warpgroups import derive_warpgroup_product
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op, Touch, TouchKind
from ptxgen.plan import MultiplyBy
from ptxgen.tile import Buffer, Factor, Fill, Multiply, MultiplyRow, Space

MOST_UNROLLED = 1024


def product(draft: Draft, statement: Statement, step: MultiplyBy) -> Product:
    """The statement as a matrix product; PlanError where it is none, or the instruction's types are others."""
    if statement.reduction is None or statement.reduction.op is not ReductionOp.ADD:
        raise PlanError(
            f"{step.instruction.name} adds products, {statement.name} does not: {statement}", line=step.line
        )
    match statement.value:
        case Binary(BinaryOp.MULTIPLY, Load() as left, Load() as right):
            pass
        case _:
            raise PlanError(f"{statement.name} is no product of two arrays: {statement}", line=step.line)
    c, a, b = reach(statement, statement.target), reach(statement, left), reach(statement, right)
    if step.rows in b.named and step.rows not in a.named:
        a, b = b, a
    wide = [dim for dim in c.named if not draft.space.is_single(dim)]
    rows = [dim for dim in wide if dim in a.named and dim not in b.named]
    columns = [dim for dim in wide if dim in b.named and dim not in a.named]
    inner = [dim for dim in statement.reduced if dim in a.named and dim in b.named]
    if len(rows) != 1 or len(columns) != 1 or len(inner) != 1 or len(statement.reduced) != 1:
        raise PlanError(
            f"{statement.name} is no matrix product of {a.array} and {b.array}: {statement}", line=step.line
        )
    for access, wanted in ((a, step.instruction.input), (b, step.instruction.b_input)):
        element = draft.space.compute.array(access.array).element
        if element is not wanted:
            raise PlanError(
                f"{step.instruction.name} multiplies {wanted}, but {access.array} holds {element}",
                line=step.line,
            )
    if step.rows not in (None, rows[0]):
        raise PlanError(f"{statement.name}: both factors or none have {step.rows}, so it is no row", line=step.line)
    work = Product(statement, step, c, a, b, rows[0], columns[0], inner[0])
    held = draft.space.compute.array(c.array)
    if held.element is not summed_type(draft, work) or held.kind is not ArrayKind.LOCAL:
        raise PlanError(
            f"{step.instruction} accumulates {step.instruction.accumulate} in registers, but {c.array} is a "
            f"{held.kind.value} array of {held.element}: let it fill a local one",
            line=step.line,
        )
    return work


def derive_product(draft: Draft, statement: Statement, step: MultiplyBy) -> None:
    """Adds the ops of a sum of products to the draft: a fill, the operands' staging, the multiplications."""
    work = product(draft, statement, step)
    check_place(draft, work)
    if step.instruction.warpgroup:
        derive_warpgroup_product(draft, work)
        return
    path = draft.paths[statement.name]
    steps = unrolled_steps(draft, work)
    m, n, k = axes(draft, work)
    total = accumulators(draft, work, m, n)
    sums = Sums.of(draft, work, total, draft.space.block_extent(work.k), depth_of(draft, work))
    outer = before_reduction(statement, path)
    fill = Fill(f"{statement.name}.fill", whole(total), ReductionOp.ADD.identity, statement.line)
    touch = Touch(total, TouchKind.WRITE, const(0))
    filled = op(fill.op, outer, draft.domain(outer), REGISTERS, (touch,), fill, statement.line)
    draft.before_loop(outer, below(path, len(outer)), [filled])
    a = Operand.of(draft, work, work.a, (work.m, work.k), (m, k), steps, path)
    b = Operand.of(draft, work, work.b, (work.k, work.n), (k, n), steps, path)
    multiplications = []
    for number in range(len(steps)):
        own = [multiplication(draft, work, number, sums, a, b, (m, n, k), path)]
        if sums.is_complete(number):
            own.append(promotion(draft, work, sums, path, number))
        multiplications.append(own)
    lay_out(draft, path, (a, b), multiplications)
    joined(draft, work, total, outer)


def depth_of(draft: Draft, work: Product) -> int:
    """The terms that one multiplication takes."""
    return draft.space.inside(work.statement, work.k, work.step.at)


def unrolled_steps(draft: Draft, work: Product) -> tuple[dict[str, int], ...]:
    """Where each unrolled step starts inside the block's tile, by dim, in the order of execution. PlanError where they
    are too many to be written out."""
    starts: list[dict[str, int]] = [{}]
    sizes: dict[str, int] = {}
    for _, dim, size in draft.space.unrolled(work.statement):
        outer = sizes.get(dim, draft.space.block_extent(dim))
        if len(starts) * (outer // size) > MOST_UNROLLED:
            raise PlanError(
                f"{dim} goes in steps of {size} through a tile of {outer}, each written out: a tile has at most "
                f"{MOST_UNROLLED} multiplications",
                line=work.step.line,
            )
        starts = [{**s, dim: s.get(dim, 0) + at} for s in starts for at in range(0, outer, size)]
        sizes[dim] = size
    return tuple(starts)


def check_place(draft: Draft, work: Product) -> None:
    """The multiplication stands inside every unrolled loop: PlanError where `at` leaves one inside."""
    levels = [tile.level for tile in draft.space.levels]
    depth = levels.index(work.step.at.partition(".")[0])
    for name, _, _ in draft.space.unrolled(work.statement):
        if levels.index(name.partition(".")[0]) > depth:
            raise PlanError(
                f"multiply({work.statement.name}, at={work.step.at}) leaves the loop {name} inside the instruction: "
                f"multiply at {name}",
                line=work.step.line,
            )


def axes(draft: Draft, work: Product) -> tuple[Axis, Axis, Axis]:
    """How a warp's product is made of instructions along m, n and k; PlanError where a tile is too small."""
    instruction = work.step.instruction
    groups = 2 if fragment_of(instruction.name, "c", instruction.accumulate, None).tiles > 1 else 1
    extents = (
        draft.space.warp_extent(work.statement, work.m),
        draft.space.warp_extent(work.statement, work.n),
        depth_of(draft, work),
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
        except ValueError as wanted:
            raise PlanError(
                f"{instruction.name} needs a tile of {wanted} along {dim} in each warp, got {extent}",
                line=work.step.line,
            ) from None
    return found[0], found[1], found[2]


def accumulators(draft: Draft, work: Product, m: Axis, n: Axis) -> Buffer:
    """The register buffer that holds the sums."""
    shape = tuple(draft.space.block_extent(dim) if dim else 1 for dim in work.c.dims)
    dims = (work.c.dims.index(work.m), work.c.dims.index(work.n))
    piece = fragment_of(work.step.instruction.name, "c", work.step.instruction.accumulate, None)
    spread = operand_distribution(shape, dims, piece, m, n, draft.space.warp_images(work.statement, work.c.dims))
    element = summed_type(draft, work)
    name = partial_name(draft.space, work.c.array)
    return draft.add_buffer(Buffer(name, work.c.array, element, Space.REGISTERS, shape, 1, spread))


def multiplication(
    draft: Draft,
    work: Product,
    number: int,
    sums: Sums,
    a: Operand,
    b: Operand,
    sides: tuple[Axis, Axis, Axis],
    path: Path,
) -> Op:
    """The multiplication of unrolled step `number`."""
    instruction = work.step.instruction
    row = MultiplyRow(
        instruction.m,
        instruction.n,
        instruction.k,
        instruction.input,
        instruction.accumulate,
        a.order,
        b.order,
        b_input=instruction.b_input,
    )
    if number == 0:
        check_row(draft, work, row)
    factors: list[Factor] = []
    chain = sums.rank(path, number)
    touches = [Touch(sums.added, TouchKind.WRITE, chain), Touch(sums.added, TouchKind.READ, chain)]
    for operand, dims in ((a, (work.m, work.k)), (b, (work.k, work.n))):
        rank = rank_of(path) * operand.tiles_per_round + number
        positions = (operand.access.dims.index(dims[0]), operand.access.dims.index(dims[1]))
        factors.append(Factor(whole(operand.buffer, rank), *positions))
        touches.append(Touch(operand.buffer, TouchKind.READ, rank))
    c_dims = (work.c.dims.index(work.m), work.c.dims.index(work.n))
    node = Multiply(
        work.statement.name,
        row,
        Factor(whole(sums.added, chain), *c_dims),
        factors[0],
        factors[1],
        (sides[0].repeat_count, sides[1].repeat_count, sides[2].repeat_count),
        work.step.line,
        sums.is_fresh(number),
    )
    return op(
        work.statement.name, path, draft.domain(path), WARP_REGISTERS, touches, node, work.step.line, (), (number,)
    )
