"""Integer points of a conjunction of rows: the Omega test, with a witness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import compress
from operator import neg
from typing import NamedTuple

from polyhedral.rows import Contradiction, Equalities, Row, Table, hidden_equalities, insert, scaled_sum, table_of


def integer_point(equalities: Iterable[Row], inequalities: Iterable[Row], width: int) -> list[int] | None:
    """Integer values of the `width` columns that satisfy all rows, or None where there are none. Exact."""
    try:
        solved = Equalities(equalities, inequalities, range(width)).solve()
        table = table_of(solved.inequalities)
        hidden = hidden_equalities(table)
    except Contradiction:
        return None
    if hidden:
        point = integer_point(hidden, [(*c, k) for c, k in table.items()], width)
    else:
        point = _point_by_components(table, width)
    if point is not None:
        solved.restore(point)
    return point


def _point_by_components(table: Table, width: int) -> list[int] | None:
    point = [0] * width
    for columns, rows in _components(table, width):
        part = _component_point(tuple(sorted([tuple([c[i] for i in columns] + [k]) for c, k in rows])))
        if part is None:
            return None
        for column, value in zip(columns, part, strict=False):
            point[column] = value
    return point


def _components(table: Table, width: int) -> list[tuple[list[int], list[tuple[Row, int]]]]:
    bits = [1 << i for i in range(width)]
    groups: list[tuple[int, list[tuple[Row, int]]]] = []
    for coefficients, constant in table.items():
        used = sum(compress(bits, coefficients))
        rows = [(coefficients, constant)]
        apart = []
        for group in groups:
            if used & group[0]:
                used |= group[0]
                rows = group[1] + rows
            else:
                apart.append(group)
        apart.append((used, rows))
        groups = apart
    return [([i for i in range(width) if used >> i & 1], rows) for used, rows in groups]


class _Step(NamedTuple):
    column: int
    lower: list[Row]
    upper: list[Row]


@lru_cache(maxsize=1 << 16)
def _component_point(rows: tuple[Row, ...]) -> tuple[int, ...] | None:
    width = len(rows[0]) - 1
    if width == 1:
        return _interval_point(rows)
    table = {row[:-1]: row[-1] for row in rows}
    steps: list[_Step] = []
    try:
        point = _eliminate_all(table, width, steps)
    except Contradiction:
        return None
    if point is None:
        return None
    for step in reversed(steps):
        point[step.column] = _choose(step, point)
    return tuple(point)


def _interval_point(rows: tuple[Row, ...]) -> tuple[int, ...] | None:
    low = max((-(k // c) for c, k in rows if c > 0), default=None)
    high = min((k // -c for c, k in rows if c < 0), default=None)
    if low is not None and high is not None and low > high:
        return None
    return (_nearest_zero(low, high),)


def _nearest_zero(low: int | None, high: int | None) -> int:
    if low is not None and low > 0:
        return low
    if high is not None and high < 0:
        return high
    return 0


def _choose(step: _Step, point: list[int]) -> int:
    column = step.column
    low = high = None
    point[column] = 0
    for row in step.lower:
        value = -((sum(map(int.__mul__, row, point)) + row[-1]) // row[column])
        low = value if low is None or value > low else low
    for row in step.upper:
        value = (sum(map(int.__mul__, row, point)) + row[-1]) // -row[column]
        high = value if high is None or value < high else high
    return _nearest_zero(low, high)


def _eliminate_all(table: Table, width: int, steps: list[_Step]) -> list[int] | None:
    while table:
        column, exact = choose_column(table, range(width))
        lower, upper, rest = split(table, column)
        if not exact:
            return _inexact_point(lower, upper, rest, column, width)
        steps.append(_Step(column, lower, upper))
        for low in lower:
            for high in upper:
                row = scaled_sum(-high[column], low, low[column], high)
                insert(rest, row[:-1], row[-1])
        table = rest
        hidden = hidden_equalities(table)
        if hidden:
            return integer_point(hidden, [(*c, k) for c, k in table.items()], width)
    return [0] * width


def choose_column(table: Table, columns: Iterable[int]) -> tuple[int, bool]:
    """The column among `columns` whose elimination adds fewest rows, an exact one where there is one.

    Exact means that each pair of a lower and an upper bound loses no integer point, because one
    coefficient of the pair is one or both say no more than a constant that leaves room.
    """
    best: tuple[bool, int, int] | None = None
    for column in columns:
        lower = [c for c in table if c[column] > 0]
        upper = [c for c in table if c[column] < 0]
        if not lower and not upper:
            continue
        growth = len(lower) * len(upper) - len(lower) - len(upper)
        inexact = not _is_exact(table, lower, upper, column)
        if best is None or (inexact, growth) < best[:2]:
            best = (inexact, growth, column)
    assert best is not None
    return best[2], not best[0]


def _is_exact(table: Table, lower: list[Row], upper: list[Row], column: int) -> bool:
    big_lower = [c for c in lower if c[column] != 1]
    if not big_lower:
        return True
    big_upper = [c for c in upper if c[column] != -1]
    return all(_pair_is_exact(table, low, high, column) for low in big_lower for high in big_upper)


def _pair_is_exact(table: Table, low: Row, high: Row, column: int) -> bool:
    a, b = low[column], -high[column]
    if a != b or low != tuple(map(neg, high)):
        return False
    return table[low] + table[high] >= a - 1


def split(table: Table, column: int) -> tuple[list[Row], list[Row], Table]:
    """The rows of `table` that bound `column` from below, from above, and the table of the others."""
    lower, upper, rest = [], [], {}
    for coefficients, constant in table.items():
        if coefficients[column] > 0:
            lower.append((*coefficients, constant))
        elif coefficients[column] < 0:
            upper.append((*coefficients, constant))
        else:
            rest[coefficients] = constant
    return lower, upper, rest


def _inexact_point(lower: list[Row], upper: list[Row], rest: Table, column: int, width: int) -> list[int] | None:
    others = [(*c, k) for c, k in rest.items()]
    real = others + [scaled_sum(-h[column], low, low[column], h) for low in lower for h in upper]
    if integer_point((), real, width) is None:
        return None
    dark = others + [dark_row(low, high, column) for low in lower for high in upper]
    point = integer_point((), dark, width)
    if point is not None:
        point[column] = _choose(_Step(column, lower, upper), point)
        return point
    for equality in splinters(lower, upper, column):
        point = integer_point([equality], others + lower + upper, width)
        if point is not None:
            return point
    return None


def dark_row(low: Row, high: Row, column: int) -> Row:
    """The row under which an integer fits between the two bounds on `column`, whatever the others are."""
    a, b = low[column], -high[column]
    row = scaled_sum(b, low, a, high)
    return (*row[:-1], row[-1] - (a - 1) * (b - 1))


def splinters(lower: Sequence[Row], upper: Sequence[Row], column: int) -> list[Row]:
    """Equalities on `column` such that each integer point outside the dark shadow meets one of them."""
    steepest = max(-high[column] for high in upper)
    found = []
    for low in lower:
        a = low[column]
        last = (a * steepest - a - steepest) // steepest
        found += [(*low[:-1], low[-1] - i) for i in range(last + 1)]
    return found
