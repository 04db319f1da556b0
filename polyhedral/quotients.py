"""Existentials written as quotients: systems that can be negated, and quotients made visible."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from operator import neg

from attrs import frozen

from polyhedral.affine import Affine, FloorDiv
from polyhedral.emptiness import integer_point
from polyhedral.fourier_motzkin import dark_row, splinters, split
from polyhedral.rows import Row
from polyhedral.spelling import in_order
from polyhedral.system import System, make


@frozen
class Determined:
    """A system each of whose existentials is a quotient of visible variables and of quotients before it."""

    system: System
    quotients: tuple[tuple[str, FloorDiv], ...]


@lru_cache(maxsize=1 << 12)
def determined(system: System) -> tuple[Determined, ...]:
    """Systems whose union is `system`, each with its existentials written as quotients. Exact."""
    if not system.exists:
        return (Determined(system, ()),)
    known: list[tuple[str, FloorDiv]] = []
    open_names = list(system.exists)
    while open_names:
        for find, name in product((_quotient, _implied_quotient), open_names):
            quotient = find(system, name, open_names)
            if quotient is not None:
                known.append((name, quotient))
                open_names.remove(name)
                break
        else:
            plain = system.simplified()
            fewer = len(plain.inequalities) < len(system.inequalities)
            return determined(plain) if fewer else _determined_union(_parts(system, open_names))
    return (Determined(system, tuple(known)),)


def _quotient(system: System, name: str, unknown: list[str]) -> FloorDiv | None:
    column = system.names.index(name)
    others = [i for i, n in enumerate(system.names) if n in unknown and n != name]
    for row in system.equalities:
        if row[column] and not any(row[i] for i in others):
            sign = -1 if row[column] > 0 else 1
            return FloorDiv(system.affine(row).substitute({name: 0}) * sign, abs(row[column]))
    bounds = [r for r in system.inequalities if r[column] and not any(r[i] for i in others)]
    upper = {r[:-1]: r[-1] for r in bounds if r[column] < 0}
    for row in bounds:
        constant = upper.get(tuple(map(neg, row[:-1])))
        if constant is not None and row[-1] + constant < row[column]:
            return _rounded(system, row, column)
    return None


def _implied_quotient(system: System, name: str, unknown: list[str]) -> FloorDiv | None:
    """What `name` is where its bounds leave one value for it, though no two of them say so."""
    column = system.names.index(name)
    others = [i for i, n in enumerate(system.names) if n in unknown and n != name]
    for row in system.inequalities:
        if row[column] and not any(row[i] for i in others):
            beyond = (*row[:-1], row[-1] - abs(row[column]))
            if integer_point(system.equalities, [*system.inequalities, beyond], len(system.names)) is None:
                return _rounded(system, row, column)
    return None


def _rounded(system: System, row: Row, column: int) -> FloorDiv:
    """The bound that a row is on a column, rounded to the integers that satisfy it."""
    a, rest = row[column], system.affine(row).substitute({system.names[column]: 0})
    return FloorDiv(rest * -1 + (a - 1), a) if a > 0 else FloorDiv(rest, -a)


def _determined_union(parts: list[System]) -> tuple[Determined, ...]:
    found: list[Determined] = []
    wholes: list[System] = []
    for part in parts:
        if _is_inside(part, wholes):
            continue
        for one in determined(part):
            if not wholes or not _is_inside(one.system, wholes):
                found.append(one)
                wholes += [] if one.system.exists else [one.system]
    return tuple(found)


def _is_inside(part: System, wholes: list[System]) -> bool:
    return any(all(part.implies(c) for c in whole.conditions) for whole in wholes)


def _parts(system: System, unknown: list[str]) -> list[System]:
    ways = [_Bounded.of(system, name, unknown) for name in unknown]
    return min(ways, key=lambda w: w.number_of_parts).parts()


@frozen
class _Bounded:
    """The existential `name` between its bounds; `nearest` are those one of which it may be said to sit on, if any."""

    system: System
    column: int
    lower: list[Row]
    upper: list[Row]
    others: list[Row]
    nearest: list[Row]

    @staticmethod
    def of(system: System, name: str, unknown: list[str]) -> _Bounded:
        column = system.names.index(name)
        lower, upper, rest = split({r[:-1]: r[-1] for r in system.inequalities}, column)
        if any(r[column] for r in system.equalities):
            raise AssertionError(f"{name} of {system} is in an equality and in no quotient")
        open_columns = [i for i, n in enumerate(system.names) if n in unknown and i != column]
        sides = [side for side in (lower, upper) if not any(row[i] for row in side for i in open_columns)]
        return _Bounded(
            system, column, lower, upper, [(*c, k) for c, k in rest.items()], min(sides, key=len, default=[])
        )

    @property
    def number_of_parts(self) -> int:
        return len(self.nearest) or 1 + len(splinters(self.lower, self.upper, self.column))

    def parts(self) -> list[System]:
        """Systems whose union says the same: on each nearest bound, or else in the dark shadow and on each splinter."""
        system, rows = self.system, [*self.others, *self.lower, *self.upper]
        if self.nearest:
            windows = [(*tuple(map(neg, r[:-1])), abs(r[self.column]) - 1 - r[-1]) for r in self.nearest]
            found = [make(system.names, system.equalities, [*rows, w]) for w in windows]
        else:
            dark = [dark_row(low, high, self.column) for low in self.lower for high in self.upper]
            found = [make(system.names, system.equalities, [*self.others, *dark])]
            for equality in splinters(self.lower, self.upper, self.column):
                found.append(make(system.names, [*system.equalities, equality], rows))
        return [p for p in found if not p.is_empty()]


def function_of(system: System, name: str) -> Affine | FloorDiv | None:
    """What `name` is as an expression or a quotient of the other visible variables, None where no rows say it."""
    value = system.solved_for(name)
    if value is not None or name not in system.names:
        return value
    found = _quotient(system, name, [name, *system.exists])
    return None if found is None or any(n in system.exists for n in found.affine.names) else found


@lru_cache(maxsize=1 << 12)
def definition(name: str, quotient: FloorDiv) -> System:
    """The system that says that `name` is the quotient."""
    low = Affine(((name, quotient.divisor),))
    return System.of(low <= quotient.affine, quotient.affine < low + quotient.divisor)


def with_equal_quotients(system: System) -> System:
    """The same set with an equality for each two existentials that are multiples of one number less than it apart.

    Two rows say that e and f are multiples of m; where e - f is between -m and m they are equal. That is how
    floor(i/32) of one schedule entry and of another are seen to be one.
    """
    rows = [r for r in system.equalities if sum(map(bool, r[: len(system.exists)])) == 1]
    found = []
    for number, row in enumerate(rows):
        for other in rows[:number]:
            apart = _same_multiple(system, row, other)
            found += [apart] if apart is not None else []
    return make(system.names, [*system.equalities, *found], system.inequalities) if found else system


def _same_multiple(system: System, row: Row, other: Row) -> Row | None:
    width = len(system.exists)
    modulus = next(abs(c) for c in row if c)
    if modulus != next(abs(c) for c in other if c):
        return None
    for sign in (1, -1):
        apart = tuple([0] * width + [a - sign * b for a, b in zip(row[width:], other[width:], strict=True)])
        if any(apart[:-1]) and _is_within(system, apart, modulus):
            return apart
    return None


def _is_within(system: System, row: Row, most: int) -> bool:
    opposite = tuple(map(neg, row))
    return all(
        integer_point(system.equalities, [*system.inequalities, (*r[:-1], r[-1] - most)], len(system.names)) is None
        for r in (row, opposite)
    )


def reveal(system: System, names: Mapping[str, str]) -> System:
    """The system with existentials made visible under new names."""
    return make(*in_order(tuple(names.get(n, n) for n in system.names), system.equalities, system.inequalities))
