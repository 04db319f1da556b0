"""Synchronisation placed: the fewest meetings of each body that serve every requirement between the threads of a role,
and the commits and waits for what completes in groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from attrs import evolve, frozen

from isa.mechanisms import AtIssue, GroupKind
from polyhedral import Affine, Set, System, var
from ptxgen.derive.atoms import Commit, Fence, FenceKind, Join, Retire
from ptxgen.derive.groups import Commits, commits, lane_group
from ptxgen.derive.nest import Body, Nest, nest
from ptxgen.derive.ops import Op, Time, time_domain
from ptxgen.derive.requirements import Requirement, check_order, interval
from ptxgen.derive.rings import between_roles, landing, ring_atoms, rings
from ptxgen.derive.synchronisation import Synchronisation, Synchronised
from ptxgen.errors import UnsupportedError
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

    def distance_to(self, gap: int, size: int) -> int:
        """Gaps from the arc's first one to `gap`, going forward."""
        return (gap - self.start) % size

    def last_pass(self, gap: int, size: int) -> int:
        """The last time that the arc passes `gap`, in gaps counted on from gap 0 of the source's step."""
        first = self.distance_to(gap, size)
        return self.position + 1 + first + (self.whole - 1 - first) // size * size


def discharge(ops: tuple[Op, ...], requirements: Iterable[Requirement]) -> Synchronised:
    """The fewest meetings that serve `requirements`, the commits and waits of copies that complete in groups, and the
    ops with places renumbered to make room for them.

    A requirement is served in the body where its ends part, since a nested loop may run no step at all. Of equally few
    gaps, those directly before a sink are taken. Each meeting exists where a requirement that it covers does. What a
    lane's group delivers is awaited by the lane directly before the last meeting on the way to the sink, with as many
    groups left open as were closed since. Raises PlanError where a shift or a depth leaves no gap, UnsupportedError
    where neither discharges it.
    """
    places = nest(ops)
    bodies: dict[Body, list[Requirement]] = {
        Body(op.role, path): [] for op, path in zip(ops, places.paths, strict=True) if lane_group(op) is not None
    }
    served: dict[Body, list[Requirement]] = {}
    across: list[Requirement] = []
    for requirement in requirements:
        if between_roles(requirement):
            across.append(requirement)
            continue
        check_order(requirement, places)
        number, depth = requirement.source.number, len(requirement.loops)
        body = Body(requirement.source.op.role, places.paths[number][:depth])
        (served if requirement.own else bodies).setdefault(body, []).append(requirement)
    for requirement in (r for found in bodies.values() for r in found):
        _check_served_by_meeting(requirement)
    atoms = {body: _atoms(body, places, ops, found) for body, found in bodies.items()}
    for body, found in served.items():
        _add(atoms, body, _in_registers(body, places, found))
    uses = rings(ops, across)
    for use in uses:
        for part in ring_atoms(use, ops, places):
            _add(atoms, part.body, {part.gap: list(part.atoms)})
    return evolve(_renumbered(landing(ops, uses), places, atoms), rings=uses)


def _add(
    atoms: dict[Body, dict[int, list[Synchronisation]]], body: Body, more: dict[int, list[Synchronisation]]
) -> None:
    own = atoms.setdefault(body, {})
    for gap, found in more.items():
        own.setdefault(gap, []).extend(found)


def _in_registers(body: Body, places: Nest, found: list[Requirement]) -> dict[int, list[Synchronisation]]:
    """What orders registers with products in flight: a fence directly before the product that reads what others wrote,
    a wait for all products directly behind the item that issued them."""
    fences: dict[int, list[Requirement]] = {}
    waits: dict[int, list[Requirement]] = {}
    for requirement in found:
        depth = len(requirement.loops)
        if isinstance(requirement.source.op.mechanism.completes, AtIssue):
            fences.setdefault(places.positions[requirement.sink.number][depth], []).append(requirement)
        else:
            waits.setdefault(places.positions[requirement.source.number][depth] + 1, []).append(requirement)
    fence, wait = Fence(FenceKind.REGISTER), Retire(GroupKind.WGMMA, 0)
    atoms = {gap: [_of_all(body, wait, own)] for gap, own in waits.items()}
    for gap, own in fences.items():
        atoms.setdefault(gap, []).append(_of_all(body, fence, own))
    return atoms


def _of_all(body: Body, atom: Fence | Retire, found: list[Requirement]) -> Synchronisation:
    """A fence at every step at which registers are written, a wait at every step at which sums are used: also where no
    product lies between, so that no path goes around it."""
    loops = body.loops
    pieces: list[System] = []
    for requirement in found:
        end = requirement.source.op if isinstance(atom, Fence) else requirement.sink.op
        whole = end.domain if end.domain.dims == loops else end.domain.project_onto(*loops)
        pieces += (time_domain(whole, end.time.ahead[: len(loops)]) if loops else whole).pieces
    domain = Set(loops, tuple(dict.fromkeys(pieces)))
    time = Time(loops, (0,) * len(loops), ())
    return Synchronisation(body.role, atom, domain, time, tuple(dict.fromkeys(r.covered for r in found)))


def _check_served_by_meeting(requirement: Requirement) -> None:
    source = requirement.source.op
    if not isinstance(source.mechanism.completes, AtIssue) and lane_group(source) is None:
        raise UnsupportedError(
            f"{requirement}: {source} ({source.line}) completes asynchronously ({source.mechanism.completes}); what is "
            f"complete when issued, or in a group of its own lane, is synchronised"
        )


def _atoms(body: Body, places: Nest, ops: tuple[Op, ...], found: list[Requirement]) -> dict[int, list[Synchronisation]]:
    """What stands at each gap of a body, in order: the closing of groups, waits for groups, a meeting."""
    size, cyclic = len(places.items[body]), bool(body.path)
    arcs = [_arc(requirement, places, size) for requirement in found]
    chosen = fewest_gaps({(arc.start, arc.length) for arc in arcs}, size, cyclic=cyclic)
    closings = commits(body, places, ops, frozenset(chosen))
    served: dict[int, list[Arc]] = {gap: [] for gap in chosen}
    for arc in arcs:
        if arc.group is None:
            served[min(chosen, key=lambda gap: arc.distance_to(gap, size))].append(arc)
    waits = _waits([arc for arc in arcs if arc.group is not None], chosen, size, closings, served)
    atoms: dict[int, list[Synchronisation]] = {}
    for gap, here in served.items():
        pending = {wait.kind: wait.pending for wait in waits.get(gap, ())}
        meeting = _meeting(body, gap, size, here, closings, pending)
        retires = [evolve(meeting, atom=wait, covers=_covered(here, wait.kind)) for wait in waits.get(gap, ())]
        atoms[gap] = [*retires, meeting]
    for kind, closing in closings.items():
        retires = [a for own in atoms.values() for a in own if isinstance(a.atom, Retire) and a.atom.kind is kind]
        for gap in closing.gaps:
            commit = _commit(body, kind, gap, _copies(body, kind, gap, closing, places, ops), retires)
            atoms[gap] = [commit, *atoms.get(gap, ())]
    return atoms


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
        found.setdefault(gap, []).append(Retire(kind, count))
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
    run out, so that a wait counts the same groups at every step."""
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


def _renumbered(ops: tuple[Op, ...], places: Nest, atoms: dict[Body, dict[int, list[Synchronisation]]]) -> Synchronised:
    numbers: dict[Body, dict[int, int]] = {}
    for body, items in places.items.items():
        taken = atoms.get(body, {})
        numbers[body] = {p: p + sum(len(own) for gap, own in taken.items() if gap <= p) for p in range(len(items) + 1)}

    def place(role: str, path: Sequence[tuple[int, str]], positions: Sequence[int]) -> tuple[int, ...]:
        bodies = (Body(role, tuple(path[:depth])) for depth in range(len(positions)))
        return tuple(numbers[body][position] for body, position in zip(bodies, positions, strict=True))

    moved = tuple(
        evolve(op, time=evolve(op.time, place=place(op.role, path, positions)))
        for op, path, positions in zip(ops, places.paths, places.positions, strict=True)
    )
    found: list[Synchronisation] = []
    for body, taken in atoms.items():
        around = place(body.role, body.path, _positions_of(body, places))
        for gap in sorted(taken):
            first = numbers[body][gap] - len(taken[gap])
            for number, atom in enumerate(taken[gap]):
                inner = (0,) * (len(atom.time.loops) - len(body.loops))
                found.append(evolve(atom, time=evolve(atom.time, place=(*around, first + number, *inner))))
    return Synchronised(moved, tuple(found))


def _positions_of(body: Body, places: Nest) -> tuple[int, ...]:
    depth = len(body.path)
    return next(
        positions[:depth]
        for role, path, positions in zip(places.roles, places.paths, places.positions, strict=True)
        if role == body.role and path[:depth] == body.path
    )
