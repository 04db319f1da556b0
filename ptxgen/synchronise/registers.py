"""What threads keep for themselves: registers with products in flight, and stores under way when a role ends."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from isa.mechanisms import AtIssue, Group, GroupKind
from polyhedral import Set, System
from ptxgen.order.atoms import Commit, Fence, FenceKind, Retire
from ptxgen.order.nest import Body, Nest
from ptxgen.order.ops import Time, time_domain
from ptxgen.order.requirement import Requirement
from ptxgen.order.synchronisation import Synchronisation


def own_waits(body: Body, places: Nest, found: list[Requirement]) -> dict[int, list[Synchronisation]]:
    """A wait for all products directly behind the item that issued them, and for all stores directly before the end of
    the role. Where that item is the product itself, its group is closed there first."""
    depth = len(body.path)
    waits: dict[tuple[int, GroupKind], list[Requirement]] = {}
    for requirement in found:
        completes = requirement.source.op.mechanism.completes
        if isinstance(completes, Group):
            behind = places.positions[requirement.source.number][depth] + 1
            gap = places.positions[requirement.sink.number][depth] if requirement.sink.op.leaves else behind
            waits.setdefault((gap, completes.kind), []).append(requirement)
    atoms: dict[int, list[Synchronisation]] = {}
    for (gap, kind), own in waits.items():
        wait = _wait(body, kind, own)
        issued = [r.source.op for r in own if kind is GroupKind.WGMMA and r.source.op.time.loops == body.loops]
        closing = [evolve(wait, atom=Commit(kind), domain=op.domain, time=op.time) for op in issued[:1]]
        atoms.setdefault(gap, []).extend((*closing, wait))
    return atoms


def _wait(body: Body, kind: GroupKind, found: list[Requirement]) -> Synchronisation:
    """At every step at which what is waited for is used: also where no product lies between, so that no path goes
    around it."""
    loops = body.loops
    pieces: list[System] = []
    for sink in (requirement.sink.op for requirement in found):
        whole = sink.domain if sink.domain.dims == loops else sink.domain.project_onto(*loops)
        pieces += (time_domain(whole, sink.time.ahead[: len(loops)]) if loops else whole).pieces
    domain, time = Set(loops, tuple(dict.fromkeys(pieces))), Time(loops, (0,) * len(loops), ())
    return Synchronisation(body.role, Retire(kind, 0), domain, time, tuple(dict.fromkeys(r.covered for r in found)))


def register_fences(places: Nest, found: list[Requirement]) -> Iterator[tuple[Body, int, Synchronisation]]:
    """A fence directly before each product that reads what others wrote, wherever that was: assemblers put one of their
    own before products that none precedes in the same stretch of code."""
    sinks: dict[int, list[Requirement]] = {}
    for requirement in found:
        if isinstance(requirement.source.op.mechanism.completes, AtIssue):
            sinks.setdefault(requirement.sink.number, []).append(requirement)
    for number, own in sinks.items():
        op = own[0].sink.op
        covers = tuple(dict.fromkeys(r.covered for r in own))
        body, gap = Body(op.role, places.paths[number]), places.positions[number][-1]
        yield body, gap, Synchronisation(op.role, Fence(FenceKind.REGISTER), op.domain, op.time, covers)
