"""What a `turns` step may ask: units of a role that each take work items of their own, in phases that the plan has."""

from __future__ import annotations

from ptxgen.plan.checks import Checks
from ptxgen.plan.steps import MultiplyBy, Persist, Roles, Stream, Turns

LEAST_UNITS = 2
WARPS_OF_A_GROUP = 4


def turnable(checks: Checks, step: Turns) -> None:
    """A role of several warpgroups that takes all the rest, a level whose blocks walk a work list, and phases that are
    statements, the product among them. Raises PlanError on the step's line."""
    if any(isinstance(other, Turns) for other in checks.steps):
        raise checks.refused("turns are given already")
    stream = next((other for other in checks.steps if isinstance(other, Stream)), None)
    if stream is not None:
        raise checks.refused(f"{stream}: units that take whole items in turn have no parts of a sum")
    _role(checks, step)
    checks.level(step.over)
    if not any(isinstance(other, Persist) and other.level == step.over for other in checks.steps):
        raise checks.refused(f"turns over {step.over!r}: persist that level, so that there are items to take in turn")
    checks.word("split_items", step.split_items, bool, "True or False")
    if not step.split_items:
        raise checks.refused(
            f"turns({step.role}) without split_items: warpgroups that share every item do not alternate so far"
        )
    _phases(checks, step)


def _role(checks: Checks, step: Turns) -> None:
    roles = next((other for other in checks.steps if isinstance(other, Roles)), None)
    found = dict(roles.roles).get(step.role) if roles else None
    if found is None:
        known = ", ".join(name for name, _ in roles.roles) if roles else "none"
        raise checks.refused(f"no role {step.role!r} to take turns; there are {known}")
    if found.ops:
        raise checks.refused(
            f"role {step.role} is one thread that has {', '.join(found.ops)} copied: it takes no turns"
        )
    if found.warp_count < LEAST_UNITS * WARPS_OF_A_GROUP or found.warp_count % WARPS_OF_A_GROUP:
        raise checks.refused(
            f"role {step.role} takes turns with warpgroups={LEAST_UNITS} or more, got {found.warp_count} warps"
        )


def _phases(checks: Checks, step: Turns) -> None:
    for phase in step.phases:
        checks.statement(phase)
        if step.phases.count(phase) > 1:
            raise checks.refused(f"turns name {phase} twice")
    products = [other.statement for other in checks.steps if isinstance(other, MultiplyBy)]
    missing = [product for product in products if product not in step.phases]
    if missing or not step.phases:
        raise checks.refused(
            f"turns({step.role}): the phases are {', '.join(step.phases) or 'none'}; a product is one of them, else a "
            f"unit could take the tiles of another one's item: {', '.join(missing) or 'none is multiplied yet'}"
        )
