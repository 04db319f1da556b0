"""What a `hint` step may ask: something, of ops that tensor copies carry out."""

from __future__ import annotations

from ptxgen.plan.checks import Checks
from ptxgen.plan.steps import Drain, Hint, Stage
from ptxgen.plan.transports import Transport
from ptxgen.plan.words import Eviction


def hinted(checks: Checks, step: Hint) -> None:
    """Ops that are there and are copied by tensor, and what they are not told already. Raises PlanError on the step's
    line."""
    if step.l2 is not None:
        checks.word("l2", step.l2, Eviction, "evict_first or evict_last")
    checks.word("map_early", step.map_early, bool, "True or False")
    if not step.ops or (step.l2 is None and not step.map_early):
        raise checks.refused(f"{step} says nothing: name ops, and l2= or map_early=True")
    known = _ops(checks)
    for op in step.ops:
        if op not in known:
            found = ", ".join(known) or "none"
            raise checks.refused(f"hint: no op {op!r}; there are {found}")
        if known[op] is not Transport.TENSOR:
            raise checks.refused(f"hint: {op} goes by {known[op].value}; what is copied by tensor takes hints")
        for other in (other for other in checks.steps if isinstance(other, Hint) and op in other.ops):
            if (other.l2 and step.l2) or (other.map_early and step.map_early):
                raise checks.refused(f"{op} is told already: {other}")


def _ops(checks: Checks) -> dict[str, Transport]:
    """The ops that bring boxes or take them away, with their transports."""
    found: dict[str, Transport] = {}
    for step in checks.steps:
        match step:
            case Stage():
                found[step.op] = step.by.transport
            case Drain():
                found[f"{step.array}.global"] = step.by.transport
            case _:
                pass
    return found
