"""Whether the plan leaves room between the two ends of a requirement."""

from __future__ import annotations

from ptxgen.errors import PlanError
from ptxgen.order.nest import Nest
from ptxgen.order.requirement import EventKind, Requirement
from ptxgen.tile import RequirementKind


def interval(requirement: Requirement, places: Nest) -> int:
    """Gaps between items of the body from source to sink, over as many steps as lie between them; 0 or less when the
    sink does not come behind the source."""
    depth = len(requirement.loops)
    source, sink = requirement.source, requirement.sink
    between = places.positions[sink.number][depth] - places.positions[source.number][depth]
    return requirement.steps * places.size_around(source.number, depth) + between


def check_order(requirement: Requirement, places: Nest) -> None:
    """Raises PlanError where the sink does not come behind the source: a shift or an order that empties the interval,
    or a ring that is not deep enough."""
    source, sink = requirement.source.op, requirement.sink.op
    for level, loop in enumerate(requirement.loops[:-1]):
        if source.time.ahead[level] != sink.time.ahead[level]:
            raise PlanError(
                f"{source} ({source.line}) and {sink} share the loop {requirement.loops[-1]}, but the shift in the "
                f"outer loop {loop} is {source.time.ahead[level]} for one and {sink.time.ahead[level]} for the other",
                line=sink.line,
            )
    if interval(requirement, places) > 0:
        return
    deeper = requirement.kind is not RequirementKind.FLOW
    where = f"{requirement.distance} steps of {requirement.loops[-1]} later" if requirement.loops else "later"
    event = "has read" if requirement.source.kind is EventKind.READ_DONE else "has filled"
    depth = f" with depth {requirement.buffer.depth}" if deeper else ""
    raise PlanError(
        f"the shift empties the interval between {source} ({source.line}) and {sink}: {source} {event} a tile of "
        f"{requirement.buffer.name} before {sink} {'fills the same slot' if deeper else 'uses it'} {where}{depth}, but "
        f"the plan runs {sink} first" + ("; a greater depth or a smaller shift is wanted" if deeper else ""),
        line=sink.line,
        instances=(f"{source} at step n", f"{sink} at step n + {requirement.distance}"),
    )
