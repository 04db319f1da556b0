"""Integer points by the lexicographic dual simplex with Gomory's cuts."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

from polyhedral.rows import Row
from polyhedral.tableau import Tableau, best_column, cut, pivot, start


class TooManySteps(Exception):
    """Neither a point nor a contradiction was found in the steps allowed. It never leaves the package."""


def point_by_cuts(rows: Sequence[Row], width: int, most: int) -> list[int] | None:
    """Integer values of the `width` columns at which no row is negative, or None where there are none. Exact.

    Raises TooManySteps where `most` pivots do not tell.
    """
    tableau = start(rows, width, 0)
    for _ in range(most):
        line = next((x for x in tableau if x.big < 0 or (x.big == 0 and x.fixed[0] < 0)), None)
        if line is None:
            broken = next((x for x in tableau[:width] if not x.is_whole), None)
            if broken is None:
                return _point(tableau, width)
            line = cut(broken, None)
            tableau = (*tableau, line)
        column = best_column(tableau, line, width)
        if column is None:
            return None
        tableau = pivot(tableau, line, column)
    raise TooManySteps


def _point(tableau: Tableau, width: int) -> list[int]:
    """The vertex with M the least number at which nothing is negative and all variables are whole."""
    period = lcm(*[line.denominator for line in tableau[:width]])
    least = max((-(line.fixed[0] // (line.big * period)) for line in tableau[width:] if line.big), default=0)
    big = period * max(least, 0)
    return [(line.big * big + line.fixed[0]) // line.denominator - big for line in tableau[:width]]
