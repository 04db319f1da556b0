"""What a kernel of clusters asks of its parts and of the target."""

from __future__ import annotations

from collections.abc import Sequence

from isa.forms import resolve
from isa.targets import target as target_named
from ptxgen.derive.part import Part
from ptxgen.derive.space import IndexSpace
from ptxgen.errors import InternalError, PlanError
from ptxgen.order import atoms
from ptxgen.plan import Cluster, Split
from ptxgen.tile import Carrier, ClusterArrive, ClusterWait, Copy, Node, Program

CLUSTER_BARRIER = "barrier.cluster.wait.acquire.aligned"


def entered(parts: Sequence[Part]) -> tuple[ClusterArrive | ClusterWait, ...]:
    """What all threads do before their roles begin, the same in all parts."""
    found = {part.synchronised.enter for part in parts}
    if len(found) > 1:
        raise InternalError("full blocks and blocks at an edge enter their cluster in different ways")
    return tuple(ClusterArrive() if isinstance(each, atoms.ClusterArrive) else ClusterWait() for each in found.pop())


def check_clusters(space: IndexSpace, program: Program, parts: Sequence[Part]) -> None:
    """PlanError where the target has no clusters, or blocks that are not there for parts of a sum alone have no box in
    common.

    Full blocks and blocks at an edge may lie in one cluster: InternalError where their rings, or their barriers of the
    cluster, are not the same.
    """
    step = next((step for step in space.plan.steps if isinstance(step, Cluster)), space.split)
    if isinstance(step, Split) and not step.together:
        return
    if step is None:
        return
    target, availability = target_named(space.plan.target), resolve(CLUSTER_BARRIER).availability
    if availability.least_version(target) is None:
        raise PlanError(f"{target} has no clusters of blocks, which need {availability}", line=step.line)
    if isinstance(step, Cluster) and not any(_is_multicast(op.node) for part in parts for op in part.ops):
        raise PlanError(
            f"{step}: no box that tensor copies bring is the same in several blocks of the cluster, so that nothing is "
            f"multicast",
            line=step.line,
        )
    if len({_gatherings(part) for part in parts}) > 1:
        raise InternalError("full blocks and blocks at an edge of one cluster meet it in different ways")
    names = [ring.name for ring in program.rings]
    if len(set(names)) < len(names) or any(_ring_count(part) != len(names) for part in parts):
        raise InternalError("full blocks and blocks at an edge of one cluster use different rings")


def _is_multicast(node: Node) -> bool:
    return isinstance(node, Copy) and node.carrier is Carrier.TENSOR and bool(node.masks)


def _gatherings(part: Part) -> tuple[str, ...]:
    """What the roles of a part do at the barrier of their cluster, in order."""
    found = [a for a in part.synchronised.atoms if isinstance(a.atom, atoms.ClusterArrive | atoms.ClusterWait)]
    return tuple(f"{a.role}: {a.atom}" for a in sorted(found, key=lambda a: a.time.place))


def _ring_count(part: Part) -> int:
    return len(part.synchronised.rings) + len(part.synchronised.turns)
