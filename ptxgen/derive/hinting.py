"""What a plan tells caches of its ops."""

from __future__ import annotations

from ptxgen.derive.space import IndexSpace
from ptxgen.plan import Hint
from ptxgen.tile import Eviction


def eviction_of(space: IndexSpace, op: str) -> Eviction | None:
    """What becomes of an op's lines in the L2 cache; None where the plan does not say."""
    found = (step.l2 for step in _hints(space, op) if step.l2 is not None)
    return next((Eviction(wish.value) for wish in found), None)


def comes_early(space: IndexSpace, op: str) -> bool:
    """Whether the map of an op is fetched as the kernel begins."""
    return any(step.map_early for step in _hints(space, op))


def _hints(space: IndexSpace, op: str) -> list[Hint]:
    return [step for step in space.plan.steps if isinstance(step, Hint) and op in step.ops]
