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
from ptxgen.order.requirement import Event, Requirement
from ptxgen.order.synchronisation import Synchronisation, Synchronising

MOST_LOOPS = 1


def passing(places: Nest, found: Sequence[Requirement]) -> Iterator[tuple[Body, int, tuple[Synchronisation, ...]]]:
    """For each workspace: directly before the first read the role's first thread acquires the tile and meets the
    others; directly behind the last store it meets them and releases the tile. A block that reads and does not store
    is the last, and puts the flag back for the next launch. Where blocks walk a work list each passes one tile on, in
    the body of an item, and whoever acquires it puts its flag back.

    UnsupportedError for what is passed on inside of other loops, or not complete when issued.
    """
    for name in dict.fromkeys(requirement.buffer.name for requirement in found):
        own = [requirement for requirement in found if requirement.buffer.name == name]
        for requirement in own:
            _check(requirement)
        yield from _of_one(places, own)


def _of_one(places: Nest, own: Sequence[Requirement]) -> Iterator[tuple[Body, int, tuple[Synchronisation, ...]]]:
    sources, sinks = [r.source for r in own], [r.sink for r in own]
    depth, array, once = len(own[0].loops), own[0].buffer.array, bool(own[0].loops)
    body = Body(sources[0].op.role, places.paths[sources[0].number][:depth])
    stored, read = (_union(e.op.domain for e in ends) for ends in (sources, sinks))
    covers = tuple(dict.fromkeys(r.covered for r in own))

    def atom(what: Synchronising, domain: Set, value: Affine | None = None) -> Synchronisation:
        return Synchronisation(body.role, what, domain, Time(body.loops, (0,) * depth, ()), covers, value or const(0))

    taken, given = _rank(own[0].sink, own[0].buffer.name), _rank(own[0].source, own[0].buffer.name)
    put_back = (
        atom(Release(array, last=True, once=True), read, taken)
        if once
        else atom(Release(array, last=True), read - stored)
    )
    acquired = atom(Acquire(array, once), read, taken if once else taken + 1)
    meeting = Join(0)
    first = min(places.positions[e.number][depth] for e in sinks)
    yield body, first, (acquired, put_back, atom(meeting, read))
    released = atom(Release(array, once=once, on=own[0].parts), stored, given if once else given + 1)
    last = 1 + max(places.positions[e.number][depth] for e in sources)
    yield body, last, (atom(meeting, stored), released)


def _rank(event: Event, buffer: str) -> Affine:
    """The number of the tile of a buffer that an op touches: that of the part that fills it, or of its block."""
    return next(touch.rank for touch in event.op.touches if touch.buffer.name == buffer)


def _union(domains: Iterator[Set]) -> Set:
    found = tuple(domains)
    return Set(found[0].dims, tuple(dict.fromkeys(piece for domain in found for piece in domain.pieces)))


def _check(requirement: Requirement) -> None:
    source, sink = requirement.source.op, requirement.sink.op
    walked = len(requirement.loops) == MOST_LOOPS
    inside = len(source.time.loops) > MOST_LOOPS or len(sink.time.loops) > MOST_LOOPS
    apart = not walked and requirement.parts != 1
    if inside or apart or not isinstance(source.mechanism.completes, AtIssue):
        raise UnsupportedError(
            f"{requirement}: {source} ({source.line}) passes tiles on to other blocks; that is done outside of loops "
            f"but that over work items, from each part to the next, by what is complete when issued"
        )
