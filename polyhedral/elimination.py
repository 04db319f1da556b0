"""Projection of rows: Fourier-Motzkin with integer tightening, a history bound and an exactness flag."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from math import gcd
from operator import neg
from typing import NamedTuple

from polyhedral.certificates import FEW_SUMS, Sums, alone_violated, repaired, windows
from polyhedral.emptiness import is_surely_empty
from polyhedral.fourier_motzkin import Shadow, choose_column, dark_row, split
from polyhedral.rows import Contradiction, Equalities, Row, Table, hidden_equalities, insert, scaled_sum, table_of


class Projection(NamedTuple):
    """What is left of a projection. `columns` could not be eliminated: each is a congruence's or is inexact."""

    equalities: list[Row]
    inequalities: list[Row]
    columns: list[int]
    exact: bool


def project(
    equalities: Sequence[Row], inequalities: Sequence[Row], columns: Sequence[int], width: int, force: bool
) -> Projection:
    """The rows without `columns`: equalities first, then Fourier-Motzkin, exact columns before others.

    Columns that carry a congruence stay, each in one equality only. A column that cannot be
    eliminated exactly stays too, unless `force`: then its rational shadow, tightened to integers, is
    taken and `exact` is False. Raises Contradiction where the rows hold at no integer point that is
    seen on the way.
    """
    if len(columns) == 1 and not equalities:
        rows = _without_exactly(list(inequalities), columns[0])
        if rows is not None:
            return Projection([], rows, [], True)
    solved = Equalities(equalities, inequalities, columns).solve()
    strides = [c for c in columns if c not in solved.free and any(r[c] for r in solved.rows)]
    table = table_of(solved.inequalities)
    hidden = hidden_equalities(table)
    if any(row[c] for row in hidden for c in columns):
        return project(solved.rows + hidden, _rows(table), columns, width, force)
    steps = _Elimination(table, [c for c in solved.free if c not in strides], width, force)
    if steps.run(solved.rows + hidden):
        again = project(solved.rows + hidden + steps.hidden, _rows(steps.table), columns, width, force)
        return again._replace(exact=again.exact and steps.exact)
    left = strides + [c for c in steps.columns if any(r[c] for r in steps.table)]
    equal = plain_congruences(solved.rows, strides) + hidden + steps.hidden
    return Projection(equal, _rows(steps.table), left, steps.exact)


def _without_exactly(inequalities: Sequence[Row], column: int) -> list[Row] | None:
    """The shadow without a column that is 1 or -1 in all its bounds of one side, where there are few; else None."""
    lower = [r for r in inequalities if r[column] > 0]
    upper = [r for r in inequalities if r[column] < 0]
    if len(lower) * len(upper) > 2 * len(inequalities) + 16:
        return None
    if all(r[column] == 1 for r in lower) or all(r[column] == -1 for r in upper):
        rest = [r for r in inequalities if not r[column]]
        return rest + [scaled_sum(-high[column], low, low[column], high) for low in lower for high in upper]
    return None


def exact_shadow(left: Projection, width: int) -> Projection:
    """`left` without the columns that are inexact, where its dark shadow and its rational one are the same set.

    The exact shadow lies between the two. Where they differ, or where telling it takes many rows, `left` comes back.
    """
    columns = [c for c in left.columns if any(r[c] for r in left.inequalities)]
    if not columns:
        return left
    try:
        dark = _dark_shadow(table_of(left.inequalities), columns)
        shadow = project(left.equalities, left.inequalities, columns, width, True)
    except Contradiction:
        return left
    if dark is None or not all(implies(shadow.equalities, shadow.inequalities, row, width) for row in dark):
        return left
    strides = [c for c in left.columns if c not in columns]
    return Projection(shadow.equalities, shadow.inequalities, strides + shadow.columns, True)


def _dark_shadow(table: Table, columns: list[int]) -> list[Row] | None:
    most = 4 * len(table) + 32
    while columns := [c for c in columns if any(r[c] for r in table)]:
        column, exact = choose_column(table, columns)
        lower, upper, table = split(table, column)
        if len(lower) * len(upper) > most:
            return None
        for low in lower:
            for high in upper:
                row = scaled_sum(-high[column], low, low[column], high) if exact else dark_row(low, high, column)
                insert(table, row[:-1], row[-1])
    return _rows(table)


def plain_congruences(rows: list[Row], strides: list[int]) -> list[Row]:
    """The rows with each congruence reduced by its modulus, its first coefficient one where it can be, each once."""
    found: dict[tuple[int, Row], Row] = {}
    for row in rows:
        own = next((c for c in strides if row[c]), None)
        if own is None:
            found[(0, row)] = row
            continue
        modulus = abs(row[own])
        rest = [0 if i == own else c % modulus for i, c in enumerate(row)]
        first = next((c for c in rest if c), 1)
        if gcd(first, modulus) == 1:
            inverse = pow(first, -1, modulus)
            rest = [c * inverse % modulus for c in rest]
        half = modulus // 2
        rest = [c - modulus if c > half else c for c in rest[:-1]] + [rest[-1]]
        if any(rest):
            found[(modulus, tuple(rest))] = tuple([-modulus if i == own else c for i, c in enumerate(rest)])
    return list(found.values())


def _rows(table: Table) -> list[Row]:
    return [(*c, k) for c, k in table.items()]


class _Elimination(Shadow):
    """One run of Fourier-Motzkin over `columns`."""

    def __init__(self, table: Table, columns: list[int], width: int, force: bool) -> None:
        super().__init__(table)
        self.columns = columns
        self.width = width
        self.force = force
        self.exact = True
        self.hidden: list[Row] = []
        self.most = 2 * len(table) + 16

    def run(self, equalities: list[Row]) -> bool:
        """Eliminates what it may. Returns True, early, when hidden equalities hold a column still to go."""
        cleaned = False
        while self.columns:
            self.columns = [c for c in self.columns if any(r[c] for r in self.table)]
            if not self.columns:
                break
            column, exact = choose_column(self.table, self.columns)
            if not exact and not cleaned and len(self.table) > 2:
                cleaned = True
                self._drop_redundant(equalities)
                continue
            if not exact and not self.force:
                break
            self.exact = self.exact and exact
            self.columns.remove(column)
            self.eliminate(column)
            if len(self.table) > self.most:
                self._drop_redundant(equalities)
                self.most = max(self.most, 2 * len(self.table))
            self.hidden += hidden_equalities(self.table)
            if any(row[c] for row in self.hidden for c in self.columns):
                return True
        return False

    def _drop_redundant(self, equalities: list[Row]) -> None:
        kept = irredundant(equalities, _rows(self.table), (), (), self.width)
        self.restart({r[:-1]: r[-1] for r in kept})


def irredundant(
    equalities: Sequence[Row],
    inequalities: Sequence[Row],
    known_equalities: Sequence[Row],
    known_inequalities: Sequence[Row],
    width: int,
    point: Sequence[int] | None = None,
) -> list[Row]:
    """The inequalities without those that the others, the equalities and the known rows imply over the integers.

    A `point` that satisfies all of them saves work.
    """
    equal = [*equalities, *known_equalities]
    apart = set() if equal else windows(inequalities, known_inequalities)
    rows = [r for r in inequalities if r not in apart] if apart else list(inequalities)
    needed = set() if point is None else alone_violated(equal, rows, known_inequalities, point)
    if len(needed) == len(rows):
        return list(inequalities)
    sums = Sums(equal, [*rows, *known_inequalities], width)
    for row in reversed(rows.copy()):
        if row in needed:
            continue
        sums.drop(row)
        if sums.give(row, FEW_SUMS) or (
            not sums.leave_open(row)
            and _surely_implied(equal, [r for r in rows if r is not row], known_inequalities, row, point, sums)
        ):
            rows.remove(row)
        else:
            sums.put_back(row)
    return [r for r in inequalities if r in apart or r in rows] if apart else rows


def _surely_implied(
    equalities: Sequence[Row],
    own: Sequence[Row],
    known: Sequence[Row],
    row: Row,
    point: Sequence[int] | None,
    sums: Sums,
) -> bool:
    width = len(row) - 1
    opposite = (*[-c for c in row[:-1]], -row[-1] - 1)
    if not equalities and repaired([opposite, *own, *known], width, point) is not None:
        return False
    if sums.give(row):
        return True
    ((_, rest),) = _connected([row], [equalities, own, known], width)
    return is_surely_empty(rest[0], [*rest[1], *rest[2], opposite], width)


def _connected(
    rows: Sequence[Row], more: Sequence[Sequence[Row]], width: int
) -> list[tuple[list[Row], list[list[Row]]]]:
    """`rows` in groups that share no column even through the rows in `more`, each with its part of those."""
    bits = [1 << i for i in range(width)] + [0]
    tagged = [(sum(compress(bits, row)), -1, row) for row in rows]
    tagged += [(sum(compress(bits, row)), i, row) for i, part in enumerate(more) for row in part]
    groups: list[tuple[int, list[tuple[int, Row]]]] = []
    for used, kind, row in tagged:
        joined = [(kind, row)]
        apart = []
        for group in groups:
            if used & group[0]:
                used |= group[0]
                joined = group[1] + joined
            else:
                apart.append(group)
        groups = [*apart, (used, joined)]
    return [
        ([r for k, r in joined if k < 0], [[r for k, r in joined if k == i] for i in range(len(more))])
        for _, joined in groups
        if any(k < 0 for k, _ in joined)
    ]


def implies(equalities: Sequence[Row], inequalities: Sequence[Row], row: Row, width: int) -> bool:
    """Whether `row >= 0` holds at every integer point of the rows; False also where that is hard to say."""
    sums = Sums(equalities, inequalities, width)
    if sums.leave_open(row):
        return False
    if sums.give(row):
        return True
    opposite = (*tuple(map(neg, row[:-1])), -row[-1] - 1)
    if not equalities and repaired([opposite, *inequalities], width) is not None:
        return False
    return is_surely_empty(equalities, [*inequalities, opposite], width)
