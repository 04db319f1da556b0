"""Points that were found lately: most systems that are asked whether they have a point have one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import mul

from polyhedral.rows import Row
from polyhedral.spelling import Spelled, is_existential

_Checks = tuple[tuple[str, ...], tuple[Row, ...], tuple[Row, ...], tuple[tuple[int, Row], ...]]


class Witnesses:
    """The latest points, the most useful first. They save work and change no answer. Threads may share them: who looks
    at them looks at one tuple, which another one replaces."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.points: tuple[Mapping[str, int], ...] = ()

    def add(self, point: Mapping[str, int]) -> None:
        """Keeps a point; names that it does not have count as 0."""
        self.points = (point, *self.points[: self.most - 1])

    def find(self, systems: Sequence[Spelled]) -> Mapping[str, int] | None:
        """One of the points that is in all systems, None where none is known to be."""
        checks = []
        for system in systems:
            check = checks_of(system)
            if check is None:
                return None
            checks.append(check)
        points = self.points
        for number, point in enumerate(points):
            for check in checks:
                if not _holds(check, point):
                    break
            else:
                if number > 2:
                    self.points = (point, *points[:number], *points[number + 1 :])
                return point
        return None


def holds(system: Spelled, point: Mapping[str, int]) -> bool:
    """Whether a point is seen to be in a system: False also where an existential is more than a congruence's."""
    checks = checks_of(system)
    return checks is not None and _holds(checks, point)


def _holds(checks: _Checks, point: Mapping[str, int]) -> bool:
    names, equalities, inequalities, congruences = checks
    values = [point.get(n, 0) for n in names]
    values.append(1)
    for row in inequalities:
        if sum(map(mul, row, values)) < 0:
            return False
    for row in equalities:
        if sum(map(mul, row, values)):
            return False
    return not any(sum(map(mul, row, values)) % modulus for modulus, row in congruences)


@lru_cache(maxsize=1 << 13)
def checks_of(system: Spelled) -> _Checks | None:
    """The rows over the visible names, congruences apart; None where an existential is more than a congruence's."""
    names, equalities, inequalities = system.names, system.equalities, system.inequalities
    own = sum(map(is_existential, names))
    if not own:
        return names, equalities, inequalities, ()
    if any(any(row[:own]) for row in inequalities):
        return None
    plain: list[Row] = []
    congruences: list[tuple[int, Row]] = []
    used: set[int] = set()
    for row in equalities:
        columns = [k for k in range(own) if row[k]]
        if len(columns) > 1 or used.intersection(columns):
            return None
        used.update(columns)
        if columns:
            congruences.append((abs(row[columns[0]]), row[own:]))
        else:
            plain.append(row[own:])
    return names[own:], tuple(plain), tuple(row[own:] for row in inequalities), tuple(congruences)
