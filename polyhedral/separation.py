"""The values of one loop level cut into regions, in each of which the same items run, put in order."""

from __future__ import annotations

from collections.abc import Sequence
from operator import neg

from attrs import frozen

from polyhedral.affine import var
from polyhedral.sets import simple_hull
from polyhedral.system import UNIVERSE, System, aligned, negations


@frozen
class Candidate:
    """Items with the same conditions on the level: `rows` on it, `outer` on what is around it."""

    rows: System
    outer: System
    members: tuple[int, ...]


@frozen
class Region:
    """The part `rows` of the level, in which the items `members` may run; `outer` holds where they do."""

    rows: System
    outer: System
    members: tuple[int, ...]


def separated(candidates: Sequence[Candidate], known: System) -> list[Region]:
    """Regions of which no two meet that together hold each candidate's rows, each where it belongs."""
    regions: list[Region] = []
    for candidate in candidates:
        regions = _added(regions, candidate, known)
    return regions


def _added(regions: list[Region], candidate: Candidate, known: System) -> list[Region]:
    fragments = [candidate.rows]
    result: list[Region] = []
    for region in regions:
        if region.rows == candidate.rows and fragments == [candidate.rows]:
            result.append(_shared(region.rows, region, candidate, known))
            fragments = []
            continue
        left, remaining = [region.rows], []
        around = known & region.outer & candidate.outer
        for fragment in fragments:
            rest = [fragment]
            for part in list(left):
                if (around & part & fragment).is_empty():
                    continue
                result.append(_shared(part & fragment, region, candidate, known))
                left = [q for p in left for q in (_minus(p, fragment, known) if p is part else [p])]
                rest = [q for p in rest for q in _minus(p, part, known)]
            remaining += rest
        fragments = remaining
        result += [Region(p, region.outer, region.members) for p in left]
    return result + [Region(f, candidate.outer, candidate.members) for f in fragments]


def _shared(rows: System, region: Region, candidate: Candidate, known: System) -> Region:
    outer = region.outer if region.outer == candidate.outer else UNIVERSE
    return Region(rows.simplified(known & outer), outer, tuple(sorted(region.members + candidate.members)))


def _minus(rows: System, taken: System, known: System) -> list[System]:
    around = rows & known
    if (around & taken).is_empty():
        return [rows]
    pieces = (rows & n for n in negations(taken.gist(around)))
    return [p.simplified(known) for p in pieces if not (p & known).is_empty()]


def merged(candidates: Sequence[Candidate], level: str, known: System) -> list[Region]:
    """One region around all candidates where their common conditions bound the level, else as `separated`."""
    if len(candidates) < 2:
        return separated(candidates, known)
    hull = simple_hull(tuple(c.rows & known for c in candidates)).split_on(level)[0].simplified(known)
    lower, upper = hull.bounds(level)
    if not lower or not upper:
        return separated(candidates, known)
    return [Region(hull, UNIVERSE, tuple(sorted(m for c in candidates for m in c.members)))]


def ordered(regions: list[Region], level: str, known: System) -> list[Region]:
    """The regions so that no value of a later one is below a value of an earlier one; some may be cut for it."""
    while True:
        before = {
            (i, j): _may_precede(p, q, level, known)
            for i, p in enumerate(regions)
            for j, q in enumerate(regions)
            if i != j
        }
        clash = next(((i, j) for i, j in before if i < j and before[i, j] and before[j, i]), None)
        if clash is not None:
            regions = _cut_by_lower_bounds(regions, *clash, level, known)
            continue
        order = _topological(len(regions), before)
        if isinstance(order, list):
            return [regions[i] for i in order]
        regions = _cut_by_presence(regions, *order, level, known)


def _topological(count: int, before: dict[tuple[int, int], bool]) -> list[int] | tuple[int, int]:
    order: list[int] = []
    rest = list(range(count))
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


def _may_precede(first: Region, second: Region, level: str, known: System) -> bool:
    if _is_above(first.rows, second.rows, level):
        return False
    later = f"{level}'"
    moved = second.rows.rename({level: later})
    both = known & first.outer & second.outer & first.rows & moved
    return not (both & System.of(var(level) < var(later))).is_empty()


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
    presence = (known & other.outer & other.rows).project_out(level).gist(known)
    return _replaced(regions, i, [*_minus(region.rows, presence, known), region.rows & presence], known)


def _replaced(regions: list[Region], i: int, pieces: list[System], known: System) -> list[Region]:
    region = regions[i]
    kept = [p for p in pieces if not (p & known & region.outer).is_empty()]
    if len(kept) == 1 and kept[0] == region.rows:
        raise AssertionError(f"cutting the region {region.rows} does not order it")
    return [*regions[:i], *(Region(p, region.outer, region.members) for p in kept), *regions[i + 1 :]]
