"""The barrier of a cluster, where a role of one block uses what the same role of another block has put, or goes when
that has read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isa.mechanisms import AtIssue
from polyhedral import Set
from ptxgen.errors import UnsupportedError
from ptxgen.order.atoms import ClusterArrive, ClusterWait
from ptxgen.order.nest import Body, Nest
from ptxgen.order.ops import Time
from ptxgen.order.requirement import Requirement
from ptxgen.order.synchronisation import Synchronisation
from ptxgen.synchronise.meetings import fewest_gaps


def gatherings(places: Nest, found: Sequence[Requirement]) -> Iterator[tuple[Body, int, Synchronisation]]:
    """As few barriers of the cluster as serve these requirements, each in two halves: all threads of the role arrive
    directly behind the last source and wait directly before the first sink; what lies between is done meanwhile.

    UnsupportedError for what no barrier at the top level of one role serves.
    """
    roles = {requirement.source.op.role for requirement in found}
    for role in roles:
        own = [requirement for requirement in found if requirement.source.op.role == role]
        for requirement in own:
            _check(requirement, roles)
        body = Body(role, ())
        spans = {r: _gaps(r, places) for r in own}
        size = len(places.items[body])
        chosen = fewest_gaps({(low, high - low + 1) for low, high in spans.values()}, size + 1, cyclic=False)
        for gap in chosen:
            served = [r for r in own if _first(chosen, *spans[r]) == gap]
            covers = tuple(dict.fromkeys(r.covered for r in served))
            for at, atom in (
                (max(spans[r][0] for r in served), ClusterArrive()),
                (min(spans[r][1] for r in served), ClusterWait()),
            ):
                yield body, at, Synchronisation(role, atom, Set.of(()), Time((), (), (at,)), covers)


def _gaps(requirement: Requirement, places: Nest) -> tuple[int, int]:
    """The first and the last gap between source and sink; gap g lies directly before item g."""
    source, sink = (places.positions[event.number][0] for event in (requirement.source, requirement.sink))
    return source + 1, sink


def _first(chosen: Sequence[int], low: int, high: int) -> int:
    return next(gap for gap in chosen if low <= gap <= high)


def _check(requirement: Requirement, roles: set[str]) -> None:
    source, sink = requirement.source.op, requirement.sink.op
    outside = not (source.time.loops or sink.time.loops)
    if not outside or not isinstance(source.mechanism.completes, AtIssue) or len(roles) > 1:
        raise UnsupportedError(
            f"{requirement}: {source} ({source.line}) and {sink} are in different blocks of a cluster; its barrier "
            f"orders what one role does outside of its loops, complete when issued"
        )
