"""A sum of products by warpgroups: both operands in shared memory, one op for all instructions of a step."""

from __future__ import annotations

from attrs import evolve

from isa.layouts import warpgroup_layout
from isa.mechanisms import REGISTERS, WARPGROUP_MULTIPLY
from polyhedral import const
from ptxgen.compute import ReductionOp
from ptxgen.derive.access import Reach
from ptxgen.derive.boxes import boxes
from ptxgen.derive.draft import Draft, before_reduction, op, whole
from ptxgen.derive.extents import check_row
from ptxgen.derive.loops import Path, below
from ptxgen.derive.operands import Product
from ptxgen.derive.placement import Axis, axis
from ptxgen.derive.promotion import Sums, promoted_every, promotion, summed_type
from ptxgen.derive.renaming import group_distribution, renamed
from ptxgen.derive.splitting import joined, partial_name
from ptxgen.derive.staging import Chain, path_at, rank_of
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op, Touch, TouchKind
from ptxgen.plan import OperandPlace, Transport
from ptxgen.tile import Buffer, Factor, Fill, MatrixOrder, Multiply, MultiplyRow, Space


def derive_warpgroup_product(draft: Draft, work: Product) -> None:
    """Adds a fill of the sums, the copies of the operands in their role, and the products of each step."""
    statement, path = work.statement, draft.paths[work.statement.name]
    if not draft.space.grouped:
        raise PlanError(
            f"{work.step.instruction} is of a warpgroup: place a level onto warpgroups", line=work.step.line
        )
    sides = _axes(draft, work)
    sums = _sums(draft, work, sides)
    outer = before_reduction(statement, path)
    fill = Fill(f"{statement.name}.fill", whole(sums.total), ReductionOp.ADD.identity, statement.line)
    touch = Touch(sums.total, TouchKind.WRITE, const(0))
    filled = op(fill.op, outer, draft.domain(outer), REGISTERS, (touch,), fill, statement.line)
    in_registers = work.step.a is OperandPlace.REGISTERS
    first = renamed(draft, work, sides) if in_registers else _operand(draft, work, work.a, path)
    rings = [first, _operand(draft, work, work.b, path)]
    draft.before_loop(outer, below(path, len(outer)), [filled])
    if sums.chains and draft.space.persistent:
        raise PlanError(
            f"{statement.name} is kept in chains by warpgroups of blocks that stay: no proof covers its register "
            "fences there; let each block take one tile, or multiply by warps",
            line=work.step.line,
        )
    for number in range(max(1, sums.chains)):
        draft.append(path, [_product(draft, work, sums, rings, sides, path, number)])
        if sums.chains:
            draft.append(path, [promotion(draft, work, sums, path, number)])
    joined(draft, work, sums.total, outer)


def _operand(draft: Draft, work: Product, access: Reach, path: Path) -> Buffer:
    """The ring of an operand; its copy goes to the role that the plan names for it."""
    chain = Chain.of(draft, access.array)
    step = chain.shared
    if chain.fragments:
        raise PlanError(
            f"{work.step.instruction} reads {access.array} from shared memory by itself, and {chain.fragments} loads "
            f"it: leave that out, or let the statement that reads it so have an array of its own",
            line=chain.fragments.line,
        )
    if step is None or step.by.transport is not Transport.TENSOR or chain.registers:
        raise PlanError(
            f"{work.step.instruction} reads {access.array} from shared memory as tensor copies lay it out: "
            f"stage({access.array}, into=shared(depth, swizzle(128)), by=tensor)",
            line=work.step.line,
        )
    _check_major(draft, work, access)
    return boxes(draft, work.statement, step, access, path)


def _filled_at(draft: Draft, access: Reach, path: Path) -> Path:
    """The loops of `path` in which an operand's ring is filled: around the others it stays."""
    step = Chain.of(draft, access.array).shared
    assert step is not None
    return path_at(draft, path, step.at)


def _check_major(draft: Draft, work: Product, access: Reach) -> None:
    """PlanError where an operand of other than 16 bits does not lie together along k (PTX ISA, wgmma, strides)."""
    array = draft.space.compute.array(access.array)
    place = array.contiguous_dimension
    if array.element.bits != 16 and (place is None or access.dims[place] != work.k):
        raise PlanError(
            f"{work.step.instruction} reads {array.element} only where it lies together along {work.k}, {array.name} "
            f"does not: store it the other way, or multiply by warps",
            line=work.step.line,
        )


def _axes(draft: Draft, work: Product) -> tuple[Axis, Axis, Axis]:
    """How a warpgroup's product is made of instructions along m, n and k; PlanError where a tile is too small."""
    instruction = work.step.instruction
    extents = (
        draft.space.warp_extent(work.statement, work.m),
        draft.space.warp_extent(work.statement, work.n),
        draft.space.inside(work.statement, work.k, work.step.at),
    )
    found: list[Axis] = []
    for extent, own, dim in zip(
        extents, (instruction.m, instruction.n, instruction.k), (work.m, work.n, work.k), strict=True
    ):
        try:
            found.append(axis(extent, own))
        except ValueError as wanted:
            raise PlanError(
                f"{instruction} needs a tile of {wanted} along {dim} in each warpgroup, got {extent}",
                line=work.step.line,
            ) from None
    return found[0], found[1], found[2]


def _sums(draft: Draft, work: Product, sides: tuple[Axis, Axis, Axis]) -> Sums:
    """The registers of the sums."""
    instruction = work.step.instruction
    shape = tuple(draft.space.block_extent(dim) if dim else 1 for dim in work.c.dims)
    dims = (work.c.dims.index(work.m), work.c.dims.index(work.n))
    piece = warpgroup_layout(instruction.name, "d", instruction.accumulate.label)
    groups = draft.space.warp_images(work.statement, work.c.dims)[2:]
    spread = group_distribution(shape, dims, piece, sides[:2], groups)
    name = partial_name(draft.space, work.c.array)
    held = Buffer(name, work.c.array, summed_type(draft, work), Space.REGISTERS, shape, 1, spread)
    every = promoted_every(draft, work.statement) or instruction.k
    step = instruction.k if every % instruction.k else every
    body = draft.space.inside(work.statement, work.k, work.step.at)
    return Sums.of(draft, work, draft.add_buffer(held), body, step)


def _product(
    draft: Draft,
    work: Product,
    sums: Sums,
    rings: list[Buffer],
    sides: tuple[Axis, Axis, Axis],
    path: Path,
    number: int,
) -> Op:
    """The instructions of one step: all of them, or those of chain `number`."""
    instruction = work.step.instruction
    row = MultiplyRow(
        instruction.m,
        instruction.n,
        instruction.k,
        instruction.input,
        instruction.accumulate,
        MatrixOrder.ROW,
        MatrixOrder.COLUMN,
        warpgroup=True,
        b_input=instruction.b_input,
    )
    if number == 0:
        check_row(draft, work, row)
    chain = sums.rank(path, number)
    repeats = sides[2].repeat_count // max(1, sums.chains)
    touches = [Touch(sums.added, TouchKind.WRITE, chain), Touch(sums.added, TouchKind.READ, chain)]
    factors: list[Factor] = []
    for ring, access, dims in zip(rings, (work.a, work.b), ((work.m, work.k), (work.k, work.n)), strict=True):
        start = tuple(number * repeats * instruction.k if dim == work.k else 0 for dim in access.dims)
        tile = rank_of(_filled_at(draft, access, path)) if ring.space is Space.SHARED else const(0)
        factors.append(Factor(whole(ring, tile, start), access.dims.index(dims[0]), access.dims.index(dims[1])))
        touches.append(Touch(ring, TouchKind.READ, tile))
    c_dims = (work.c.dims.index(work.m), work.c.dims.index(work.n))
    node = Multiply(
        work.statement.name,
        row,
        Factor(whole(sums.added, chain), *c_dims),
        factors[0],
        factors[1],
        (sides[0].repeat_count, sides[1].repeat_count, repeats),
        work.step.line,
        sums.is_fresh(number),
    )
    instance = (number,) if sums.chains else ()
    found = op(
        work.statement.name,
        path,
        draft.domain(path),
        WARPGROUP_MULTIPLY,
        touches,
        node,
        work.step.line,
        instance=instance,
    )
    return evolve(found, in_flight=work.step.in_flight)
