"""From a plan to a tile program: ops, requirements, meetings, the checker's verdict, loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import evolve, field, frozen

from isa.limits import limits as limits_of
from isa.targets import target as target_named
from polyhedral import Constraint, System, const, var
from ptxgen.compute import ArrayKind, SourceLine, bounds
from ptxgen.derive.boxes import tensor_box
from ptxgen.derive.by_hand import written_by_hand
from ptxgen.derive.clusters import check_clusters, entered
from ptxgen.derive.counting import counted, counting
from ptxgen.derive.draft import Draft, placed_all
from ptxgen.derive.extents import croppable
from ptxgen.derive.facts import Facts
from ptxgen.derive.fusion import fused_paths
from ptxgen.derive.hinting import comes_early
from ptxgen.derive.items import ITEM, ITEMS, over_items, walking
from ptxgen.derive.launches import launched, overlaps
from ptxgen.derive.leaving import with_ends
from ptxgen.derive.loops import Path
from ptxgen.derive.passing import passing_bounds, workspace_parameters, workspaces
from ptxgen.derive.pointwise import derive_pointwise
from ptxgen.derive.products import derive_product
from ptxgen.derive.pruning import pruned
from ptxgen.derive.scanning import scan_program
from ptxgen.derive.segments import bounded_along, read_by_blocks, segments_of
from ptxgen.derive.sequencing import sequenced
from ptxgen.derive.signature import SumOrder, signature, split_order
from ptxgen.derive.space import GROUP_BITS, IndexSpace
from ptxgen.derive.splitting import check_split
from ptxgen.derive.streaming import MixedSteps, mixed
from ptxgen.derive.turning import check_units, copies, of_units, own_buffers, rotations, unit_count
from ptxgen.errors import InternalError, PlanError
from ptxgen.order.ops import Op
from ptxgen.order.requirements import Requirement, requirements
from ptxgen.order.synchronisation import Synchronised
from ptxgen.order.threads import Threads
from ptxgen.plan import IntoShared, MultiplyBy, Onto, Order, Place, Plan, Shift, Stage, Turns
from ptxgen.prove.checker import Verdict
from ptxgen.prove.launches import launch_faults
from ptxgen.prove.passing import order_faults
from ptxgen.synchronise.discharge import discharge
from ptxgen.synchronise.widening import widened
from ptxgen.tile import (
    ITEM_SLABS,
    LANE_BITS,
    Buffer,
    Carrier,
    Copy,
    Fact,
    Grid,
    GridDim,
    Multiply,
    Node,
    Parameter,
    ParameterKind,
    Program,
    Quotient,
    Raster,
    Ring,
    Role,
    Space,
    TensorBox,
    When,
    WorkList,
)

# What ptxas takes of a thread's registers beside the sums of wgmma (C7602, 12.9 and 13).
BESIDE_SUMS, REGISTER_UNIT = 26, 8


@frozen
class Part:
    """One tree of each role of a kernel (for full blocks, or for all) with everything that they were derived from."""

    ops: tuple[Op, ...] = field(repr=lambda ops: f"<{len(ops)} ops>")
    requirements: tuple[Requirement, ...] = field(repr=lambda needed: f"<{len(needed)} requirements>")
    synchronised: Synchronised = field(repr=False)
    verdict: Verdict = field(repr=False)
    buffers: tuple[Buffer, ...] = field(repr=False)
    bodies: Mapping[str, Node] = field(repr=False)


@frozen
class Derivation:
    """A plan carried out: the parts (full blocks first where they are isolated) and the tile program."""

    plan: Plan = field(repr=False)
    parts: tuple[Part, ...]
    program: Program = field(repr=lambda program: str(program.name))

    def signature(self, target: str | None = None) -> tuple[SumOrder, ...]:
        """The order of every sum of products, on the plan's target or another one that the kernel runs on. Equal
        signatures of one compute give equal bits."""
        first, *others = (signature(part.ops, target or self.plan.target) for part in self.parts)
        if any(other != first for other in others):
            raise InternalError(f"full and partial blocks sum in different orders: {first} and {others}")
        return tuple(split_order(order, self.plan) for order in first)


def derive(plan: Plan) -> Derivation:
    """The tile program of a plan, with its synchronisation derived and proved.

    PlanError, on the line of the step that asks for it, for what the target, the dependences or the budgets do not
    allow.
    """
    space, facts = IndexSpace(plan), Facts.of(plan)
    check_split(space)
    check_units(space)
    blocks = space.blocks_of(plan.compute.statements)
    probe = Draft(space, facts, full=True)
    ragged = [dim for dim in blocks if not probe.divides(dim)]
    paths = fused_paths(space)
    with croppable(space):
        parts = [derive_part(space, facts, paths, full=True)] if space.isolated or not ragged else []
        if ragged:
            parts.append(derive_part(space, facts, paths, full=False))
    buffers = buffers_of(space, parts)
    own = workspaces(buffers)
    conditions = full_conditions(space, ragged)
    program = Program(
        plan.compute.name,
        plan.target,
        (*parameters(plan, facts), *workspace_parameters(own)),
        tuple(Fact(fact.value, fact.factor) for fact in facts.multiples),
        grid(space, blocks),
        buffers_of(space, parts),
        tuple(role for name in role_names(parts[0], space) for role in roles_of(space, name, parts, conditions)),
        tuple(dict.fromkeys(ring for part in parts for ring in rings_of(part))),
        tuple(dict.fromkeys(box for part in parts for box in boxes_of(space, part))),
        (*entered(parts), *launched(plan)),
        overlaps(plan),
        own,
    )
    check_clusters(space, program, parts)
    refused = (*launch_faults(program), *order_faults(program))
    if refused:
        raise InternalError("\n".join(["the derived launch is refused by the checker:", *map(str, refused)]))
    check_budgets(plan, program, parts)
    check_products(plan, program, parts)
    return Derivation(plan, tuple(parts), program)


def role_names(part: Part, space: IndexSpace) -> list[str]:
    """The roles in the order of their warps: the one that computes first, since warpgroups start at multiples of four
    warps."""
    named = {name for name, wish in space.roles.roles if wish.ops} if space.roles else set()
    return sorted(part.bodies, key=lambda name: name in named)


def buffers_of(space: IndexSpace, parts: list[Part]) -> tuple[Buffer, ...]:
    """The buffers of a program; of those that only units which take turns use, one for each unit."""
    found = dict.fromkeys(buffer for part in parts for buffer in part.buffers)
    if space.turns is None:
        return tuple(found)
    units = unit_count(space, space.turns.role)
    own = {buffer for part in parts for buffer in own_buffers(part.ops, space.turns.role)}
    return tuple(each for b in found for each in (copies(b, units) if b in own else (b,)))


def roles_of(space: IndexSpace, name: str, parts: list[Part], full: tuple[Constraint, ...]) -> tuple[Role, ...]:
    """A role, or one for each of its units where those take turns."""
    role, units = role_of(space, name, parts, full), unit_count(space, name)
    own = dict.fromkeys(buffer for part in parts for buffer in own_buffers(part.ops, name))
    return tuple(of_units(role, units, tuple(own))) if units > 1 else (role,)


def role_of(space: IndexSpace, name: str, parts: list[Part], full: tuple[Constraint, ...]) -> Role:
    """A role with its tree; where full blocks are kept apart, one for them and one for the others."""
    body = parts[0].bodies[name]
    if len(parts) == 2:
        body = When(full, body, parts[1].bodies[name])
    wish = dict(space.roles.roles).get(name) if space.roles else None
    warps = unit_count(space, name) * space.warps
    if wish is None:
        return Role(name, warps, body)
    elected = bool(wish.ops)
    if not elected and wish.warp_count not in (0, warps):
        found = f"the tiles are dealt to {warps} warps, the role has {wish.warp_count}"
        raise PlanError(f"role {name}: {found}", line=space.plan.steps[-1].line)
    return Role(name, wish.warp_count or (1 if elected else warps), body, elected, wish.registers)


def threads_of(space: IndexSpace) -> dict[str, Threads]:
    """Who runs each role: one elected thread the copies, warpgroups or warps the rest."""
    warps = space.warps
    units = warps >> GROUP_BITS if space.grouped else 1
    if space.roles is None:
        return {}
    found = {n: Threads(1, 1) if wish.ops else Threads(units, warps << LANE_BITS) for n, wish in space.roles.roles}
    if space.turns is not None:
        count = unit_count(space, space.turns.role)
        found[space.turns.role] = Threads(count, count * warps << LANE_BITS, alternates=True)
    return found


def boxes_of(space: IndexSpace, part: Part) -> Iterator[TensorBox]:
    """The tensor maps that the copies of a part need."""
    for node in (op.node for op in part.ops):
        if isinstance(node, Copy) and node.carrier is Carrier.TENSOR:
            moved = (side.buffer for side in (node.source, node.destination))
            array = space.compute.array(next(b.array for b in moved if b.space is Space.GLOBAL))
            box = tensor_box(array, node, early=comes_early(space, node.op))
            yield evolve(box, bounded=bounded_along(space, array, node))


def rings_of(part: Part) -> Iterator[Ring]:
    """The rings of a part with their counts."""
    for use in part.synchronised.rings:
        yield Ring(use.name, use.depth, use.byte_count, use.empty_count, use.counts_by_rank)
    yield from (Ring(turns.name, turns.units, 0, turns.count) for turns in part.synchronised.turns)


def derive_part(space: IndexSpace, facts: Facts, paths: dict[str, Path], full: bool) -> Part:
    """One tree: all statements drafted, ordered, synchronised, checked and scanned."""
    threads = threads_of(space)
    draft = Draft(space, facts, full)
    draft.paths, draft.only = paths, passing_bounds(space)
    products = {step.statement: step for step in space.plan.steps if isinstance(step, MultiplyBy)}
    for statement in space.compute.statements:
        draft.line, draft.role = statement.line, draft.role_of(statement.name)
        step = products.get(statement.name)
        if step:
            derive_product(draft, statement, step)
        else:
            derive_pointwise(draft, statement)
    for array in read_by_blocks(space):
        draft.global_buffer(array)
    sequenced(draft)
    written_by_hand(draft)
    ops = on_shift_lines(space.plan, placed_all(draft))
    if space.persistent is not None:
        ops = over_items(ops)
    ops = with_ends(counted(ops))
    needed = requirements(ops)
    proposed = widened(discharge(ops, needed, threads, rotations(space)))
    synchronised, verdict = pruned(proposed, needed, threads)
    if verdict.findings:
        raise refused(space.plan, verdict)
    try:
        bodies = {role: scan_program(synchronised, role, context(space)) for role in draft.roots}
    except MixedSteps as found:
        raise mixed(space.plan, found) from None
    if space.persistent is not None:
        bodies = {role: walking(body) for role, body in bodies.items()}
    bodies = {role: counting(body, synchronised, role) for role, body in bodies.items()}
    return Part(ops, needed, synchronised, verdict, tuple(draft.buffers.values()), bodies)


def refused(plan: Plan, verdict: Verdict) -> PlanError | InternalError:
    """The error of what the checker refuses: roles that wait for each other where ops run early are the plan's fault,
    as are units that take turns in a phase in which they wait for each other; all else is ours."""
    told = [str(finding) for finding in verdict.findings]
    turns = next((step for step in plan.steps if isinstance(step, Turns)), None)
    if turns is not None and verdict.codes == ("synchronisation.rotation",):
        text = f"{turns}: a unit would wait in a phase for what another one does only behind its own: {told[0]}"
        return PlanError(text, line=turns.line)
    shifts = [step for step in plan.steps if isinstance(step, Shift)]
    if shifts and verdict.codes == ("synchronisation.deadlock",):
        text = f"{shifts[-1]}: a role would wait for what comes behind that wait in another one: {told[0]}"
        return PlanError(text, line=shifts[-1].line)
    return InternalError("\n".join(["the derived meetings are refused by the checker:", *told]))


def on_shift_lines(plan: Plan, ops: list[Op]) -> tuple[Op, ...]:
    """The ops with the line of the step that decides when they run: the last `shift` or `sequence` that names them."""
    lines = {name: step.line for step in plan.steps if isinstance(step, Shift | Order) for name in step.ops}
    return tuple(evolve(op, line=lines.get(op.name, op.line)) for op in ops)


def context(space: IndexSpace) -> System:
    """What is known of the sizes: extents are not negative."""
    sizes = {name for s in space.compute.statements for dim in s.dims for name in dim.extent.names}
    items = {ITEMS} if space.persistent else set()
    found = [var(name) >= 0 for name in sorted(sizes | items)]
    if space.stream:
        found += [var(ITEM_SLABS) >= 0]
    found += [constraint for s in space.compute.statements for constraint in bounds(s)]
    if space.split:
        found += [var(space.part_variable) >= 0, var(space.part_variable) < space.split.parts]
    return System.of(*found)


def full_conditions(space: IndexSpace, dims: list[str]) -> tuple[Constraint, ...]:
    """The conditions under which a block's tile lies inside the arrays."""
    return tuple(space.origin(dim) + space.block_extent(dim) <= space.extent(dim) for dim in dims)


def grid(space: IndexSpace, dims: tuple[str, ...]) -> Grid:
    """All tiles of the dims that are dealt to blocks, each for every part of a split sum."""
    parts = {space.part_variable: space.split.parts} if space.split else {}
    together = space.split is not None and space.split.together
    found = [GridDim(name, Quotient(const(count), 1), count if together else 1) for name, count in parts.items()]
    for dim in dims:
        tile = space.outer_tile(dim)
        assert tile is not None
        size = tile.sizes[dim]
        count = Quotient(space.length(dim) + (size - 1), size)
        found.append(GridDim(space.block_variable(dim), count, space.clustered.get(dim, 1)))
    orders = [s.raster for s in space.plan.steps if isinstance(s, Place) and s.onto is Onto.BLOCKS]
    raster = Raster(orders[0].group, orders[0].curve) if orders else Raster()
    passing = space.split.parts if space.split and not together else 1
    return Grid(tuple(found), raster, work_list(space), passing, segments_of(space, dims))


def work_list(space: IndexSpace) -> WorkList | None:
    """How blocks that stay share the tiles, or the slabs of a sum over all tiles."""
    step = space.persistent
    if step is None:
        return None
    workers = step.workers if isinstance(step.workers, int) else None
    return WorkList(workers, slabs_of(space, space.stream.dim) if space.stream else None)


def slabs_of(space: IndexSpace, dim: str) -> Quotient:
    """The slabs of a tile along a dim."""
    tile = space.outer_tile(dim)
    assert tile is not None
    return Quotient(space.extent(dim) + (tile.sizes[dim] - 1), tile.sizes[dim])


def parameters(plan: Plan, facts: Facts) -> tuple[Parameter, ...]:
    """The kernel's parameters: addresses in the order of the arrays, sizes, strides, numbers."""
    compute = plan.compute
    pointers = [
        Parameter(a.name, ParameterKind.POINTER, a.element, facts.alignment(a.name), a.kind is ArrayKind.OUTPUT)
        for a in compute.arrays
        if a.kind is not ArrayKind.LOCAL
    ]
    sizes = {name for a in compute.arrays for extent in a.extents for name in extent.names}
    sizes |= {name for s in compute.statements for dim in s.dims for name in dim.length.names}
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


def check_products(plan: Plan, program: Program, parts: list[Part]) -> None:
    """Refuses a product of a warpgroup whose sums the registers that each thread starts with cannot hold beside what
    the assembler wants for itself."""
    limits = limits_of(target_named(plan.target))
    threads = program.warps * limits.lanes_per_warp
    own = min(limits.registers_per_thread, limits.registers_per_cta // threads // REGISTER_UNIT * REGISTER_UNIT)
    lines = {step.statement: step.line for step in plan.steps if isinstance(step, MultiplyBy)}
    for node in (op.node for part in parts for op in part.ops):
        if isinstance(node, Multiply) and node.row.warpgroup:
            sums = node.row.m * node.row.n * node.row.accumulate.bits // (32 * 4 * limits.lanes_per_warp)
            if sums + BESIDE_SUMS > own:
                raise PlanError(
                    f"a product of {node.row.m}x{node.row.n} sums takes {sums} registers and {BESIDE_SUMS} beside "
                    f"them, each of {threads} threads starts with {own}: give it fewer columns or a block fewer warps",
                    line=next(iter(lines.values())),
                )


def most_registers(ops: tuple[Op, ...]) -> tuple[Buffer, ...]:
    """The register buffers that live at once where they are most: each from the first item of the top level, or of the
    body of a work item, that uses it to the last one (what a loop touches lives through the loop)."""
    spans: dict[Buffer, tuple[int, int]] = {}
    for op in ops:
        at = op.time.place[1 if op.time.loops[:1] == (ITEM,) else 0]
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
