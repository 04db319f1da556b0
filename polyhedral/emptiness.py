"""Integer points of a conjunction of rows: the Omega test, with a witness."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

from polyhedral.certificates import any_opposed, repaired
from polyhedral.cutting_planes import TooManySteps, point_by_cuts
from polyhedral.fourier_motzkin import Shadow, choose_column, dark_row, splinters
from polyhedral.rows import Contradiction, Equalities, Row, Table, hidden_equalities, table_of


class Undecided(Exception):
    """A test without splinters came to a shadow that is not exact. It never leaves the package."""


def is_surely_empty(equalities: Iterable[Row], inequalities: Iterable[Row], width: int) -> bool:
    """Whether no integers satisfy the rows, as far as few splinters tell: False where it would take more of them."""
    try:
        return integer_point(equalities, inequalities, width, FEW_SPLINTERS) is None
    except Undecided:
        return False


FEW_SPLINTERS, MOST_PIVOTS = 24, 600
FEW_PAIRS, MOST_PAIRS = 1 << 13, 1 << 15


class TooManyRows(ValueError):
    """Whether rows have an integer point takes a shadow of more rows than are allowed, and more cuts."""


class Glance(NamedTuple):
    """What is seen of some rows without work: a point, that there is none, or neither."""

    point: tuple[int, ...] | None = None
    is_empty: bool = False


class Nearby(tuple[int, ...]):
    """A point to start from. All are equal: it is no part of a question, and no remembered answer depends on it."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Nearby)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=1 << 15)
def glance(equalities: tuple[Row, ...], inequalities: tuple[Row, ...], width: int, start: Nearby) -> Glance:
    """What is seen of the rows without work; `start` is a point that is perhaps near one of theirs."""
    if any_opposed(inequalities):
        return Glance(is_empty=True)
    point = None if equalities else repaired(inequalities, width, start)
    return Glance(None if point is None else tuple(point))


@lru_cache(maxsize=1 << 15)
def point_in(equalities: tuple[Row, ...], inequalities: tuple[Row, ...], width: int) -> tuple[int, ...] | None:
    """Integers that satisfy the rows, None where there are none. Exact."""
    point = None if equalities else repaired(inequalities, width)
    if point is None:
        point = integer_point(equalities, inequalities, width)
    return None if point is None else tuple(point)


def integer_point(
    equalities: Iterable[Row], inequalities: Iterable[Row], width: int, most: int | None = None
) -> list[int] | None:
    """Integer values of the `width` columns that satisfy all rows, or None where there are none. Exact.

    Raises Undecided where inexact shadows take more than `most` splinters.
    """
    try:
        solved = Equalities(equalities, inequalities, range(width)).solve()
        table = table_of(solved.inequalities)
        hidden = hidden_equalities(table)
    except Contradiction:
        return None
    if hidden:
        point = integer_point(hidden, [(*c, k) for c, k in table.items()], width, most)
    else:
        point = _point_by_components(table, width, most)
    if point is not None:
        solved.restore(point)
    return point


def _point_by_components(table: Table, width: int, most: int | None) -> list[int] | None:
    point = [0] * width
    for columns, rows in _components(table, width):
        part = _component_point(tuple(sorted([tuple([c[i] for i in columns] + [k]) for c, k in rows])), most)
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
    exact: bool
    lower: list[Row]
    upper: list[Row]
    rest: list[Row]


@lru_cache(maxsize=1 << 16)
def _component_point(rows: tuple[Row, ...], most: int | None) -> tuple[int, ...] | None:
    """A point of rows that hang together: by shadows of few rows, or else by cuts, or else by shadows of many."""
    width = len(rows[0]) - 1
    if width == 1:
        return _interval_point(rows)
    try:
        return _point_by_shadows(rows, width, most, FEW_PAIRS)
    except TooManyRows:
        if most is not None:
            raise Undecided from None
    try:
        point = point_by_cuts(rows, width, MOST_PIVOTS)
    except TooManySteps:
        return _point_by_shadows(rows, width, None, MOST_PAIRS)
    return None if point is None else tuple(point)


def _point_by_shadows(rows: tuple[Row, ...], width: int, most: int | None, pairs: int) -> tuple[int, ...] | None:
    steps: list[_Step] = []
    try:
        point = _rational_shadows({row[:-1]: row[-1] for row in rows}, steps, most, pairs)
    except Contradiction:
        return None
    if point is None:
        return None
    while steps:
        step = steps.pop()
        if not _choose(step, point):
            while not all(s.exact for s in steps):
                step = steps.pop()
            point = _inexact_point(step, width, most)
            if point is None:
                return None
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


def _choose(step: _Step, point: list[int]) -> bool:
    column = step.column
    low = high = None
    point[column] = 0
    for row in step.lower:
        value = -((sum(map(int.__mul__, row, point)) + row[-1]) // row[column])
        low = value if low is None or value > low else low
    for row in step.upper:
        value = (sum(map(int.__mul__, row, point)) + row[-1]) // -row[column]
        high = value if high is None or value < high else high
    if low is not None and high is not None and low > high:
        return False
    point[column] = _nearest_zero(low, high)
    return True


def _rational_shadows(table: Table, steps: list[_Step], most: int | None, pairs: int) -> list[int] | None:
    """What is left where all columns are gone; TooManyRows where one goes by more than so many pairs of bounds."""
    width = len(next(iter(table)))
    shadow = Shadow(table)
    while shadow.table:
        column, exact = choose_column(shadow.table, range(width))
        if shadow.joins_more_than(pairs, column):
            raise TooManyRows(
                f"whether {len(table)} conditions on {width} variables hold at any integers takes shadows of more than "
                f"{MOST_PAIRS} pairs of bounds, and more than {MOST_PIVOTS} pivots by cuts, to be told: put in values "
                "of some variables, or say their remainders and take one case after another"
            )
        rest = [] if exact else [(*c, k) for c, k in shadow.table.items() if not c[column]]
        lower, upper = shadow.eliminate(column)
        steps.append(_Step(column, exact, lower, upper, rest))
        hidden = hidden_equalities(shadow.table)
        if hidden:
            return integer_point(hidden, [(*c, k) for c, k in shadow.table.items()], width, most)
    return [0] * width


def _inexact_point(step: _Step, width: int, most: int | None) -> list[int] | None:
    """A point where the shadow without the step's column is too large: in the dark shadow, or else by other ways."""
    rows = [*step.rest, *step.lower, *step.upper]
    if most is not None:
        return _dark_point(step, width, most) or _splinter_point(step, rows, width, most)
    with suppress(Undecided):
        point = _dark_point(step, width, 0)
        if point is not None:
            return point
    with suppress(TooManySteps):
        return point_by_cuts(rows, width, MOST_PIVOTS)
    return _dark_point(step, width, None) or _splinter_point(step, rows, width, None)


def _dark_point(step: _Step, width: int, most: int | None) -> list[int] | None:
    dark = step.rest + [dark_row(low, high, step.column) for low in step.lower for high in step.upper]
    point = integer_point((), dark, width, most)
    if point is not None:
        _choose(step, point)
    return point


def _splinter_point(step: _Step, rows: list[Row], width: int, most: int | None) -> list[int] | None:
    pieces = splinters(step.lower, step.upper, step.column)
    if most is not None and len(pieces) > most:
        raise Undecided
    for equality in pieces:
        point = integer_point([equality], rows, width, most and most // len(pieces))
        if point is not None:
            return point
    return None
