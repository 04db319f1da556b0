"""Quick answers about rows that can be checked at a glance: a point that is found by repair, a row as a sum of others.

Where they do not answer they say so, and the Omega test does; they change no answer, only what it costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress, repeat
from itertools import count as numbers
from math import gcd
from operator import add, itemgetter, mul, neg, not_, sub

from polyhedral.rows import Row, least_width, tightest

MOST_REPAIRS = 8
MOST_SUMS = 6
SWEEPS, FAR = 2, 1 << 10
FEW_SUMS = 2
_LAST = itemgetter(-1)
_IS_POSITIVE, _IS_NEGATIVE = (0).__lt__, (0).__gt__


def any_opposed(inequalities: Sequence[Row]) -> bool:
    """Whether two of the rows leave nothing between them."""
    return least_width(tightest(inequalities)) < 0


def repaired(rows: Sequence[Row], width: int, start: Sequence[int] | None = None) -> list[int] | None:
    """Integers that satisfy the inequalities, found from `start` or 0 by moving one column at a time, or None.

    A column that was moved one way is not moved back; only few moves are tried.
    """
    point = [*start, 1] if start else [*[0] * width, 1]
    values = values_at(rows, point)
    return point[:-1] if not values or min(values) >= 0 or _Repair(rows, point).run(values) else None


class _Repair:
    """The search: `way` has the sign of the moves of each column, `left` counts what may still be tried."""

    def __init__(self, rows: Sequence[Row], point: list[int]) -> None:
        self.rows = rows
        self.point = point
        self.way = [0] * (len(point) - 1)
        self.left = MOST_REPAIRS
        self.columns = list(zip(*rows, strict=True))

    def run(self, values: list[int]) -> bool:
        """Moves `point`, where rows have these `values`, until all hold; False, it as it was, where that fails."""
        broken = next(compress(numbers(), map(_IS_NEGATIVE, values)), None)
        if broken is None:
            return True
        point, way, value = self.point, self.way, values[broken]
        for column, coefficient in self._freest(self.rows[broken]):
            if self.left <= 0:
                return False
            self.left -= 1
            before, old = point[column], way[column]
            if coefficient > 0:
                move, way[column] = -(value // coefficient), 1
            else:
                move, way[column] = value // -coefficient, -1
            point[column] += move
            if self.run(list(map(add, values, map(mul, self.columns[column], repeat(move))))):
                return True
            point[column], way[column] = before, old
        return False

    def _freest(self, row: Row) -> list[tuple[int, int]]:
        """The columns that may move so that `row` grows, those first that fewest rows keep from it."""
        way = self.way
        found = [move for move in _held(row) if way[move[0]] * move[1] >= 0]
        if len(found) < 2:
            return found
        columns = self.columns
        against = [(sum(map(_IS_NEGATIVE if c > 0 else _IS_POSITIVE, columns[n])), n, c) for n, c in found]
        against.sort()
        return [(n, c) for _, n, c in against]


def windows(own: Sequence[Row], known: Sequence[Row]) -> set[Row]:
    """Those of `own` inequalities that come in twos which alone bound a column and always leave an integer for it.

    They say nothing of the other columns: none of them is redundant, nor makes another row so.
    """
    found: set[Row] = set()
    columns = list(zip(*own, *known, strict=True))[:-1]
    for column in columns:
        if len(column) - column.count(0) == 2:
            first, second = compress(numbers(), column)
            if second < len(own) and _leave_room(own[first], own[second], abs(column[first])):
                found.update((own[first], own[second]))
    return found


def _leave_room(row: Row, other: Row, size: int) -> bool:
    """Whether two rows are opposite and leave a multiple of `size` between them."""
    return row[-1] + other[-1] >= size - 1 and row[:-1] == tuple(map(neg, other[:-1]))


def values_at(rows: Sequence[Row], at: Sequence[int]) -> list[int]:
    """What each row is at a point with a 1 behind it."""
    return list(map(sum, map(map, repeat(mul), rows, repeat(at))))


@lru_cache(maxsize=1 << 13)
def _held(row: Row) -> tuple[tuple[int, int], ...]:
    """The columns that a row has, with their coefficients."""
    return tuple([(n, c) for n, c in enumerate(row[:-1]) if c])


def alone_violated(
    equalities: Sequence[Row], own: Sequence[Row], known: Sequence[Row], point: Sequence[int]
) -> set[Row]:
    """Those of `own` inequalities each of which is the only one that some integer point violates: none is redundant.

    `point` satisfies all rows; from it the points on the line along one column are looked at, then from the middle of
    those of them that satisfy all rows the points along the next column, until nothing new is likely.
    """
    rows, count = (*own, *known), len(own)
    values = values_at(rows, (*point, 1))
    open_rows = [True] * count
    columns = list(zip(*rows, strict=True))[:-1]
    if equalities:
        columns = [c for c, equal in zip(columns, zip(*equalities, strict=True), strict=False) if not any(equal)]
    for column in columns * SWEEPS:
        if not any(compress(column, open_rows)):
            continue
        up = up_next = down = down_next = None
        first_up = first_down = 0
        for coefficient, value, number in compress(zip(column, values, numbers(), strict=False), column):
            if coefficient < 0:
                room = value // -coefficient
                if up is None or room < up:
                    up, up_next, first_up = room, up, number
                elif up_next is None or room < up_next:
                    up_next = room
            else:
                room = value // coefficient
                if down is None or room < down:
                    down, down_next, first_down = room, down, number
                elif down_next is None or room < down_next:
                    down_next = room
        if up is not None and first_up < count and (up_next is None or up < up_next):
            open_rows[first_up] = False
        if down is not None and first_down < count and (down_next is None or down < down_next):
            open_rows[first_down] = False
        if True not in open_rows:
            break
        move = ((FAR if up is None else up) - (FAR if down is None else down)) // 2
        if move:
            values = list(map(add, values, map(mul, column, repeat(move))))
    return set(compress(own, map(not_, open_rows)))


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
            sides = map(_IS_POSITIVE if below else _IS_NEGATIVE, map(itemgetter(column), self.rows))
            found = list(compress(self.rows, sides))
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
        return any(not self._bounds(n, c > 0) for n, c in _held(row))

    def give(self, row: Row, most: int = MOST_SUMS) -> bool:
        """Whether `row >= 0` is found to be a sum in few trials."""
        self.left = most
        wanted = _divided(row)
        return self._say(wanted) or self._give(wanted)

    def _say(self, wanted: Row) -> bool:
        """Whether one row says it."""
        known = self.least.get(wanted[:-1])
        return known <= wanted[-1] if known is not None else wanted[-1] >= 0 and not any(wanted[:-1])

    def _give(self, wanted: Row) -> bool:
        bounds: list[Row] = []
        fewest, column = 1 << 30, 0
        for number, coefficient in _held(wanted):
            found = self._bounds(number, coefficient > 0)
            if len(found) < fewest:
                bounds, fewest, column = found, len(found), number
        left: list[Row] = []
        for bound in bounds[: self.left]:
            self.left -= 1
            rest = _divided(_without(wanted, bound, column))
            if self._say(rest):
                return True
            left.append(rest)
        return any(self.left > 0 and self._give(rest) for rest in left)


def _divided(row: Row) -> Row:
    """The row without a common divisor of its coefficients, the constant rounded down."""
    divisor = gcd(*row[:-1])
    return tuple([c // divisor for c in row]) if divisor > 1 else row


def _columns(row: Row) -> int:
    return -row[:-1].count(0)


def _without(wanted: Row, bound: Row, column: int) -> Row:
    """What is left to show of `wanted` where `bound` takes its column out."""
    a, b = bound[column], wanted[column]
    if a < 0:
        a, b = -a, -b
    if a == 1:
        return tuple(map(sub, wanted, map(mul, bound, repeat(b))))
    divisor = gcd(a, b)
    a, b = a // divisor, b // divisor
    left = [a * w - b * r for w, r in zip(wanted, bound)]  # noqa: B905
    left[-1] += a - 1
    return tuple(left)
