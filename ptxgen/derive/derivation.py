"""From a plan to a tile program: its parts, derived and proved each for itself, and its roles."""

from __future__ import annotations

from attrs import field, frozen

from isa.targets import UnknownTarget
from isa.targets import target as target_named
from polyhedral import Constraint
from ptxgen.derive.budgets import check_budgets, check_products
from ptxgen.derive.clusters import check_clusters, entered
from ptxgen.derive.declarations import boxes_of, buffers_of, grid, parameters, rings_of
from ptxgen.derive.draft import Draft
from ptxgen.derive.extents import croppable
from ptxgen.derive.facts import Facts
from ptxgen.derive.fusion import fused_paths
from ptxgen.derive.launches import launched, overlaps
from ptxgen.derive.part import Part, derive_part
from ptxgen.derive.passing import workspace_parameters, workspaces
from ptxgen.derive.signature import SumOrder, signature, split_order
from ptxgen.derive.space import IndexSpace
from ptxgen.derive.splitting import check_split
from ptxgen.derive.tickets import check_tickets, ticket_workspaces
from ptxgen.derive.turning import check_units, of_units, own_buffers, unit_count
from ptxgen.errors import InternalError, PlanError, UnsupportedError
from ptxgen.plan import Plan
from ptxgen.prove.launches import launch_faults
from ptxgen.prove.passing import order_faults
from ptxgen.tile import Fact, Program, Role, When


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
    allow; UnsupportedError for a target that nobody knows.
    """
    try:
        target_named(plan.target)
    except UnknownTarget as error:
        raise UnsupportedError(str(error)) from None
    space, facts = IndexSpace(plan), Facts.of(plan)
    check_split(space)
    check_tickets(space)
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
    own = (*workspaces(buffers), *ticket_workspaces(space))
    conditions = full_conditions(space, ragged)
    program = Program(
        plan.compute.name,
        plan.target,
        (*parameters(plan, facts), *workspace_parameters(own)),
        tuple(Fact(fact.value, fact.factor) for fact in facts.multiples),
        grid(space, blocks),
        buffers,
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


def full_conditions(space: IndexSpace, dims: list[str]) -> tuple[Constraint, ...]:
    """The conditions under which a block's tile lies inside the arrays."""
    return tuple(space.origin(dim) + space.block_extent(dim) <= space.extent(dim) for dim in dims)
