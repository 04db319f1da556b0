"""Whether parts have a point in common, and one: the points that they are known to have are looked at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from operator import mul, neg

from polyhedral.certificates import Sums
from polyhedral.emptiness import Nearby, TooManyRows, glance, point_in
from polyhedral.part import NO_POINT, VISIBLE, Part, Parts, touching
from polyhedral.spelling import Rows, aligned
from polyhedral.witnesses import Witnesses, holds

_witnesses = Witnesses(24)
_IS_NO_LESS = (0).__le__


def point_of(*parts: Part) -> Mapping[str, int] | None:
    """Integers that satisfy parts which hang together, by visible name, 0 where not named; None where none do."""
    if len(parts) == 1:
        return _known_point(parts[0]) or searched(*parts)
    near = points_of(parts)
    return searched(*parts) if _failing(parts, near) else near


def have_no_point(parts: Sequence[Part]) -> bool:
    """Whether no integer point is in all of the parts."""
    if len(parts) == 1:
        return not _known_point(parts[0]) and searched(*parts) is None
    failing = _failing(parts, points_of(parts))
    while failing:
        group = _around(failing[0], parts)
        if searched(*group) is None:
            return True
        failing = [p for p in failing if p not in group]
    return False


def _known_point(one: Part) -> Mapping[str, int]:
    """The point that is known of a part, or the one near which others were found where it is one of it."""
    if not one.found and one.near:
        one.found = _holds(one, one.near)
    return one.near if one.found else NO_POINT


def is_seen_outside(condition: Parts, parts: Parts) -> bool:
    """Whether the points that are known of the parts of a system show that a condition does not hold all over it."""
    point = points_of(parts)
    return any(not p.own for p in _failing(condition, point)) and not _failing(parts, point)


def points_of(parts: Sequence[Part]) -> Mapping[str, int]:
    """The points known of the parts as one; where two say other values of a name the later one counts."""
    if len(parts) == 1:
        return parts[0].near
    near: dict[str, int] = {}
    for one in parts:
        near.update(one.near)
    return near


def _failing(parts: Sequence[Part], point: Mapping[str, int]) -> list[Part]:
    """The parts that do not hold at a point."""
    given = point.items()
    return [p for p in parts if not (p.found and p.near.items() <= given) and not _holds(p, point)]


def _holds(one: Part, point: Mapping[str, int]) -> bool:
    if one.own or one.equalities:
        return holds(one, point)
    at = (*map(point.get, one.names, repeat(0)), 1)
    return all(map(_IS_NO_LESS, map(sum, map(map, repeat(mul), one.inequalities, repeat(at)))))


def _around(one: Part, parts: Sequence[Part]) -> Parts:
    """The parts that hang together with one of them, in their order."""
    group: Parts = (one,)
    while True:
        names = one.visible.union(*map(VISIBLE, group))
        wider = touching(parts, names) or group
        if len(wider) in (len(group), len(parts)):
            return wider
        group = wider


@lru_cache(maxsize=1 << 15)
def searched(*parts: Part) -> Mapping[str, int] | None:
    """As `point_of`, where the points that the parts are known to have are no answer."""
    names, rows = aligned(*parts)
    equalities, inequalities = together(rows)
    seen = glance(equalities, inequalities, len(names), Nearby(at(points_of(parts), names)))
    if seen.is_empty:
        return None
    point = seen.point
    if point is None:
        if len(parts) > 1 and _is_contradicted(rows, len(names)):
            return None
        found = _witnesses.find(parts) if len(parts) > 1 else None
        if found is not None:
            return found
        point = _point_in((equalities, inequalities), names)
        if point is None:
            return None
        _witnesses.add(_named(names, point))
    values = _named(names, point)
    for one in parts:
        one.near, one.found = values, True
    return values


def _is_contradicted(rows: Sequence[Rows], width: int) -> bool:
    """Whether a sum of rows of the other parts says that the last one that is a single condition does not hold."""
    place = next((k for k in range(len(rows) - 1, -1, -1) if sum(map(len, rows[k])) == 1), None)
    if place is None:
        return False
    others = Sums(*together([*rows[:place], *rows[place + 1 :]]), width)
    equalities, inequalities = rows[place]
    (row,) = equalities or inequalities
    opposite = (*map(neg, row[:-1]), -row[-1] - 1)
    return others.give(opposite) or (bool(equalities) and others.give((*row[:-1], row[-1] - 1)))


def first_point_of(one: Part) -> Mapping[str, int] | None:
    """A point of a part as `point_of`, the same one whatever was asked before."""
    point = _point_in((one.equalities, one.inequalities), one.names)
    return None if point is None else _named(one.names, point)


def _point_in(rows: Rows, names: tuple[str, ...]) -> tuple[int, ...] | None:
    try:
        return point_in(*rows, len(names))
    except TooManyRows as refused:
        visible = ", ".join([n for n in names if n[0] != "$"])
        raise TooManyRows(f"{refused}. The variables are {visible or 'all existential'}") from None


def _named(names: tuple[str, ...], point: Sequence[int]) -> dict[str, int]:
    return {n: v for n, v in zip(names, point, strict=True) if n[0] != "$"}


def at(point: Mapping[str, int], names: tuple[str, ...]) -> tuple[int, ...]:
    """The values of these names at a point."""
    return tuple(map(point.get, names, repeat(0)))


def together(rows: Sequence[Rows]) -> Rows:
    """Rows over the same names as one conjunction."""
    if len(rows) == 1:
        return rows[0]
    equalities, inequalities = zip(*rows, strict=True) if rows else ((), ())
    return tuple(chain.from_iterable(equalities)), tuple(chain.from_iterable(inequalities))
