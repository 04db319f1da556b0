"""What a `turns` step may ask: units of a role that each take work items of their own, or share every item and take
phases of a loop in rotation."""

from __future__ import annotations

from ptxgen.compute import Array
from ptxgen.plan.checks import Checks
from ptxgen.plan.running import rolled
from ptxgen.plan.steps import MultiplyBy, Persist, Roles, Stream, Turns

LEAST_UNITS = 2
WARPS_OF_A_GROUP = 4


def turnable(checks: Checks, step: Turns) -> None:
    """A role of several warpgroups that takes all the rest, and phases that are statements of it: with `split_items`
    the product among them, over a level whose blocks walk a work list; else in a loop that each of them runs in.
    Raises PlanError on the step's line."""
    if any(isinstance(other, Turns) for other in checks.steps):
        raise checks.refused("turns are given already")
    stream = next((other for other in checks.steps if isinstance(other, Stream)), None)
    if stream is not None:
        taken = "whole items in turn have no parts of" if step.split_items is True else "phases in turn share all of"
        raise checks.refused(f"{stream}: units that take {taken} a sum")
    checks.word("split_items", step.split_items, bool, "True or False")
    _role(checks, step)
    if not step.split_items:
        _phases_of_loop(checks, step)
        return
    checks.level(step.over)
    if not any(isinstance(other, Persist) and other.level == step.over for other in checks.steps):
        raise checks.refused(f"turns over {step.over!r}: persist that level, so that there are items to take in turn")
    _phases(checks, step)


def named_phases(checks: Checks, role: str, phases: tuple[Array | str, ...]) -> tuple[str, ...]:
    """The phases by name. PlanError for one that is no statement, or an op of another role than the one that turns."""
    for owner, wish in (pair for step in checks.steps if isinstance(step, Roles) for pair in step.roles):
        for phase in phases:
            if phase in wish.ops and owner != role:
                raise checks.refused(f"{phase} is of role {owner}: the phases that {role} takes turns in are its own")
    return tuple(checks.statement(phase).name for phase in phases)


def _role(checks: Checks, step: Turns) -> None:
    """The role that has the statements, with several warpgroups: where those share every item, as many as the tiles are
    dealt to, which the whole plan tells."""
    roles = next((other for other in checks.steps if isinstance(other, Roles)), None)
    found = dict(roles.roles).get(step.role) if roles else None
    if found is None:
        known = ", ".join(name for name, _ in roles.roles) if roles else "none"
        raise checks.refused(f"no role {step.role!r} to take turns; there are {known}")
    if found.ops:
        raise checks.refused(
            f"role {step.role} is one thread that has {', '.join(found.ops)} copied: it takes no turns"
        )
    as_many_as_tiles = not step.split_items and not found.warp_count
    few = found.warp_count < LEAST_UNITS * WARPS_OF_A_GROUP or found.warp_count % WARPS_OF_A_GROUP
    if few and not as_many_as_tiles:
        raise checks.refused(
            f"role {step.role} takes turns with warpgroups={LEAST_UNITS} or more, got {found.warp_count} warps"
        )


def _each_once(checks: Checks, step: Turns) -> None:
    for phase in step.phases:
        checks.statement(phase)
        if step.phases.count(phase) > 1:
            raise checks.refused(f"turns name {phase} twice")


def _phases_of_loop(checks: Checks, step: Turns) -> None:
    checks.loop(step.over)
    _each_once(checks, step)
    if not step.phases:
        raise checks.refused(f"turns({step.role}, {step.over}): name the phases that are taken in rotation")
    for phase in step.phases:
        loops = rolled(checks.steps, checks.statement(phase))
        if step.over not in loops:
            where = f"in {', '.join(loops)}" if loops else "in no loop"
            raise checks.refused(f"turns over {step.over!r}: {phase} runs {where}; the loop is one around each phase")


def _phases(checks: Checks, step: Turns) -> None:
    _each_once(checks, step)
    products = [other.statement for other in checks.steps if isinstance(other, MultiplyBy)]
    missing = [product for product in products if product not in step.phases]
    if missing or not step.phases:
        raise checks.refused(
            f"turns({step.role}): the phases are {', '.join(step.phases) or 'none'}; a product is one of them, else a "
            f"unit could take the tiles of another one's item: {', '.join(missing) or 'none is multiplied yet'}"
        )
