"""Quick answers about rows that can be checked at a glance: a point that is found by repair, a row as a sum of others.

Where they do not answer they say so, and the Omega test does; they change no answer, only what it costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from operator import mul, neg

from polyhedral.rows import Row

MOST_REPAIRS = 8
MOST_SUMS = 24


def repaired(rows: Sequence[Row], width: int) -> list[int] | None:
    """Integers that satisfy the inequalities, found from 0 by moving one column at a time; None where none was found."""
    point = [0] * width + [1]
    for _ in range(MOST_REPAIRS):
        for row in rows:
            value = sum(map(mul, row, point))
            if value < 0:
                break
        else:
            return point[:-1]
        column = _freest(rows, row, width)
        if column is None:
            return None
        coefficient = row[column]
        point[column] += -(value // coefficient) if coefficient > 0 else value // -coefficient
    return None


def _freest(rows: Sequence[Row], row: Row, width: int) -> int | None:
    """The column that fewest rows keep from moving the way in which `row` grows."""
    best, fewest = None, len(rows) + 1
    for column in range(width):
        coefficient = row[column]
        if coefficient:
            against = sum([1 for r in rows if r[column] * coefficient < 0])
            if against < fewest:
                best, fewest = column, against
    return best


def alone_violated(equalities: Sequence[Row], inequalities: Sequence[Row], point: Sequence[int]) -> set[Row]:
    """Inequalities each of which is the only one that some integer point violates: none of them is redundant.

    `point` satisfies all rows; from it the points on the lines along one column are looked at.
    """
    at = (*point, 1)
    values = [sum(map(mul, row, at)) for row in inequalities]
    fixed = [any(column) for column in zip(*equalities, strict=True)] if equalities else [False] * len(at)
    found = set()
    for column in range(len(point)):
        if fixed[column]:
            continue
        up = up_next = down = down_next = None
        first_up = first_down = 0
        for number, row in enumerate(inequalities):
            coefficient = row[column]
            if coefficient < 0:
                room = values[number] // -coefficient
                if up is None or room < up:
                    up, up_next, first_up = room, up, number
                elif up_next is None or room < up_next:
                    up_next = room
            elif coefficient:
                room = values[number] // coefficient
                if down is None or room < down:
                    down, down_next, first_down = room, down, number
                elif down_next is None or room < down_next:
                    down_next = room
        if up is not None and (up_next is None or up < up_next):
            found.add(inequalities[first_up])
        if down is not None and (down_next is None or down < down_next):
            found.add(inequalities[first_down])
    return found


def is_sum(equalities: Sequence[Row], inequalities: Sequence[Row], row: Row) -> bool:
    """Whether `row >= 0` is found to be a sum of multiples of the others and a constant, rounded to integers.

    Each row of the sum takes out one column of what is left to show; only few sums are tried.
    """
    rows = [*inequalities, *equalities, *[tuple(map(neg, r)) for r in equalities]] if equalities else inequalities
    return _Sums(rows).give(row)


class _Sums:
    """The search for a sum; `left` counts what may still be tried."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.least: dict[Row, int] = {}
        for row in rows:
            old = self.least.get(row[:-1])
            if old is None or row[-1] < old:
                self.least[row[:-1]] = row[-1]
        self.left = MOST_SUMS

    def give(self, wanted: Row) -> bool:
        """Whether `wanted` is a sum of the rows and a constant that is not negative."""
        coefficients = wanted[:-1]
        divisor = gcd(*coefficients)
        if divisor == 0:
            return wanted[-1] >= 0
        if divisor > 1:
            wanted = tuple([c // divisor for c in wanted])
            coefficients = wanted[:-1]
        known = self.least.get(coefficients)
        if known is not None and known <= wanted[-1]:
            return True
        if self.left <= 0:
            return False
        column, bounds = self._narrowest(coefficients)
        for bound in bounds:
            self.left -= 1
            if self.give(_without(wanted, bound, column)):
                return True
            if self.left <= 0:
                return False
        return False

    def _narrowest(self, coefficients: Row) -> tuple[int, list[Row]]:
        best: tuple[int, list[Row]] | None = None
        for column, coefficient in enumerate(coefficients):
            if coefficient:
                bounds = [r for r in self.rows if r[column] * coefficient > 0]
                if best is None or len(bounds) < len(best[1]):
                    best = column, bounds
                    if len(bounds) < 2:
                        break
        assert best is not None
        return best


def _without(wanted: Row, bound: Row, column: int) -> Row:
    """What is left to show of `wanted` where `bound` takes its column out."""
    a, b = abs(bound[column]), abs(wanted[column])
    divisor = gcd(a, b)
    a, b = a // divisor, b // divisor
    left = [a * w - b * r for w, r in zip(wanted, bound, strict=True)]
    left[-1] += a - 1
    return tuple(left)
