"""From a plan to a tile program: ops, requirements, meetings, the checker's verdict, loops."""

from __future__ import annotations

from attrs import evolve, field, frozen

from isa.limits import limits as limits_of
from isa.targets import target as target_named
from polyhedral import Constraint, System, var
from ptxgen.compute import ArrayKind, SourceLine
from ptxgen.derive.checker import Verdict
from ptxgen.derive.discharge import Synchronised, discharge
from ptxgen.derive.draft import ROLE, Draft, placed
from ptxgen.derive.facts import Facts
from ptxgen.derive.fusion import fused_paths
from ptxgen.derive.loops import Path
from ptxgen.derive.ops import Op
from ptxgen.derive.pointwise import derive_pointwise
from ptxgen.derive.products import derive_product
from ptxgen.derive.proof import check_meetings
from ptxgen.derive.requirements import Requirement, requirements
from ptxgen.derive.scanning import scan_program
from ptxgen.derive.sequencing import sequenced
from ptxgen.derive.space import IndexSpace
from ptxgen.derive.widening import widened
from ptxgen.errors import InternalError, PlanError
from ptxgen.plan import IntoShared, MultiplyBy, Onto, Order, Place, Plan, Shift, Stage
from ptxgen.tile import (
    Buffer,
    Fact,
    Grid,
    GridDim,
    Node,
    Parameter,
    ParameterKind,
    Program,
    Quotient,
    Raster,
    Role,
    Space,
    When,
)


@frozen
class Part:
    """One tree of a kernel (for full blocks, or for all) with everything that it was derived from."""

    ops: tuple[Op, ...] = field(repr=lambda ops: f"<{len(ops)} ops>")
    requirements: tuple[Requirement, ...] = field(repr=lambda needed: f"<{len(needed)} requirements>")
    synchronised: Synchronised = field(repr=False)
    verdict: Verdict = field(repr=False)
    buffers: tuple[Buffer, ...] = field(repr=False)
    body: Node = field(repr=False)


@frozen
class Derivation:
    """A plan carried out: the parts (full blocks first where they are isolated) and the tile program."""

    plan: Plan = field(repr=False)
    parts: tuple[Part, ...]
    program: Program = field(repr=lambda program: str(program.name))


def derive(plan: Plan) -> Derivation:
    """The tile program of a plan, with its synchronisation derived and proved.

    PlanError, on the line of the step that asks for it, for what the target, the dependences or the budgets do not
    allow.
    """
    space, facts = IndexSpace(plan), Facts.of(plan)
    blocks = space.blocks_of(plan.compute.statements)
    probe = Draft(space, facts, full=True)
    ragged = [dim for dim in blocks if not probe.divides(dim)]
    paths = fused_paths(space)
    parts = [derive_part(space, facts, paths, full=True)] if space.isolated or not ragged else []
    if ragged:
        parts.append(derive_part(space, facts, paths, full=False))
    body = parts[0].body
    if len(parts) == 2:
        body = When(full_conditions(space, ragged), parts[0].body, parts[1].body)
    buffers = tuple(dict.fromkeys(buffer for part in parts for buffer in part.buffers))
    program = Program(
        plan.compute.name,
        plan.target,
        parameters(plan, facts),
        tuple(Fact(fact.value, fact.factor) for fact in facts.multiples),
        grid(space, blocks),
        buffers,
        (Role(ROLE, 1 << space.warp_bits, body),),
    )
    check_budgets(plan, program, parts)
    return Derivation(plan, tuple(parts), program)


def derive_part(space: IndexSpace, facts: Facts, paths: dict[str, Path], full: bool) -> Part:
    """One tree: all statements drafted, ordered, synchronised, checked and scanned."""
    draft = Draft(space, facts, full)
    draft.paths = paths
    products = {step.statement: step for step in space.plan.steps if isinstance(step, MultiplyBy)}
    for statement in space.compute.statements:
        draft.line = statement.line
        step = products.get(statement.name)
        if step:
            derive_product(draft, statement, step)
        else:
            derive_pointwise(draft, statement)
    sequenced(draft)
    ops = on_shift_lines(space.plan, placed(draft.root))
    needed = requirements(ops)
    synchronised = widened(discharge(ops, needed))
    verdict = check_meetings(synchronised, needed)
    if verdict.findings:
        raise InternalError(
            "\n".join(["the derived meetings are refused by the checker:", *map(str, verdict.findings)])
        )
    body = scan_program(synchronised, context(space))
    return Part(ops, needed, synchronised, verdict, tuple(draft.buffers.values()), body)


def on_shift_lines(plan: Plan, ops: list[Op]) -> tuple[Op, ...]:
    """The ops with the line of the step that decides when they run: the last `shift` or `sequence` that names them."""
    lines = {name: step.line for step in plan.steps if isinstance(step, Shift | Order) for name in step.ops}
    return tuple(evolve(op, line=lines.get(op.name, op.line)) for op in ops)


def context(space: IndexSpace) -> System:
    """What is known of the sizes: extents are not negative."""
    sizes = {name for s in space.compute.statements for dim in s.dims for name in dim.extent.names}
    return System.of(*(var(name) >= 0 for name in sorted(sizes)))


def full_conditions(space: IndexSpace, dims: list[str]) -> tuple[Constraint, ...]:
    """The conditions under which a block's tile lies inside the arrays."""
    return tuple(space.origin(dim) + space.block_extent(dim) <= space.extent(dim) for dim in dims)


def grid(space: IndexSpace, dims: tuple[str, ...]) -> Grid:
    """All tiles of the dims that are dealt to blocks."""
    found: list[GridDim] = []
    for dim in dims:
        tile = space.outer_tile(dim)
        assert tile is not None
        size = tile.sizes[dim]
        found.append(GridDim(f"{tile.level}.{dim}", Quotient(space.extent(dim) + (size - 1), size)))
    rasters = [s.raster.group for s in space.plan.steps if isinstance(s, Place) and s.onto is Onto.BLOCKS]
    return Grid(tuple(found), Raster(rasters[0] if rasters else 1))


def parameters(plan: Plan, facts: Facts) -> tuple[Parameter, ...]:
    """The kernel's parameters: addresses in the order of the arrays, sizes, strides, numbers."""
    compute = plan.compute
    pointers = [
        Parameter(a.name, ParameterKind.POINTER, a.element, facts.alignment(a.name), a.kind is ArrayKind.OUTPUT)
        for a in compute.arrays
        if a.kind is not ArrayKind.LOCAL
    ]
    sizes = {name for a in compute.arrays for extent in a.extents for name in extent.names}
    sizes |= {name for s in compute.statements for dim in s.dims for name in dim.extent.names}
    kinds = {name: ParameterKind.SIZE if name in sizes else ParameterKind.STRIDE for name in compute.parameters}
    ordered = sorted(compute.parameters, key=lambda name: kinds[name] is ParameterKind.STRIDE)
    numbers = [Parameter(name, kinds[name]) for name in ordered]
    scalars = [Parameter(scalar.name, ParameterKind.SCALAR) for scalar in compute.scalars]
    return (*pointers, *numbers, *scalars)


def check_budgets(plan: Plan, program: Program, parts: list[Part]) -> None:
    """Refuses a program that no block of the target can hold."""
    limits = limits_of(target_named(plan.target))
    line = plan.steps[-1].line
    if program.shared_bytes > limits.shared_bytes_per_cta:
        rings = ", ".join(f"{b.name} {b.slot_bytes * b.depth}" for b in program.buffers if b.space is Space.SHARED)
        raise PlanError(
            f"{program.shared_bytes} bytes of shared memory, a block has {limits.shared_bytes_per_cta}: {rings}",
            line=shared_line(plan),
        )
    threads = program.warps * limits.lanes_per_warp
    if threads > limits.threads_per_cta:
        raise PlanError(f"{program.warps} warps are {threads} threads, a block has {limits.threads_per_cta}", line=line)
    held = max((most_registers(part.ops) for part in parts), key=held_registers)
    total = held_registers(held)
    if total > limits.registers_per_thread:
        names = ", ".join(f"{buffer.name} {register_count(buffer)}" for buffer in held)
        raise PlanError(
            f"tiles held at once in registers need {total}, a thread has {limits.registers_per_thread}: {names}",
            line=line,
        )


def most_registers(ops: tuple[Op, ...]) -> tuple[Buffer, ...]:
    """The register buffers that live at once where they are most: each from the first item of the top level that uses
    it to the last one (what a loop touches lives through the loop)."""
    spans: dict[Buffer, tuple[int, int]] = {}
    for op in ops:
        at = op.time.place[0]
        for touch in op.touches:
            if touch.buffer.space is Space.REGISTERS:
                first, last = spans.get(touch.buffer, (at, at))
                spans[touch.buffer] = (min(first, at), max(last, at))
    moments = {first for first, _ in spans.values()}
    live = [tuple(b for b, (first, last) in spans.items() if first <= m <= last) for m in sorted(moments)]
    return max(live, key=held_registers, default=())


def held_registers(buffers: tuple[Buffer, ...]) -> int:
    """The 32-bit registers of a lane that all of these buffers take together."""
    return sum(map(register_count, buffers))


def shared_line(plan: Plan) -> SourceLine | None:
    """The line of the last stage into shared memory."""
    return next((s.line for s in reversed(plan.steps) if isinstance(s, Stage) and isinstance(s.into, IntoShared)), None)


def register_count(buffer: Buffer) -> int:
    """The 32-bit registers of a lane that a register buffer takes."""
    bits = buffer.distribution.value_count * buffer.element.bits
    return max(1, bits // 32) * buffer.depth
