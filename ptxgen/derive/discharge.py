"""Meetings: the fewest places of each body where the threads of a role wait for each other so that every requirement
between them holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from attrs import evolve, frozen

from isa.mechanisms import AtIssue
from polyhedral import Affine, Set, var
from ptxgen.derive.nest import Body, Nest, nest
from ptxgen.derive.ops import Op, Time
from ptxgen.derive.requirements import Requirement, check_order, interval
from ptxgen.errors import UnsupportedError
from ptxgen.tile import Covered


@frozen(eq=False)
class Meeting:
    """All threads of `role` meet, once for each point of `domain`, a set over `time.loops`."""

    role: str
    domain: Set
    time: Time
    covers: tuple[Covered, ...]

    def __str__(self) -> str:
        return f"meet for {'; '.join(map(str, self.covers))}"


@frozen(eq=False)
class Synchronised:
    """Ops and meetings on one scale of places: no two of them stand at the same place of a body."""

    ops: tuple[Op, ...]
    meetings: tuple[Meeting, ...]


@frozen(eq=False)
class Arc:
    """The gaps that serve a requirement: `length` of them from gap `start` on, around the body. Gap g lies directly
    before item g. `whole` counts a gap again for each step that passes it."""

    requirement: Requirement
    start: int
    length: int
    whole: int

    def distance_to(self, gap: int, size: int) -> int:
        """Gaps from the arc's first one to `gap`, going forward."""
        return (gap - self.start) % size


def discharge(ops: tuple[Op, ...], requirements: Iterable[Requirement]) -> Synchronised:
    """The fewest meetings that serve `requirements`, and the ops with places renumbered to make room for them.

    A requirement is served in the body where its ends part, since a nested loop may run no step at all. Of equally few
    gaps, those directly before a sink are taken. Each meeting exists where a requirement that it covers does. Raises
    PlanError where a shift or a depth leaves no gap, UnsupportedError where a meeting alone does not discharge it.
    """
    places = nest(ops)
    bodies: dict[Body, list[Requirement]] = {}
    for requirement in requirements:
        _check_served_by_meeting(requirement)
        check_order(requirement, places)
        number, depth = requirement.source.number, len(requirement.loops)
        bodies.setdefault(Body(requirement.source.op.role, places.paths[number][:depth]), []).append(requirement)
    gaps = {body: _meetings(body, places, found) for body, found in bodies.items()}
    return _renumbered(ops, places, gaps)


def _check_served_by_meeting(requirement: Requirement) -> None:
    source, sink = requirement.source.op, requirement.sink.op
    if source.role != sink.role:
        raise UnsupportedError(
            f"{requirement}: {source} ({source.line}) belongs to the role {source.role} and {sink} ({sink.line}) to "
            f"the role {sink.role}; only ops of one role are synchronised"
        )
    for op in (source, sink):
        if not isinstance(op.mechanism.completes, AtIssue):
            raise UnsupportedError(
                f"{requirement}: {op} ({op.line}) completes asynchronously ({op.mechanism.completes}); only what is "
                f"complete when issued is synchronised"
            )


def _meetings(body: Body, places: Nest, found: list[Requirement]) -> dict[int, Meeting]:
    size, cyclic = len(places.items[body]), bool(body.path)
    arcs = [_arc(requirement, places, size) for requirement in found]
    chosen = fewest_gaps({(arc.start, arc.length) for arc in arcs}, size, cyclic=cyclic)
    served: dict[int, list[Arc]] = {gap: [] for gap in chosen}
    for arc in arcs:
        served[min(chosen, key=lambda gap: arc.distance_to(gap, size))].append(arc)
    return {gap: _meeting(body, gap, size, arcs) for gap, arcs in served.items()}


def _arc(requirement: Requirement, places: Nest, size: int) -> Arc:
    position = places.positions[requirement.source.number][len(requirement.loops)]
    whole = interval(requirement, places)
    return Arc(requirement, (position + 1) % size, min(whole, size), whole)


def fewest_gaps(arcs: set[tuple[int, int]], size: int, *, cyclic: bool) -> tuple[int, ...]:
    """The least number of gaps of 0 .. size-1 of which every arc (first gap, length) has one, in ascending order.

    Around a loop one gap of the shortest arc must be taken: each is tried, the last one first, and the rest is a line
    on which the end of the arc that ends first is always a best choice. Without a loop there is only the line.
    """
    if not arcs:
        return ()
    if not cyclic:
        return tuple(sorted(_on_a_line([(start, start + length - 1) for start, length in arcs])))
    start, length = min(arcs, key=lambda arc: (arc[1], arc[0]))
    best: list[int] = []
    for step in reversed(range(length)):
        first = (start + step) % size
        rest = [((s - first) % size, n) for s, n in arcs if (first - s) % size >= n]
        gaps = [first, *((gap + first) % size for gap in _on_a_line([(s, s + n - 1) for s, n in rest]))]
        if not best or len(gaps) < len(best):
            best = gaps
    return tuple(sorted(best))


def _on_a_line(intervals: Sequence[tuple[int, int]]) -> list[int]:
    chosen: list[int] = []
    for low, high in sorted(intervals, key=lambda interval: interval[1]):
        if not chosen or chosen[-1] < low:
            chosen.append(high)
    return chosen


def _meeting(body: Body, gap: int, size: int, arcs: list[Arc]) -> Meeting:
    domains: list[Set] = []
    for arc in sorted(arcs, key=lambda arc: arc.length):
        candidates = _times(arc, gap, size)
        if not any(_within(candidate, domains) for candidate in candidates):
            domains.append(candidates[-1])
    union = Set(body.loops, tuple(dict.fromkeys(p for d in domains for p in d.pieces)))
    time = Time(body.loops, (0,) * len(body.loops), tuple(place for place, _ in body.path) + (gap,))
    covers = tuple(dict.fromkeys(arc.requirement.covered for arc in arcs))
    return Meeting(body.role, union.coalesced() if len(union.pieces) > 1 else union, time, covers)


def _within(candidate: Set, domains: list[Set]) -> bool:
    return any(candidate == d or candidate.is_subset(d) for d in domains)


def _times(arc: Arc, gap: int, size: int) -> list[Set]:
    """When the gap is passed between source and sink, one set over the body's loops for each time that it is."""
    requirement, first = arc.requirement, arc.distance_to(gap, size)
    ahead, loops = requirement.source.op.time.ahead, requirement.loops
    whole = instances(requirement)
    if not loops:
        return [whole]
    wrapped = int(arc.start == 0 or arc.start + first >= size)
    again = (arc.whole - 1 - first) // size
    return [_moved(whole, ahead[: len(loops)], wrapped + later) for later in range(again + 1)]


@lru_cache(maxsize=1 << 10)
def _moved(domain: Set, ahead: tuple[int, ...], later: int) -> Set:
    """The times of a domain's indices: `ahead` steps early in each loop, `later` steps late in the innermost one."""
    shift: dict[str, Affine | int] = {loop: var(loop) + early for loop, early in zip(domain.dims, ahead, strict=True)}
    shift[domain.dims[-1]] = var(domain.dims[-1]) + (ahead[-1] - later)
    return Set(domain.dims, tuple(piece.substitute(shift) for piece in domain.pieces))


def instances(requirement: Requirement) -> Set:
    """The indices of `requirement.loops` at which source and sink both have an instance, at the source."""
    source, sink = requirement.source.op.domain, requirement.sink.op.domain
    return _instances(source, sink, requirement.loops, requirement.distance)


@lru_cache(maxsize=1 << 10)
def _instances(first: Set, second: Set, loops: tuple[str, ...], distance: int) -> Set:
    source, sink = (d if d.dims == loops else d.project_onto(*loops) for d in (first, second))
    if loops and distance:
        later = {loops[-1]: var(loops[-1]) + distance}
        sink = Set(loops, tuple(p.substitute(later) for p in sink.pieces))
    return source if source == sink else source & sink


def _renumbered(ops: tuple[Op, ...], places: Nest, gaps: dict[Body, dict[int, Meeting]]) -> Synchronised:
    numbers: dict[Body, dict[int, int]] = {}
    for body, items in places.items.items():
        taken = gaps.get(body, {})
        numbers[body] = {p: p + sum(gap <= p for gap in taken) for p in range(len(items))}

    def place(role: str, path: Sequence[tuple[int, str]], positions: Sequence[int]) -> tuple[int, ...]:
        bodies = (Body(role, tuple(path[:depth])) for depth in range(len(positions)))
        return tuple(numbers[body][position] for body, position in zip(bodies, positions, strict=True))

    moved = tuple(
        evolve(op, time=evolve(op.time, place=place(op.role, path, positions)))
        for op, path, positions in zip(ops, places.paths, places.positions, strict=True)
    )
    meetings: list[Meeting] = []
    for body, taken in gaps.items():
        around = place(body.role, body.path, _positions_of(body, places))
        for gap in sorted(taken):
            time = evolve(taken[gap].time, place=(*around, numbers[body][gap] - 1))
            meetings.append(evolve(taken[gap], time=time))
    return Synchronised(moved, tuple(meetings))


def _positions_of(body: Body, places: Nest) -> tuple[int, ...]:
    depth = len(body.path)
    return next(
        positions[:depth]
        for role, path, positions in zip(places.roles, places.paths, places.positions, strict=True)
        if role == body.role and path[:depth] == body.path
    )
