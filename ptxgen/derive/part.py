"""One tree of each role: statements drafted, ordered, synchronised, proved and scanned."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, field, frozen

from polyhedral import System, var
from ptxgen.compute import bounds
from ptxgen.derive.by_hand import written_by_hand
from ptxgen.derive.counting import counted, counting
from ptxgen.derive.draft import Draft, placed_all
from ptxgen.derive.facts import Facts
from ptxgen.derive.items import ITEMS, over_items, walking
from ptxgen.derive.leaving import with_ends
from ptxgen.derive.loops import Path
from ptxgen.derive.passing import passing_bounds
from ptxgen.derive.pointwise import derive_pointwise
from ptxgen.derive.products import derive_product
from ptxgen.derive.pruning import pruned
from ptxgen.derive.scanning import scan_program
from ptxgen.derive.segments import read_by_blocks
from ptxgen.derive.sequencing import sequenced
from ptxgen.derive.space import GROUP_BITS, IndexSpace
from ptxgen.derive.streaming import MixedSteps, mixed
from ptxgen.derive.turning import rotations, unit_count
from ptxgen.errors import InternalError, PlanError
from ptxgen.order.ops import Op
from ptxgen.order.requirement import Requirement
from ptxgen.order.requirements import requirements
from ptxgen.order.synchronisation import Synchronised
from ptxgen.order.threads import Threads
from ptxgen.plan import MultiplyBy, Order, Plan, Shift, Turns
from ptxgen.prove.checker import Verdict
from ptxgen.synchronise.discharge import discharge
from ptxgen.synchronise.widening import widened
from ptxgen.tile import ITEM_SLABS, LANE_BITS, Buffer, Node


@frozen
class Part:
    """One tree of each role of a kernel (for full blocks, or for all) with everything that they were derived from."""

    ops: tuple[Op, ...] = field(repr=lambda ops: f"<{len(ops)} ops>")
    requirements: tuple[Requirement, ...] = field(repr=lambda needed: f"<{len(needed)} requirements>")
    synchronised: Synchronised = field(repr=False)
    verdict: Verdict = field(repr=False)
    buffers: tuple[Buffer, ...] = field(repr=False)
    bodies: Mapping[str, Node] = field(repr=False)


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
    return tuple(evolve(op, line=lines[op.name]) if op.name in lines else op for op in ops)


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
