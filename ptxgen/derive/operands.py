"""An operand of a product staged: from memory, or from a statement's registers, to fragments."""

from __future__ import annotations

from attrs import evolve, frozen

from polyhedral import const
from ptxgen.compute import Statement
from ptxgen.derive.access import Reach
from ptxgen.derive.boxes import boxes
from ptxgen.derive.draft import Draft, register_buffer, whole
from ptxgen.derive.loops import Path
from ptxgen.derive.placement import Axis, fragment_of, operand_distribution
from ptxgen.derive.staging import (
    Chain,
    Reader,
    cooperative,
    copies_from_memory,
    copy_shared,
    load_fragments,
    load_registers,
    path_at,
    rank_of,
    reader,
    steps_ahead,
    store_shared,
)
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op
from ptxgen.plan import MultiplyBy, Transport
from ptxgen.tile import Buffer, Distribution, MatrixOrder


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


@frozen
class Operand:
    """One operand staged: the ops in the loop body, by when they run, and what a multiplication reads: of so many tiles
    of fragments in each round of the loop."""

    name: str
    access: Reach
    order: MatrixOrder
    registers: tuple[Op, ...]
    shared: tuple[Op, ...]
    fragments: tuple[Op, ...]
    buffer: Buffer
    ahead: int
    tiles_per_round: int

    @classmethod
    def of(
        cls,
        draft: Draft,
        work: Product,
        access: Reach,
        dims: tuple[str, str],
        sides: tuple[Axis, Axis],
        steps: tuple[dict[str, int], ...],
        path: Path,
    ) -> Operand:
        """Stages `access`, whose matrix rows and columns are `dims`, as the plan's chain says."""
        chain = Chain.of(draft, access.array)
        if chain.fragments is None:
            raise PlanError(
                f"{work.statement.name} multiplies fragments: stage({access.array}, into=fragments(...)) is missing",
                line=work.step.line,
            )
        order = matrix_order(draft, work, access, dims)
        shape = tuple(draft.space.inside(work.statement, dim, chain.fragments.at) if dim else 1 for dim in access.dims)
        spread = fragment_distribution(draft, work, access, dims, sides, order, shape)
        ahead = steps_ahead(draft, chain.fragments.op, chain.fragments.at)
        starts = tuple(tuple(start.get(dim, 0) if dim else 0 for dim in access.dims) for start in steps)
        check_ring(chain, len(steps), path)
        if chain.shared is None:
            return cls._straight(draft, chain, access, order, spread, starts, path)
        wanted = reader(draft, chain.fragments, spread)
        ring, registers, stores = into_shared(draft, work.statement, chain, access, path, wanted)
        buffer, loads = load_fragments(draft, chain.fragments, path, ring, wanted, starts)
        return cls(access.array, access, order, registers, stores, loads, buffer, ahead, len(steps))

    @classmethod
    def _straight(
        cls,
        draft: Draft,
        chain: Chain,
        access: Reach,
        order: MatrixOrder,
        spread: Distribution,
        starts: tuple[tuple[int, ...], ...],
        path: Path,
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
        return cls(access.array, access, order, (), (), numbered, buffer, 0, depth)


def check_ring(chain: Chain, steps: int, path: Path) -> None:
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


def matrix_order(draft: Draft, work: Product, access: Reach, dims: tuple[str, str]) -> MatrixOrder:
    """How the instruction takes the operand. Volta's has both orders: ROW where the operand's columns are contiguous in
    memory, COLUMN where its rows are. The others take A in rows and B in columns, whatever the memory has."""
    if not work.step.instruction.orders:
        return MatrixOrder.ROW if dims[0] == work.m else MatrixOrder.COLUMN
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
    first = dims[0] == work.m
    element = instruction.input if first else instruction.b_input
    piece = fragment_of(instruction.name, "a" if first else "b", element, order)
    positions = (access.dims.index(dims[0]), access.dims.index(dims[1]))
    return operand_distribution(shape, positions, piece, *sides, draft.space.warp_images(work.statement, access.dims))


def into_shared(
    draft: Draft, statement: Statement, chain: Chain, access: Reach, path: Path, wanted: Reader
) -> tuple[Buffer, tuple[Op, ...], tuple[Op, ...]]:
    """The shared ring of a chain; the ops that bring its tiles from memory, to registers or straight to the ring; and
    those that store registers to it."""
    assert chain.shared is not None
    ring_path = path_at(draft, path, chain.shared.at)
    if chain.shared.by.transport is Transport.TENSOR:
        return boxes(draft, statement, chain.shared, access, path), (), ()
    if chain.shared.by.transport is Transport.CP_ASYNC:
        ring, copy = copy_shared(draft, statement, chain.shared, access, ring_path, wanted)
        return ring, (copy,), ()
    loads, source = staging_source(draft, statement, chain, access, path)
    ring, store = store_shared(draft, chain.shared, ring_path, source, const(0), wanted)
    return ring, loads, (store,)


def staging_source(
    draft: Draft, statement: Statement, chain: Chain, access: Reach, path: Path
) -> tuple[tuple[Op, ...], Buffer]:
    """The register tile that is stored to shared memory: staged from memory, or left there by a statement."""
    assert chain.shared is not None
    held = draft.held(access.array)
    if held is not None:
        return (), held
    if chain.registers is None:
        raise PlanError(
            f"{chain.shared.op}: st stores registers to shared memory: stage({access.array}, into=registers()) first, "
            f"or copy past them by cp_async, which needs sm_80",
            line=chain.shared.line,
        )
    at = path_at(draft, path, chain.registers.at)
    ops = load_registers(draft, chain.registers, access, at, cooperative(draft, statement, chain.registers, access))
    return ops, draft.buffers[chain.registers.op]
