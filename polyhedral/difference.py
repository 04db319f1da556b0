"""Negation and difference of systems, exact over the integers."""

from __future__ import annotations

from functools import lru_cache
from operator import neg

from polyhedral.emptiness import integer_point
from polyhedral.quotients import Determined, determined
from polyhedral.rows import Row
from polyhedral.spelling import dense
from polyhedral.system import UNIVERSE, System, disjoint, make


def negations(system: System) -> tuple[System, ...]:
    """Systems, no two of which meet, whose union is where `system` does not hold. Exact."""
    if len(system.parts) == 1:
        (one,) = system.parts
        if not one.own and not one.equalities and len(one.inequalities) == 1:
            (row,) = one.inequalities
            return (make(one.names, (), ((*[-c for c in row[:-1]], -row[-1] - 1),)),) if one.names else (UNIVERSE,)
    return outside(UNIVERSE, system)


@lru_cache(maxsize=1 << 13)
def outside(system: System, taken: System) -> tuple[System, ...]:
    """Systems, no two of which meet, whose union is the part of `system` where `taken` does not hold. Exact."""
    result: tuple[System, ...] = (system,)
    for part in determined(taken):
        if not disjoint(system, part.system):
            own = _negations(part)
            result = tuple(r & n for r in result for n in own if not disjoint(r, n))
    return result


@lru_cache(maxsize=1 << 13)
def _negations(part: Determined) -> tuple[System, ...]:
    system = part.system
    width = len(system.names)
    conditions = [(r, True) for r in system.equalities] + [(r, False) for r in system.inequalities]
    found: list[System] = []
    equal: list[Row] = []
    unequal: list[Row] = _definitions(part)
    for row, equality in conditions:
        opposite = (*tuple(map(neg, row[:-1])), -row[-1] - 1)
        for negated in [opposite] + ([(*row[:-1], row[-1] - 1)] if equality else []):
            if integer_point(equal, [*unequal, negated], width) is not None:
                found.append(make(system.names, equal, [*unequal, negated]))
        (equal if equality else unequal).append(row)
    return tuple(found)


def _definitions(part: Determined) -> list[Row]:
    index = {n: i for i, n in enumerate(part.system.names)}
    rows = []
    for name, quotient in part.quotients:
        row = list(dense(quotient.affine, index))
        row[index[name]] -= quotient.divisor
        rows.append(tuple(row))
        rows.append((*tuple(-c for c in row[:-1]), quotient.divisor - 1 - row[-1]))
    return rows


@lru_cache(maxsize=1 << 12)
def difference(piece: System, taken: System) -> tuple[System, ...]:
    """Systems, no two of which meet, whose union is what of `piece` is not in `taken`. Exact."""
    if disjoint(piece, taken):
        return (piece,)
    return outside(piece, taken.gist(piece))
