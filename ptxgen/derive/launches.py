"""How a kernel's launch follows those ahead of it on the stream."""

from __future__ import annotations

from isa.forms import resolve
from isa.targets import target as target_named
from ptxgen.errors import PlanError
from ptxgen.plan import OverlapLaunch, Plan
from ptxgen.tile import GridRelease, GridWait

WAIT = "griddepcontrol.wait"


def overlaps(plan: Plan) -> bool:
    """Whether the plan lets launches overlap."""
    return any(isinstance(step, OverlapLaunch) for step in plan.steps)


def launched(plan: Plan) -> tuple[GridRelease | GridWait, ...]:
    """What all threads do before they touch global memory: the grids behind may begin at once, for each of them waits
    for all of this one. PlanError where the target has no overlapping launches."""
    step = next((step for step in plan.steps if isinstance(step, OverlapLaunch)), None)
    if step is None:
        return ()
    target, availability = target_named(plan.target), resolve(WAIT).availability
    if availability.least_version(target) is None:
        raise PlanError(f"{target} has no launches that overlap, which need {availability}", line=step.line)
    return (GridRelease(), GridWait())
