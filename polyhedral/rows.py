"""Integer rows: the dense arithmetic below systems.

A row is the coefficients of a fixed list of columns and then a constant. As an inequality it says
`row . (x, 1) >= 0`, as an equality `== 0`. A table holds inequalities as a dict from coefficients to
the least constant, so that of two rows with one left side only the tighter is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from math import gcd
from operator import add, itemgetter, neg
from typing import NamedTuple

Row = tuple[int, ...]
Table = dict[Row, int]
_LEFT, _LAST = itemgetter(slice(-1)), itemgetter(-1)


class Contradiction(Exception):
    """Some row cannot hold at any integer point. It never leaves the package."""


def insert(table: Table, coefficients: Row, constant: int) -> None:
    """Adds an inequality to `table`, divided by the gcd of its coefficients, the constant floored."""
    divisor = gcd(*coefficients)
    if divisor > 1:
        coefficients = tuple([c // divisor for c in coefficients])
        constant //= divisor
    elif divisor == 0:
        if constant < 0:
            raise Contradiction
        return
    old = table.get(coefficients)
    if old is None or constant < old:
        table[coefficients] = constant


def reduced_equality(row: Sequence[int]) -> Row | None:
    """The equality divided by the gcd of its coefficients, first coefficient positive; None if it says 0 = 0.

    Raises Contradiction where the gcd does not divide the constant.
    """
    divisor = gcd(*row[:-1])
    if divisor == 0:
        if row[-1]:
            raise Contradiction
        return None
    if row[-1] % divisor:
        raise Contradiction
    first = next(c for c in row if c)
    if first < 0:
        divisor = -divisor
    return tuple(row) if divisor == 1 else tuple([c // divisor for c in row])


def least_width(table: Table) -> int:
    """The least room between opposite rows of a table: 0 leaves one value, less none; 1 where no rows are opposite."""
    opposite = list(map(tuple, map(map, repeat(neg), table)))
    if table.keys().isdisjoint(opposite):
        return 1
    widths: map[int] = map(add, table.values(), map(table.get, opposite, repeat(1 - min(table.values()))))
    return min(widths)


def hidden_equalities(table: Table) -> list[Row]:
    """Takes from `table` the pairs of opposite rows that leave one value, and returns them as equalities."""
    found: list[Row] = []
    if least_width(table) > 0:
        return found
    zero = (0,) * len(next(iter(table), ()))
    for opposite in list(filter(zero.__gt__, table)):
        coefficients = tuple(map(neg, opposite))
        if coefficients not in table:
            continue
        width = table[coefficients] + table[opposite]
        if width < 0:
            raise Contradiction
        if width == 0:
            found.append((*coefficients, table.pop(coefficients)))
            del table[opposite]
    return found


def tightest(rows: Iterable[Row]) -> Table:
    """A table of inequalities whose coefficients have no common divisor."""
    ordered = sorted(rows, reverse=True)
    return dict(zip(map(_LEFT, ordered), map(_LAST, ordered), strict=True))


def table_of(rows: Iterable[Row]) -> Table:
    """A table of these inequalities."""
    table: Table = {}
    for row in rows:
        insert(table, row[:-1], row[-1])
    return table


def scaled_sum(a: int, row: Sequence[int], b: int, other: Sequence[int]) -> Row:
    """a * row + b * other."""
    if b == 1 and a == 1:
        return tuple(map(add, row, other))
    return tuple([a * x + b * y for x, y in zip(row, other, strict=False)])


class Substituted(NamedTuple):
    """Column `pivot` was replaced by means of the equality `row`, whose coefficient there is 1 or -1."""

    pivot: int
    row: Row


class Shifted(NamedTuple):
    """Column `pivot` now stands for itself plus the sum of quotient * column."""

    pivot: int
    quotients: tuple[tuple[int, int], ...]


class Equalities:
    """Equalities being solved for some columns, beside the inequalities that they are put into.

    `solve` leaves in `rows` only equalities that no longer hold a free column, or that hold one free
    column with a coefficient above one which then occurs nowhere else: a congruence. `changes`
    records what was done, so that a point of what is left gives a point of what was.
    """

    def __init__(self, equalities: Iterable[Row], inequalities: Iterable[Row], free: Iterable[int]) -> None:
        self.pending = [r for r in map(reduced_equality, equalities) if r is not None]
        self.inequalities = [tuple(r) for r in inequalities]
        self.free = list(free)
        self.rows: list[Row] = []
        self.changes: list[Substituted | Shifted] = []

    def solve(self) -> Equalities:
        """Eliminates free columns by every equality that has one; returns itself."""
        while self.pending:
            choice = self._unit_pivot()
            if choice is None:
                row = self.pending.pop(0)
                columns = [c for c in self.free if row[c]]
                if not columns:
                    self.rows.append(row)
                    continue
                row, pivot = self._euclid(row, columns)
            else:
                row, pivot = choice
                self.pending.remove(row)
            self._use(row, pivot)
        return self

    def _unit_pivot(self) -> tuple[Row, int] | None:
        for row in self.pending:
            for column in self.free:
                if row[column] == 1 or row[column] == -1:
                    return row, column
        return None

    def _use(self, row: Row, pivot: int) -> None:
        coefficient = row[pivot]
        self.pending = [
            r
            for r in (reduced_equality(self._without(q, row, pivot)) if q[pivot] else q for q in self.pending)
            if r is not None
        ]
        self.inequalities = [self._without(q, row, pivot) if q[pivot] else q for q in self.inequalities]
        self.free.remove(pivot)
        if coefficient in (1, -1):
            self.changes.append(Substituted(pivot, row))
        else:
            self.rows.append(row)

    def _without(self, row: Row, equality: Row, pivot: int) -> Row:
        a, b = equality[pivot], row[pivot]
        if a < 0:
            a, b = -a, -b
        divisor = gcd(a, b)
        return scaled_sum(a // divisor, row, -b // divisor, equality)

    def _euclid(self, row: Row, columns: list[int]) -> tuple[Row, int]:
        while len(columns) > 1:
            pivot = min(columns, key=lambda c: (abs(row[c]), c))
            quotients = tuple((c, row[c] // row[pivot]) for c in columns if c != pivot)
            row = self._shift(row, pivot, quotients)
            self.pending = [self._shift(q, pivot, quotients) for q in self.pending]
            self.inequalities = [self._shift(q, pivot, quotients) for q in self.inequalities]
            self.changes.append(Shifted(pivot, quotients))
            columns = [c for c in columns if row[c]]
        return row, columns[0]

    @staticmethod
    def _shift(row: Row, pivot: int, quotients: tuple[tuple[int, int], ...]) -> Row:
        if not row[pivot]:
            return row
        changed = list(row)
        for column, quotient in quotients:
            changed[column] -= quotient * row[pivot]
        return tuple(changed)

    def restore(self, point: list[int]) -> None:
        """Turns values of the columns that are left into values of all columns, in place."""
        for change in reversed(self.changes):
            match change:
                case Substituted(pivot, row):
                    rest = sum(c * v for c, v in zip(row, point, strict=False)) - row[pivot] * point[pivot] + row[-1]
                    point[pivot] = -rest * row[pivot]
                case Shifted(pivot, quotients):
                    point[pivot] -= sum(q * point[c] for c, q in quotients)
