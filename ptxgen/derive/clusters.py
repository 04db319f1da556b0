"""What a kernel of clusters asks of its parts and of the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from isa.forms import resolve
from isa.targets import target as target_named
from ptxgen.derive.space import IndexSpace
from ptxgen.errors import InternalError, PlanError
from ptxgen.order import atoms
from ptxgen.plan import Cluster
from ptxgen.tile import ClusterArrive, ClusterWait, Copy, Program

if TYPE_CHECKING:
    from ptxgen.derive.derivation import Part

CLUSTER_BARRIER = "barrier.cluster.wait.acquire.aligned"


def entered(parts: Sequence[Part]) -> tuple[ClusterArrive | ClusterWait, ...]:
    """What all threads do before their roles begin, the same in all parts."""
    found = {part.synchronised.enter for part in parts}
    if len(found) > 1:
        raise InternalError("full blocks and blocks at an edge enter their cluster in different ways")
    return tuple(ClusterArrive() if isinstance(each, atoms.ClusterArrive) else ClusterWait() for each in found.pop())


def check_clusters(space: IndexSpace, program: Program, parts: Sequence[Part]) -> None:
    """PlanError where the target has no clusters, or blocks of one have no box in common.

    Full blocks and blocks at an edge may lie in one cluster: InternalError where their rings are not the same.
    """
    step = next((step for step in space.plan.steps if isinstance(step, Cluster)), None)
    if step is None:
        return
    target, availability = target_named(space.plan.target), resolve(CLUSTER_BARRIER).availability
    if availability.least_version(target) is None:
        raise PlanError(f"{target} has no clusters of blocks, which need {availability}", line=step.line)
    if not any(isinstance(op.node, Copy) and op.node.masks for part in parts for op in part.ops):
        raise PlanError(
            f"{step}: no box that tensor copies bring is the same in several blocks of the cluster, so that nothing is "
            f"multicast",
            line=step.line,
        )
    names = [ring.name for ring in program.rings]
    if len(set(names)) < len(names) or any(_ring_count(part) != len(names) for part in parts):
        raise InternalError("full blocks and blocks at an edge of one cluster use different rings")


def _ring_count(part: Part) -> int:
    return len(part.synchronised.rings) + len(part.synchronised.turns)
