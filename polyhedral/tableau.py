"""The lexicographic dual simplex on integer rows whose constants are expressions of parameters.

Variables are counted from minus a number M that is larger than anything else, so that none is negative. A line says
that something, a variable or how far a condition is from failing, is

    (big * M + fixed . (parameters, 1) + sum of columns[j] * y[j]) / denominator

where the y are the somethings that are 0 at the vertex; all of them are integers of at least 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

from polyhedral.rows import Row


class Line(NamedTuple):
    """One line of a tableau; the constant stands first in `fixed`, so that parameters may be added behind."""

    denominator: int
    big: int
    fixed: Row
    columns: Row

    @property
    def is_whole(self) -> bool:
        """Whether it is an integer at the vertex at all values of the parameters."""
        return self.denominator == 1 or not any(c % self.denominator for c in self.fixed)


Tableau = tuple[Line, ...]


def start(rows: Sequence[Row], variables: int, parameters: int) -> Tableau:
    """The tableau of inequalities, each its coefficients of the variables, of the parameters, and the constant."""
    lines = [Line(1, 0, (0,) * (parameters + 1), _unit(k, variables)) for k in range(variables)]
    for row in rows:
        own, fixed = row[:variables], row[variables:]
        lines.append(Line(1, -sum(own), (fixed[-1], *fixed[:-1]), own))
    return tuple(lines)


def _unit(column: int, width: int) -> Row:
    return tuple([1 if k == column else 0 for k in range(width)])


def best_column(tableau: Tableau, line: Line, variables: int) -> int | None:
    """The column that takes the line's own place with the lexicographically least loss, None where none can."""
    best: int | None = None
    for column, factor in enumerate(line.columns):
        if factor > 0 and (best is None or _is_less(tableau[:variables], column, factor, best, line.columns[best])):
            best = column
    return best


def _is_less(lines: Tableau, column: int, factor: int, other: int, other_factor: int) -> bool:
    for line in lines:
        one, two = line.columns[column] * other_factor, line.columns[other] * factor
        if one != two:
            return one < two
    return False


def pivot(tableau: Tableau, line: Line, column: int) -> Tableau:
    """The tableau at the vertex where `line` is 0 and what stood in the column is not."""
    return tuple([_pivoted(other, line, column) if other.columns[column] else other for other in tableau])


def _pivoted(line: Line, at: Line, column: int) -> Line:
    a, b = at.columns[column], line.columns[column]
    columns = [a * x - b * y for x, y in zip(line.columns, at.columns, strict=True)]
    columns[column] = b * at.denominator
    fixed = [a * x - b * y for x, y in zip(line.fixed, at.fixed, strict=True)]
    return _reduced(line.denominator * a, a * line.big - b * at.big, fixed, columns)


def _reduced(denominator: int, big: int, fixed: Sequence[int], columns: Sequence[int]) -> Line:
    divisor = gcd(denominator, big, *fixed, *columns)
    if divisor == 1:
        return Line(denominator, big, tuple(fixed), tuple(columns))
    return Line(
        denominator // divisor,
        big // divisor,
        tuple([c // divisor for c in fixed]),
        tuple([c // divisor for c in columns]),
    )


def remainder_of(line: Line) -> Row:
    """The row over the constant and the parameters whose remainder by the denominator the columns must make up for."""
    return tuple([-c % line.denominator for c in line.fixed])


def cut(line: Line, quotient: int | None) -> Line:
    """Gomory's cut of a line; the constant at `quotient` is the quotient of the remainder by the denominator."""
    return _reduced(line.denominator, 0, _missing(line, quotient), [c % line.denominator for c in line.columns])


def _missing(line: Line, quotient: int | None) -> list[int]:
    fixed = [-c for c in remainder_of(line)]
    if quotient is not None:
        fixed[quotient] += line.denominator
    return fixed


def made_whole(line: Line, quotient: int | None) -> Line:
    """The line where what its cut misses is 0."""
    fixed = [x - y for x, y in zip(line.fixed, _missing(line, quotient), strict=True)]
    return _reduced(line.denominator, line.big, fixed, line.columns)


def with_parameter(tableau: Tableau) -> Tableau:
    """The tableau with one more parameter, which does not occur."""
    return tuple([line._replace(fixed=(*line.fixed, 0)) for line in tableau])
