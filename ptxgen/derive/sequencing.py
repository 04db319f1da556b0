"""The order that `sequence` steps ask for, put into the draft's bodies."""

from __future__ import annotations

from ptxgen.derive.draft import Body, Draft
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op
from ptxgen.plan import Order


def sequenced(draft: Draft) -> None:
    """Reorders the ops named by each `sequence` step inside the body of its loop; PlanError for a name not there."""
    for step in draft.space.plan.steps:
        if isinstance(step, Order):
            bodies = [body for root in draft.roots.values() for body in _bodies(root) if _is(body, step.at)]
            if not any(_reorder(body, step) for body in bodies):
                raise PlanError(
                    f"sequence({step.at}): none of {', '.join(step.ops)} runs directly in {step.at}", line=step.line
                )


def _bodies(body: Body) -> list[Body]:
    inner = [found for item in body.items if isinstance(item, Body) for found in _bodies(item)]
    return [body, *inner]


def _is(body: Body, at: str) -> bool:
    return body.loop is None if "." not in at else body.loop is not None and body.loop.at == at


def _reorder(body: Body, step: Order) -> bool:
    places = [place for place, item in enumerate(body.items) if isinstance(item, Op) and item.name in step.ops]
    named: list[Op | Body] = [body.items[place] for place in places]
    named.sort(key=lambda item: step.ops.index(item.name) if isinstance(item, Op) else 0)
    for place, item in zip(places, named, strict=True):
        body.items[place] = item
    return bool(places)
