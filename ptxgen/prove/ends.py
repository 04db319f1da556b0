"""The first and last steps of loops, decided on domains: what the event graph of the steady state cannot see."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, reduce
from operator import and_

from attrs import frozen

from isa.mechanisms import Group, GroupKind, IssuedBy, Transaction
from polyhedral import Set, System, var
from ptxgen.errors import Finding, Severity
from ptxgen.order.atoms import (
    Acquire,
    Arrive,
    ClusterArrive,
    ClusterWait,
    Commit,
    Expect,
    Fence,
    FenceKind,
    Join,
    Release,
    Retire,
    Wait,
)
from ptxgen.order.ops import Op
from ptxgen.order.requirement import EventKind, Requirement
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.order.threads import SEVERAL
from ptxgen.prove.parts import Part, op_of
from ptxgen.prove.programs import fence_of, fillings, rings_of, steps_between


def uneven(synchronised: Synchronised, part: Part) -> Iterator[Finding]:
    """Rings that are not used as often as they are filled: at every index that is copied there is one announcement,
    one wait of each role, and one arrival, in the loop or behind it."""
    for name, buffers in rings_of(synchronised, part).items():
        filled = [op.domain for op in fillings(synchronised, part, buffers)]
        uses: dict[str, list[Set]] = {}
        for atom in part.synchronising:
            if not isinstance(atom.atom, Wait | Arrive | Expect) or atom.atom.ring != name:
                continue
            if isinstance(atom.atom, Wait) and atom.tail:
                yield from _not_last(name, atom, filled[0])
            else:
                uses.setdefault(f"{atom.atom} by {atom.role}", []).append(atom.domain)
        for what, domains in uses.items():
            if not _same_once(domains, filled[0]) or any(not other.equals(filled[0]) for other in filled[1:]):
                text = f"ring {name}: {what} is not done once for every filling"
                yield Finding("synchronisation.ends", Severity.ERROR, text)


def _not_last(name: str, atom: Synchronisation, filled: Set) -> Iterator[Finding]:
    """A wait behind a loop that is not done for the last filling, and for it alone; or behind all items, not always."""
    if not atom.time.loops:
        if not atom.domain.equals(Set.of(())):
            text = f"ring {name}: {atom.atom} by {atom.role} behind all items is not done by every block"
            yield Finding("synchronisation.ends", Severity.ERROR, text)
        return
    last = filled - _moved(filled, (0,) * len(filled.dims), 1)
    counts = atom.time.loops == filled.dims and (atom.rank - var(filled.dims[-1])).is_constant
    if not counts or not atom.domain.equals(last):
        text = f"ring {name}: {atom.atom} by {atom.role} behind the loop is not done for the last filling alone"
        yield Finding("synchronisation.ends", Severity.ERROR, text)


def _same_once(parts: list[Set], whole: Set) -> bool:
    """Whether the parts are disjoint and together the whole."""
    union = Set(whole.dims, tuple(piece for part in parts for piece in part.pieces))
    apart = all((first & second).is_empty() for place, first in enumerate(parts) for second in parts[place + 1 :])
    return apart and union.equals(whole)


def unserved(synchronised: Synchronised, part: Part) -> Iterator[Finding]:
    for requirement in part.requirements:
        source, sink = op_of(synchronised, requirement.source), op_of(synchronised, requirement.sink)
        if source.role != sink.role or isinstance(source.mechanism.completes, Transaction):
            continue
        if requirement.own and part.is_fenced(sink, len(requirement.loops)):
            continue
        left = _left(
            source.domain,
            sink.domain,
            requirement.loops,
            requirement.distance,
            tuple(_ways(part, requirement, source, sink)),
        )
        if requirement.parts:
            left = _not_passed(part, requirement, source, sink)
        witness = left.sample()
        if witness is not None:
            where = ", ".join(f"{name} = {value}" for name, value in witness.items())
            lacks = "no meeting" if lane_kind(source) is None else "no meeting behind a wait for its group"
            if requirement.own:
                lacks = "nothing that orders registers"
            text = f"{requirement}: {lacks} between {source} and {sink} at {where}"
            related = ((str(source), source.line),)
            yield Finding("synchronisation.ends", Severity.ERROR, text, sink.line, related=related)


@frozen
class _Passed:
    """What exists when an atom is passed `step` steps after the source's: the atom's domain, and how much earlier than
    the source it runs in each loop."""

    domain: Set
    early: tuple[int, ...]
    step: int


def lane_kind(op: Op) -> GroupKind | None:
    """The kind of group in which an op completes."""
    return op.mechanism.completes.kind if isinstance(op.mechanism.completes, Group) else None


def _ways(part: Part, requirement: Requirement, source: Op, sink: Op) -> Iterator[tuple[_Passed, ...]]:
    """What orders source before sink where all of it exists: a meeting; behind a wait for the group of the source,
    which counts the groups closed since; for registers, and for the products of a role's only warpgroup, the wait or
    the fence alone."""
    kind = lane_kind(source)
    depth = len(requirement.loops)
    if requirement.between_blocks:
        yield from _gatherings(part, requirement, source, sink)
        return
    passed = [
        (atom, step, _seen(atom, step, source, requirement))
        for atom, step in _passed(part.own(source, depth), depth, source, sink, requirement)
    ]
    nested = len(source.time.loops) > depth
    if requirement.own:
        fences = [seen for atom, _, seen in passed if _is_fence(atom, FenceKind.REGISTER)]
        waits = _waits(passed, kind, requirement, nested=nested) if kind else ()
        yield from ((seen,) for seen in fences if kind is None)
        yield from ((waited, *counted) for waited, counted in waits)
        return
    if _is_only_group(part, source):
        yield from ((waited, *counted) for waited, counted in _waits(passed, kind, requirement, nested=nested))
    crossing = fence_of(requirement) is FenceKind.PROXY
    for at, (atom, _, met) in enumerate(passed):
        if isinstance(atom.atom, Join):
            yield from _meeting(met, passed[:at], kind, requirement, nested=nested, crossing=crossing)


def _gatherings(part: Part, requirement: Requirement, source: Op, sink: Op) -> Iterator[tuple[_Passed, ...]]:
    """An arrival at the cluster's barrier behind the source, and a wait for it before the sink."""
    depth, arrived = len(requirement.loops), None
    for atom, step in _passed(part.own(source, depth), depth, source, sink, requirement):
        if isinstance(atom.atom, ClusterArrive):
            arrived = _seen(atom, step, source, requirement)
        elif isinstance(atom.atom, ClusterWait) and arrived is not None:
            yield arrived, _seen(atom, step, source, requirement)


def _not_passed(part: Part, requirement: Requirement, source: Op, sink: Op) -> Set:
    """The parts of a sum whose block does what the next one's sink needs without telling it so: a meeting behind the
    source and a release, and there an acquisition and a meeting before the sink. Of blocks that walk a work list every
    item that has the source needs the first two, every item that has the sink the others."""
    released = _joined_at(part, requirement, source, Release, behind=True)
    acquired = _joined_at(part, requirement, sink, Acquire, behind=False)
    if requirement.loops:
        return (source.domain - released) | (sink.domain - acquired)
    name = next((name for a in part.own(sink, 0) if isinstance(a.atom, Acquire) for name in a.rank.names), "")
    later = {name: var(name) + requirement.parts}
    moved = [Set((), tuple(p.substitute(later) for p in own.pieces)) for own in (sink.domain, acquired)]
    return (source.domain & moved[0]) - (released & moved[1])


def _joined_at(part: Part, requirement: Requirement, op: Op, kind: type[Acquire | Release], *, behind: bool) -> Set:
    """Where a meeting lies between an op and what passes the requirement's workspace on behind, or before, it, all of
    them in the same step."""
    around = (atom for atom in part.own(op, len(requirement.loops)) if atom.time.ahead == op.time.ahead)
    own = [atom for atom in around if (atom.time.place > op.time.place) == behind]
    found: list[System] = []
    for atom in own:
        if isinstance(atom.atom, kind) and atom.atom.workspace == requirement.buffer.array and not _is_last(atom):
            for other in own:
                near = other.time.place < atom.time.place if behind else other.time.place > atom.time.place
                if isinstance(other.atom, Join) and near:
                    found += (atom.domain & other.domain).pieces
    return Set(requirement.loops, tuple(found))


def _is_last(atom: Synchronisation) -> bool:
    return isinstance(atom.atom, Release) and atom.atom.last


_Before = list[tuple[Synchronisation, int, _Passed]]


def _meeting(
    met: _Passed, before: _Before, kind: GroupKind | None, requirement: Requirement, *, nested: bool, crossing: bool
) -> Iterator[tuple[_Passed, ...]]:
    """A meeting, what must stand before it: a wait where the source completes in a group, a fence between proxies."""
    ways: list[tuple[_Passed, ...]] = [(met,)]
    fences: list[tuple[_Passed, ...]] = [()]
    if kind is not None:
        ways = [(met, waited, *counted) for waited, counted in _waits(before, kind, requirement, nested=nested)]
    if crossing:
        fences = [(seen,) for other, _, seen in before if _is_fence(other, FenceKind.PROXY)]
    yield from ((*way, *fence) for way in ways for fence in fences)


def _is_only_group(part: Part, source: Op) -> bool:
    """Whether an op completes in groups of the only warpgroup of its role: its threads know then by themselves."""
    completes, threads = source.mechanism.completes, part.threads.get(source.role, SEVERAL).together
    collective = isinstance(completes, Group) and completes.owner is IssuedBy.WARPGROUP
    return collective and source.role in part.threads and threads.units == 1


def _is_fence(atom: Synchronisation, kind: FenceKind) -> bool:
    return isinstance(atom.atom, Fence) and atom.atom.kind is kind


def _waits(
    passed: _Before,
    kind: GroupKind | None,
    requirement: Requirement,
    *,
    nested: bool,
) -> Iterator[tuple[_Passed, tuple[_Passed, ...]]]:
    """The waits on the way that see the source's group complete, each with the closings that it counts on: the source's
    own and as many later ones as it leaves open. A nested loop closes its own groups. A wait for reads alone tells of
    nothing that was written."""
    closed: list[_Passed] = []
    written = requirement.source.kind is not EventKind.READ_DONE
    for atom, _, seen in passed:
        match atom.atom:
            case Commit(kind=own) if own is kind:
                closed.append(seen)
            case Retire(kind=own, pending=pending, reads_only=reads) if own is kind and not (reads and written):
                first = () if nested else tuple(closed[:1])
                later = closed if nested else closed[1:]
                if (nested or first) and len(later) >= pending:
                    yield seen, (*first, *later[len(later) - pending :])
            case _:
                pass


def _passed(
    atoms: tuple[Synchronisation, ...], depth: int, source: Op, sink: Op, requirement: Requirement
) -> list[tuple[Synchronisation, int]]:
    """The atoms between source and sink in the order in which they are passed, with how many steps after the source's
    step that is."""
    steps = steps_between(source, sink, requirement)
    found: list[tuple[int, int, Synchronisation]] = []
    for atom in atoms:
        place = atom.time.place[depth]
        first = 0 if place > source.time.place[depth] else 1
        last = steps if place < sink.time.place[depth] else steps - 1
        found += [(step, place, atom) for step in range(first, last + 1)]
    return [(atom, step) for step, _, atom in sorted(found, key=lambda f: f[:2])]


def _seen(atom: Synchronisation, step: int, source: Op, requirement: Requirement) -> _Passed:
    early = source.time.ahead[: len(requirement.loops)]
    return _Passed(atom.domain, tuple(own - other for own, other in zip(atom.time.ahead, early, strict=True)), step)


@lru_cache(maxsize=1 << 10)
def _left(source: Set, sink: Set, loops: tuple[str, ...], distance: int, ways: tuple[tuple[_Passed, ...], ...]) -> Set:
    """The source's indices at which both instances exist and no way orders them."""
    left = (source if source.dims == loops else source.project_onto(*loops)) & _moved(
        sink if sink.dims == loops else sink.project_onto(*loops), (0,) * len(loops), distance
    )
    for way in ways:
        if left.is_empty():
            break
        moved = [_moved(passed.domain, passed.early, passed.step) for passed in way]
        left = left - reduce(and_, moved)
    return left


def _moved(domain: Set, by: tuple[int, ...], last: int) -> Set:
    """The points x at which x + by, and `last` more in the innermost loop, is in the domain."""
    if not domain.dims:
        return domain
    values = {loop: var(loop) + shift for loop, shift in zip(domain.dims, by, strict=True)}
    values[domain.dims[-1]] = values[domain.dims[-1]] + last
    return Set(domain.dims, tuple(piece.substitute(values) for piece in domain.pieces))
