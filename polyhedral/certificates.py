"""Quick answers about rows that can be checked at a glance: a point that is found by repair, a row as a sum of others.

Where they do not answer they say so, and the Omega test does; they change no answer, only what it costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from operator import itemgetter, mul, neg

from polyhedral.rows import Row

MOST_REPAIRS = 8
MOST_SUMS = 6
FEW_SUMS = 2
_LAST = itemgetter(-1)
_IS_POSITIVE, _IS_NEGATIVE = (0).__lt__, (0).__gt__


def any_opposed(inequalities: Sequence[Row]) -> bool:
    """Whether two of the rows leave nothing between them."""
    upper = {row[:-1]: row[-1] for row in sorted(inequalities, reverse=True)}
    zero = (0,) * len(inequalities[0]) if inequalities else ()
    for row in [r for r in inequalities if r > zero]:
        constant = upper.get(tuple(map(neg, row[:-1])))
        if constant is not None and constant + row[-1] < 0:
            return True
    return False


def repaired(rows: Sequence[Row], width: int, start: Sequence[int] | None = None) -> list[int] | None:
    """Integers that satisfy the inequalities, found from `start` or 0 by moving one column at a time, or None.

    A column that was moved one way is not moved back; only few moves are tried.
    """
    point = [*start, 1] if start else [*[0] * width, 1]
    repair = _Repair(rows, point, [0] * width)
    return point[:-1] if repair.run() else None


class _Repair:
    """The search: `way` has the sign of the moves of each column, `left` counts what may still be tried."""

    def __init__(self, rows: Sequence[Row], point: list[int], way: list[int]) -> None:
        self.rows = rows
        self.point = point
        self.way = way
        self.left = MOST_REPAIRS
        self.columns: list[tuple[int, ...]] = []

    def run(self) -> bool:
        """Moves `point` until all rows hold; False, the point as it was, where that is not found."""
        point, way = self.point, self.way
        for row in self.rows:
            value = sum(map(mul, row, point))
            if value < 0:
                break
        else:
            return True
        for column, coefficient in self._freest(row):
            if self.left <= 0:
                return False
            self.left -= 1
            before, old = point[column], way[column]
            if coefficient > 0:
                point[column], way[column] = before - value // coefficient, 1
            else:
                point[column], way[column] = before + value // -coefficient, -1
            if self.run():
                return True
            point[column], way[column] = before, old
        return False

    def _freest(self, row: Row) -> list[tuple[int, int]]:
        """The columns that may move so that `row` grows, those first that fewest rows keep from it."""
        found = [(n, c) for n, (c, way) in enumerate(zip(row, self.way, strict=False)) if c and way * c >= 0]
        if len(found) < 2:
            return found
        columns = self.columns = self.columns or list(zip(*self.rows, strict=True))
        against = [(sum(map(_IS_NEGATIVE if c > 0 else _IS_POSITIVE, columns[n])), n, c) for n, c in found]
        return [(n, c) for _, n, c in sorted(against)]


def alone_violated(
    equalities: Sequence[Row], own: Sequence[Row], known: Sequence[Row], point: Sequence[int]
) -> set[Row]:
    """Those of `own` inequalities each of which is the only one that some integer point violates: none is redundant.

    `point` satisfies all rows; from it the points on the lines along one column are looked at.
    """
    at = (*point, 1)
    rows = (*own, *known)
    values = [sum(map(mul, row, at)) for row in rows]
    fixed = [any(column) for column in zip(*equalities, strict=True)] if equalities else ()
    columns = list(zip(*rows, strict=True))
    held = sorted([(-(len(own) - c[: len(own)].count(0)), n) for n, c in enumerate(columns[:-1])])
    found: set[Row] = set()
    for held_by, number in held:
        if not held_by or len(found) == len(own):
            break
        if fixed and fixed[number]:
            continue
        column = columns[number]
        first = _nearest([(v // -c, k) for k, (c, v) in enumerate(zip(column, values, strict=True)) if c < 0])
        other = _nearest([(v // c, k) for k, (c, v) in enumerate(zip(column, values, strict=True)) if c > 0])
        found.update([own[k] for k in (first, other) if 0 <= k < len(own)])
    return found


def _nearest(rooms: list[tuple[int, int]]) -> int:
    """The row that leaves least room, -1 where that is none or more than one."""
    if len(rooms) < 2:
        return rooms[0][1] if rooms else -1
    least, next_one = sorted(rooms)[:2]
    return least[1] if least[0] < next_one[0] else -1


class Sums:
    """Rows to be added up: whether another one is a sum of multiples of them and a constant, rounded to integers.

    Each row of a sum takes out one column of what is left to show; only few sums are tried. Rows can be
    taken away, those that fewest columns have are tried first.
    """

    def __init__(self, equalities: Sequence[Row], inequalities: Sequence[Row], width: int) -> None:
        self.rows = list(inequalities)
        for row in equalities:
            self.rows += [row, tuple(map(neg, row))]
        self.rows.sort(key=_LAST, reverse=True)
        self.least = {row[:-1]: row[-1] for row in self.rows}
        self.width = range(width)
        self.bounds: dict[tuple[int, bool], list[Row]] = {}
        self.left = 0

    def _bounds(self, column: int, below: bool) -> list[Row]:
        """The rows that bound a column from one side."""
        found = self.bounds.get((column, below))
        if found is None:
            found = [r for r in self.rows if r[column] > 0] if below else [r for r in self.rows if r[column] < 0]
            if len(found) > 1:
                found.sort(key=_columns)
            self.bounds[column, below] = found
        return found

    def drop(self, row: Row) -> None:
        """Takes away an inequality."""
        if self.least.get(row[:-1]) == row[-1]:
            del self.least[row[:-1]]
        self.rows.remove(row)
        for (column, below), found in self.bounds.items():
            if row[column] > 0 if below else row[column] < 0:
                found.remove(row)

    def put_back(self, row: Row) -> None:
        """Gives back an inequality that was taken away."""
        self.least.setdefault(row[:-1], row[-1])
        self.rows.append(row)
        for (column, below), found in self.bounds.items():
            if row[column] > 0 if below else row[column] < 0:
                found.append(row)

    def leave_open(self, row: Row) -> bool:
        """Whether some column of `row` has no bound at all on the side on which `row` bounds it: it is no sum then."""
        return [] in [self._bounds(c, row[c] > 0) for c in self.width if row[c]]

    def give(self, row: Row, most: int = MOST_SUMS) -> bool:
        """Whether `row >= 0` is found to be a sum in few trials."""
        self.left = most
        return self._give(row)

    def _give(self, wanted: Row) -> bool:
        divisor = gcd(*wanted[:-1])
        if divisor == 0:
            return wanted[-1] >= 0
        if divisor > 1:
            wanted = tuple([c // divisor for c in wanted])
        known = self.least.get(wanted[:-1])
        if known is not None and known <= wanted[-1]:
            return True
        bounds, fewest, column = [], 1 << 30, 0
        for number in self.width:
            if wanted[number]:
                found = self._bounds(number, wanted[number] > 0)
                if len(found) < fewest:
                    bounds, fewest, column = found, len(found), number
        for bound in bounds:
            if self.left <= 0:
                return False
            self.left -= 1
            if self._give(_without(wanted, bound, column)):
                return True
        return False


def _columns(row: Row) -> int:
    return -row[:-1].count(0)


def _without(wanted: Row, bound: Row, column: int) -> Row:
    """What is left to show of `wanted` where `bound` takes its column out."""
    a, b = bound[column], wanted[column]
    if a < 0:
        a, b = -a, -b
    if a == 1:
        return tuple([w - b * r for w, r in zip(wanted, bound)])  # noqa: B905
    divisor = gcd(a, b)
    a, b = a // divisor, b // divisor
    left = [a * w - b * r for w, r in zip(wanted, bound)]  # noqa: B905
    left[-1] += a - 1
    return tuple(left)
