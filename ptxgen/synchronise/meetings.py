"""The fewest meetings that serve the requirements of a body, with the commits of groups and the waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from attrs import evolve, frozen

from isa.mechanisms import Group, GroupKind, Proxy
from polyhedral import Affine, Set, var
from ptxgen.order.atoms import Commit, Fence, FenceKind, Join, Retire
from ptxgen.order.intervals import interval
from ptxgen.order.nest import Body, Nest
from ptxgen.order.ops import Op, Time, time_domain
from ptxgen.order.requirement import EventKind, Requirement
from ptxgen.order.synchronisation import Synchronisation
from ptxgen.synchronise.groups import Commits, commits, lane_group
from ptxgen.tile import Covered


@frozen(eq=False)
class Arc:
    """The gaps that serve a requirement: `length` of them from gap `start` on, around the body. Gap g lies directly
    before item g. `whole` counts a gap again for each step that passes it. `position` is the source's item, and `group`
    the kind of group in which the source completes, seen by its own lane."""

    requirement: Requirement
    position: int
    start: int
    length: int
    whole: int
    group: GroupKind | None

    @property
    def crosses_proxies(self) -> bool:
        """Whether what is done in the generic proxy must be seen in the asynchronous one."""
        return self.requirement.proxies == (Proxy.GENERIC, Proxy.ASYNC)

    @property
    def reads_only(self) -> bool:
        """Whether it is enough that the source has read, and a wait tells that."""
        completes = self.requirement.source.op.mechanism.completes
        waits = isinstance(completes, Group) and completes.read_wait
        return waits and self.requirement.source.kind is EventKind.READ_DONE

    def distance_to(self, gap: int, size: int) -> int:
        """Gaps from the arc's first one to `gap`, going forward."""
        return (gap - self.start) % size

    def last_pass(self, gap: int, size: int) -> int:
        """The last time that the arc passes `gap`, in gaps counted on from gap 0 of the source's step."""
        first = self.distance_to(gap, size)
        return self.position + 1 + first + (self.whole - 1 - first) // size * size


def meetings(
    body: Body, places: Nest, ops: tuple[Op, ...], found: list[Requirement]
) -> dict[int, list[Synchronisation]]:
    """What stands at each gap of a body, in order: closings of groups, a proxy fence, waits for groups, a meeting."""
    size, cyclic = len(places.items[body]), bool(body.path)
    arcs = [_arc(requirement, places, size) for requirement in found]
    chosen = fewest_gaps({(arc.start, arc.length) for arc in arcs}, size, cyclic=cyclic)
    grouped = [arc for arc in arcs if arc.group is not None]
    closings = _fewest_closings(grouped, chosen, commits(body, places, ops, frozenset(chosen)), cyclic=cyclic)
    served: dict[int, list[Arc]] = {gap: [] for gap in chosen}
    for arc in arcs:
        if arc.group is None:
            served[min(chosen, key=lambda gap: arc.distance_to(gap, size))].append(arc)
    waits = _waits(grouped, chosen, size, closings, served)
    atoms: dict[int, list[Synchronisation]] = {}
    for gap, here in served.items():
        pending = {wait.kind: wait.pending for wait in waits.get(gap, ())}
        meeting = _meeting(body, gap, size, here, closings, pending)
        retires = [evolve(meeting, atom=wait, covers=_covered(here, wait.kind)) for wait in waits.get(gap, ())]
        fenced = tuple(dict.fromkeys(arc.requirement.covered for arc in here if arc.crosses_proxies))
        fences = [evolve(meeting, atom=Fence(FenceKind.PROXY), covers=fenced)] if fenced else []
        atoms[gap] = [*fences, *retires, meeting]
    for kind, closing in closings.items():
        waiting = [a for own in atoms.values() for a in own if isinstance(a.atom, Retire) and a.atom.kind is kind]
        retires = [a for a in waiting if isinstance(a.atom, Retire) and a.atom.pending]
        for gap in closing.gaps:
            commit = _commit(body, kind, gap, _copies(body, kind, gap, closing, places, ops), retires)
            atoms[gap] = [commit, *atoms.get(gap, ())]
    return atoms


def _fewest_closings(
    arcs: list[Arc], chosen: tuple[int, ...], closings: dict[GroupKind, Commits], *, cyclic: bool
) -> dict[GroupKind, Commits]:
    """The closings without those that no wait tells from the next one: behind each wait the same copies are done."""

    def incomplete(found: dict[GroupKind, Commits], size: int) -> dict[tuple[int, GroupKind], int]:
        waits = _waits(arcs, chosen, size, found, {gap: [] for gap in chosen})
        return {
            (gap, wait.kind): found[wait.kind].incomplete(gap, wait.pending, cyclic=cyclic)
            for gap, own in waits.items()
            for wait in own
            if wait.kind in found
        }

    for kind, own in tuple(closings.items()):
        for gap in own.gaps[:-1]:
            fewer = {**closings, kind: closings[kind].without(gap)}
            if incomplete(fewer, own.size) == incomplete(closings, own.size):
                closings = fewer
    return closings


def _waits(
    arcs: list[Arc],
    chosen: tuple[int, ...],
    size: int,
    closings: dict[GroupKind, Commits],
    served: dict[int, list[Arc]],
) -> dict[int, list[Retire]]:
    """The waits for groups at each gap, as few and as patient as the arcs allow; adds each arc to those that its gap
    serves.

    The shortest arcs choose first: the last meeting on the way, so that most groups stay open. Where an earlier choice
    lies on the way of a longer arc and leaves open no more than it may, it serves that arc too.
    """
    pending: dict[tuple[int, GroupKind], int] = {}
    for arc in sorted(arcs, key=lambda arc: arc.whole):
        assert arc.group is not None
        passed = [gap for gap in chosen if arc.distance_to(gap, size) < arc.whole]
        allowed = {gap: _pending(arc, gap, size, closings.get(arc.group)) for gap in passed}
        known = [gap for gap in passed if pending.get((gap, arc.group), allowed[gap] + 1) <= allowed[gap]]
        gap = max(known or passed, key=lambda gap: arc.last_pass(gap, size))
        pending[gap, arc.group] = min(pending.get((gap, arc.group), allowed[gap]), allowed[gap])
        served[gap].append(arc)
    found: dict[int, list[Retire]] = {}
    for (gap, kind), count in pending.items():
        own = [arc for arc in served[gap] if arc.group is kind]
        found.setdefault(gap, []).append(Retire(kind, count, all(arc.reads_only for arc in own)))
    return found


def _covered(arcs: list[Arc], kind: GroupKind) -> tuple[Covered, ...]:
    return tuple(dict.fromkeys(arc.requirement.covered for arc in arcs if arc.group is kind))


def _copies(body: Body, kind: GroupKind, gap: int, closing: Commits, places: Nest, ops: tuple[Op, ...]) -> list[Op]:
    """The copies that the commit at `gap` closes."""
    return [
        op
        for op, role, path, positions in zip(ops, places.roles, places.paths, places.positions, strict=True)
        if Body(role, path) == body and lane_group(op) is kind and closing.after(positions[len(path)]) == gap
    ]


def _commit(body: Body, kind: GroupKind, gap: int, copies: list[Op], retires: list[Synchronisation]) -> Synchronisation:
    """Closing a group at each step from the first copy to the last step that a wait counts: also when the copies have
    run out, so that a wait counts the same groups at every step. One that leaves no group open counts none."""
    times = [time_domain(op.domain, op.time.ahead) for op in copies]
    for retire in retires:
        behind = int(retire.time.place[-1] < gap)
        ahead = (*(0,) * (len(body.loops) - 1), behind) if body.loops else ()
        times.append(_moved(retire.domain, ahead, 0) if ahead else retire.domain)
    hull = Set(body.loops, tuple(dict.fromkeys(piece for time in times for piece in time.pieces))).hull()
    time = Time(body.loops, (0,) * len(body.loops), tuple(place for place, _ in body.path) + (gap,))
    return Synchronisation(body.role, Commit(kind), Set(body.loops, (hull,)), time, ())


def _pending(arc: Arc, gap: int, size: int, closing: Commits | None) -> int:
    """Groups that may stay open when the arc passes `gap` for the last time."""
    return _pending_at(arc, arc.last_pass(gap, size), closing)


def _pending_at(arc: Arc, passed: int, closing: Commits | None) -> int:
    """Groups that may stay open when the arc passes that gap: none where the copy stands in a nested loop, whose groups
    are not counted here."""
    source = arc.requirement.source.op
    if closing is None or len(source.time.loops) > len(arc.requirement.loops):
        return 0
    return closing.pending(arc.position, passed)


def _arc(requirement: Requirement, places: Nest, size: int) -> Arc:
    position = places.positions[requirement.source.number][len(requirement.loops)]
    whole = interval(requirement, places)
    group = lane_group(requirement.source.op)
    return Arc(requirement, position, (position + 1) % size, min(whole, size), whole, group)


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


def _meeting(
    body: Body,
    gap: int,
    size: int,
    arcs: list[Arc],
    closings: dict[GroupKind, Commits],
    pending: dict[GroupKind, int],
) -> Synchronisation:
    """The meeting at a gap, at the steps at which the arcs that it serves want it. Where a gap is passed several times
    on the way, one pass serves: one at which others want it as well, else the last one."""
    domains: list[Set] = []
    for arc in sorted(arcs, key=lambda arc: arc.whole):
        candidates = _times(arc, gap, size)
        if arc.group is not None:
            first = arc.position + 1 + arc.distance_to(gap, size)
            allowed = (_pending_at(arc, first + size * n, closings.get(arc.group)) for n in range(len(candidates)))
            candidates = [c for c, most in zip(candidates, allowed, strict=True) if most >= pending[arc.group]]
        if not any(_within(candidate, domains) for candidate in candidates):
            domains.append(candidates[-1])
    union = Set(body.loops, tuple(dict.fromkeys(p for d in domains for p in d.pieces)))
    time = Time(body.loops, (0,) * len(body.loops), tuple(place for place, _ in body.path) + (gap,))
    covers = tuple(dict.fromkeys(arc.requirement.covered for arc in arcs))
    domain = union.coalesced() if len(union.pieces) > 1 else union
    return Synchronisation(body.role, Join(0), domain, time, covers)


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
