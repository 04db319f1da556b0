"""Fourier-Motzkin steps on a table of inequalities, with a history that keeps the tables small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from operator import neg

from polyhedral.rows import Contradiction, Row, Table, scaled_sum


class Shadow:
    """A table from which columns are eliminated; each row knows the set of first rows it comes from, as bits.

    After k eliminations a row that comes from more than k + 1 first rows is implied by the others
    (Kohler). A row that the integers tightened counts as a first row of its own.
    """

    def __init__(self, table: Table) -> None:
        self.restart(table)

    def restart(self, table: Table) -> None:
        """Takes the rows of `table` as the first ones."""
        self.table = table
        self.history = {c: 1 << i for i, c in enumerate(table)}
        self.firsts = len(table)
        self.eliminated = 0

    def joins_more_than(self, pairs: int, column: int) -> bool:
        """Whether the elimination of a column joins more than so many pairs of a lower and an upper bound."""
        if len(self.table) ** 2 <= 4 * pairs:
            return False
        signs = [c[column] for c in self.table if c[column]]
        below = sum(map((0).__lt__, signs))
        return below * (len(signs) - below) > pairs

    def eliminate(self, column: int) -> tuple[list[Row], list[Row]]:
        """Puts the shadow in place of the table; returns the lower and upper bounds on `column` that it had."""
        lower, upper, rest = split(self.table, column)
        self.eliminated += 1
        most = self.eliminated + 1
        before = self.history
        self.table = rest
        self.history = {c: before[c] for c in rest}
        above = [(high, before[high[:-1]], -high[column]) for high in upper]
        for low in lower:
            own, scale = before[low[:-1]], low[column]
            for high, other, factor in above:
                history = own | other
                if history.bit_count() <= most:
                    self._add(scaled_sum(factor, low, scale, high), history)
        return lower, upper

    def _add(self, row: Row, history: int) -> None:
        coefficients, constant = row[:-1], row[-1]
        divisor = gcd(*coefficients)
        if divisor == 0:
            if constant < 0:
                raise Contradiction
            return
        if divisor > 1:
            coefficients = tuple([c // divisor for c in coefficients])
            constant //= divisor
            if constant * divisor != row[-1]:
                history = 1 << self.firsts
                self.firsts += 1
        old = self.table.get(coefficients)
        if old is None or constant < old:
            self.table[coefficients] = constant
            self.history[coefficients] = history
        elif constant == old and history.bit_count() < self.history[coefficients].bit_count():
            self.history[coefficients] = history


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
