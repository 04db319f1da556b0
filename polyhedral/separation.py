"""The values of one loop level cut into regions, in each of which the same items run, put in order."""

from __future__ import annotations

from collections.abc import Sequence
from operator import neg

from attrs import evolve, frozen

from polyhedral.affine import var
from polyhedral.coalescing import simple_hull
from polyhedral.difference import negations
from polyhedral.spelling import aligned
from polyhedral.system import UNIVERSE, System, disjoint


@frozen
class Candidate:
    """Items with the same conditions on the level: `rows` on it, `outer` on what is around it."""

    rows: System
    outer: System
    members: tuple[int, ...]


@frozen
class Region:
    """The part `rows` of the level, in which the items `members` may run; each runs where one of `outers` holds."""

    rows: System
    outers: tuple[System, ...]
    members: tuple[int, ...]

    @property
    def outer(self) -> System:
        """What holds around the region wherever any of its items runs."""
        return self.outers[0] if len(self.outers) == 1 else UNIVERSE

    def runs(self, known: System) -> bool:
        """Whether any of its items may run in it."""
        return any(not disjoint(known, outer, self.rows) for outer in self.outers)


def separated(candidates: Sequence[Candidate], known: System) -> list[Region]:
    """Regions that together hold each candidate's rows, such that no two in which items may run at once meet."""
    regions: list[Region] = []
    for group in _meeting(candidates, known):
        own: list[Region] = []
        for candidate in group:
            own = _added(own, candidate, known)
        regions += own
    return regions


def _meeting(candidates: Sequence[Candidate], known: System) -> list[list[Candidate]]:
    groups: list[list[Candidate]] = []
    for candidate in candidates:
        around = (known, candidate.outer, candidate.rows)
        meets = [g for g in groups if any(not disjoint(*around, c.outer, c.rows) for c in g)]
        apart = [g for g in groups if g not in meets]
        groups = [*apart, [*(c for g in meets for c in g), candidate]]
    return groups


def _added(regions: list[Region], candidate: Candidate, known: System) -> list[Region]:
    fragments = [candidate.rows]
    result: list[Region] = []
    for region in regions:
        if region.rows == candidate.rows and fragments == [candidate.rows]:
            result.append(_shared(region.rows, region, candidate, known))
            fragments = []
            continue
        left, remaining = [region.rows], []
        for fragment in fragments:
            rest = [fragment]
            for part in list(left):
                if disjoint(known, part, fragment):
                    continue
                result.append(_shared(part & fragment, region, candidate, known))
                left = [q for p in left for q in (_minus(p, fragment, known) if p is part else [p])]
                rest = [q for p in rest for q in _minus(p, part, known)]
            remaining += rest
        fragments = remaining
        result += [Region(p, region.outers, region.members) for p in left]
    found = result + [Region(f, (candidate.outer,), candidate.members) for f in fragments]
    return [r for r in found if r.runs(known)]


def _shared(rows: System, region: Region, candidate: Candidate, known: System) -> Region:
    outers = tuple(dict.fromkeys((*region.outers, candidate.outer)))
    known = known & outers[0] if len(outers) == 1 else known
    return Region(rows.simplified(known), outers, tuple(sorted(region.members + candidate.members)))


def _minus(rows: System, taken: System, known: System) -> list[System]:
    around = rows & known
    if disjoint(around, taken):
        return [rows]
    pieces = (rows & n for n in negations(taken.gist(around)))
    return [left for p in pieces if not (left := p.simplified(known)).is_false]


def merged(candidates: Sequence[Candidate], level: str, known: System) -> list[Region]:
    """One region around all candidates where their common conditions bound the level, else as `separated`."""
    if len(candidates) < 2:
        return separated(candidates, known)
    hull = simple_hull(tuple(c.rows & known for c in candidates)).split_on(level)[0].simplified(known)
    lower, upper = hull.bounds(level)
    if not lower or not upper:
        return separated(candidates, known)
    outers = tuple(dict.fromkeys(c.outer for c in candidates))
    return [Region(hull, outers, tuple(sorted(m for c in candidates for m in c.members)))]


def ordered(regions: list[Region], level: str, known: System) -> list[Region]:
    """The regions so that no value of a later one is below a value of an earlier one; some may be cut for it."""
    before = _precedences(regions, level, known, quick=True)
    is_told = all(before[i, j] or before[j, i] for i, j in before)
    start = list(range(len(regions))) if is_told else _by_first_value(regions, level, known)
    order = _topological(start, before)
    while not isinstance(order, list):
        before = _precedences(regions, level, known, quick=False)
        clash = next(((i, j) for i, j in before if i < j and before[i, j] and before[j, i]), None)
        start = _by_first_value(regions, level, known)
        order = clash or _topological(start, before)
        if clash is not None:
            regions = _cut_by_lower_bounds(regions, *clash, level, known)
        elif not isinstance(order, list):
            regions = _cut_by_presence(regions, *order, level, known)
    return [regions[i] for i in order]


def _precedences(regions: list[Region], level: str, known: System, quick: bool) -> dict[tuple[int, int], bool]:
    """For each two regions whether the first may have a value below one of the second around the same outside.

    With `quick` a pair whose bounds alone put the second above the first counts as such, though the
    two may never be there at once; then an order that is found holds, but none may be found.
    """
    return {
        (i, j): _may_precede(p, q, level, known, quick)
        for i, p in enumerate(regions)
        for j, q in enumerate(regions)
        if i != j
    }


def _by_first_value(regions: list[Region], level: str, known: System) -> list[int]:
    values = [(known & r.outer & r.rows).sample() or {} for r in regions]
    return sorted(range(len(regions)), key=lambda i: (values[i].get(level, 0), i))


def _topological(rest: list[int], before: dict[tuple[int, int], bool]) -> list[int] | tuple[int, int]:
    order: list[int] = []
    while rest:
        first = next((j for j in rest if not any(before[i, j] for i in rest if i != j)), None)
        if first is None:
            return _pair_on_cycle(rest, before)
        order.append(first)
        rest.remove(first)
    return order


def _pair_on_cycle(rest: list[int], before: dict[tuple[int, int], bool]) -> tuple[int, int]:
    path = [rest[0]]
    while True:
        previous = next(i for i in rest if i != path[-1] and before[i, path[-1]])
        if previous in path:
            return path[-1], previous
        path.append(previous)


def _may_precede(first: Region, second: Region, level: str, known: System, quick: bool) -> bool:
    if _is_above(first.rows, second.rows, level):
        return False
    if quick and _is_above(second.rows, first.rows, level):
        return True
    later = f"{level}'"
    moved = second.rows.rename({level: later})
    both = (known, first.rows, moved, System.of(var(level) < var(later)))
    if disjoint(*both):
        return False
    return any(not disjoint(*both, one, other) for one in first.outers for other in second.outers)


def _is_above(first: System, second: System, level: str) -> bool:
    if level not in first.names or level not in second.names:
        return False
    names, ((_, lower), (_, upper)) = aligned(first, second)
    column = names.index(level)
    bounds = {r[:-1]: r[-1] for r in upper if r[column] < 0}
    for row in lower:
        if row[column] > 0:
            constant = bounds.get(tuple(map(neg, row[:-1])))
            if constant is not None and constant + row[-1] < 0:
                return True
    return False


def _cut_by_lower_bounds(regions: list[Region], i: int, j: int, level: str, known: System) -> list[Region]:
    region, other = regions[i], regions[j]
    lower = System.of(*(var(level) * d >= a for a, d in other.rows.bounds(level)[0]))
    return _replaced(regions, i, [*_minus(region.rows, lower, known), (region.rows & lower).simplified(known)], known)


def _cut_by_presence(regions: list[Region], i: int, j: int, level: str, known: System) -> list[Region]:
    region, other = regions[i], regions[j]
    presence = (known & other.rows).project_out(level).gist(known)
    return _replaced(regions, i, [*_minus(region.rows, presence, known), region.rows & presence], known)


def _replaced(regions: list[Region], i: int, pieces: list[System], known: System) -> list[Region]:
    region = regions[i]
    kept = [r for p in pieces if (r := evolve(region, rows=p)).runs(known)]
    if len(kept) == 1 and kept[0].rows == region.rows:
        raise AssertionError(f"cutting the region {region.rows} does not order it")
    return [*regions[:i], *kept, *regions[i + 1 :]]


def pinned(region: Region, level: str, known: System) -> Region:
    """The region with its level said to be one value, where nothing else is left between two of its bounds."""
    lower, upper = region.rows.bounds(level)
    ends = [(a, var(level) < a) for a, d in upper if d == 1] + [(a, var(level) > a) for a, d in lower if d == 1]
    for affine, beyond in ends:
        if disjoint(known, region.outer, region.rows, System.of(beyond)):
            rows = region.rows & System.of(var(level).equals(affine))
            return evolve(region, rows=rows)
    return region
