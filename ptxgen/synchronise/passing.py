"""Tiles of a workspace that blocks pass on, part by part of a sum: who waits for the block before, and who tells the
next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isa.mechanisms import AtIssue
from polyhedral import Affine, Set, const
from ptxgen.errors import UnsupportedError
from ptxgen.order.atoms import Acquire, Join, Release
from ptxgen.order.nest import Body, Nest
from ptxgen.order.ops import Time
from ptxgen.order.requirements import Requirement
from ptxgen.order.synchronisation import Synchronisation, Synchronising


def passing(places: Nest, found: Sequence[Requirement]) -> Iterator[tuple[Body, int, tuple[Synchronisation, ...]]]:
    """For each workspace: directly before the first read the role's first thread acquires the tile and meets the
    others; directly behind the last store it meets them and releases the tile. A block that reads and does not store
    is the last, and puts the flag back for the next launch.

    UnsupportedError for what is passed on inside of loops, or not complete when issued.
    """
    for name in dict.fromkeys(requirement.buffer.name for requirement in found):
        own = [requirement for requirement in found if requirement.buffer.name == name]
        for requirement in own:
            _check(requirement)
        yield from _of_one(places, own)


def _of_one(places: Nest, own: Sequence[Requirement]) -> Iterator[tuple[Body, int, tuple[Synchronisation, ...]]]:
    sources, sinks = [r.source for r in own], [r.sink for r in own]
    body, array, rank = Body(sources[0].op.role, ()), own[0].buffer.array, _rank(own[0])
    stored, read = (_union(e.op.domain for e in ends) for ends in (sources, sinks))
    covers = tuple(dict.fromkeys(r.covered for r in own))

    def atom(what: Synchronising, domain: Set, value: Affine | None = None) -> Synchronisation:
        return Synchronisation(body.role, what, domain, Time((), (), (0,)), covers, value or const(0))

    meeting = Join(0)
    taken = atom(Acquire(array), read, rank), atom(Release(array, last=True), read - stored), atom(meeting, read)
    yield body, min(places.positions[e.number][0] for e in sinks), taken
    passed = atom(meeting, stored), atom(Release(array), stored, rank + 1)
    yield body, 1 + max(places.positions[e.number][0] for e in sources), passed


def _rank(requirement: Requirement) -> Affine:
    """The number of the part whose block takes the tile: one more than that of the tile that it reads."""
    touches = (t for t in requirement.sink.op.touches if t.buffer.name == requirement.buffer.name)
    return next(t.rank for t in touches) + 1


def _union(domains: Iterator[Set]) -> Set:
    pieces = dict.fromkeys(piece for domain in domains for piece in domain.pieces)
    return Set((), tuple(pieces))


def _check(requirement: Requirement) -> None:
    source, sink = requirement.source.op, requirement.sink.op
    loops = source.time.loops or sink.time.loops
    if loops or requirement.parts != 1 or not isinstance(source.mechanism.completes, AtIssue):
        raise UnsupportedError(
            f"{requirement}: {source} ({source.line}) passes tiles on to other blocks; that is done outside of loops, "
            f"from each part to the next, by what is complete when issued"
        )
