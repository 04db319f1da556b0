"""What one part of a system says of a variable: its rows, its bounds, its values."""

from __future__ import annotations

from functools import lru_cache
from operator import neg
from typing import TypeAlias

from polyhedral.affine import Affine
from polyhedral.part import Part, Parts
from polyhedral.parts import rows_of
from polyhedral.rows import Row

Bounds: TypeAlias = tuple[tuple[tuple[Affine, int], ...], tuple[tuple[Affine, int], ...]]


@lru_cache(maxsize=1 << 13)
def split(one: Part, name: str) -> tuple[Parts, Parts]:
    """The rows in which `name` occurs, and the others."""
    column = one.names.index(name)
    chosen = [bool(r[column]) for r in one.equalities + one.inequalities]
    return ((one,), ()) if all(chosen) else (rows_of(one, chosen), rows_of(one, [not c for c in chosen]))


@lru_cache(maxsize=1 << 13)
def rows_about(one: Part, name: str) -> Parts:
    """The rows in which `name` occurs."""
    column = one.names.index(name)
    chosen = [bool(r[column]) for r in one.equalities + one.inequalities]
    return (one,) if all(chosen) else rows_of(one, chosen)


@lru_cache(maxsize=1 << 13)
def bounds(one: Part, name: str) -> Bounds:
    """The (expression, divisor) pairs e, d with name >= ceil(e/d), and those with name <= floor(e/d)."""
    column = one.names.index(name)
    signs = [*one.inequalities, *one.equalities, *(tuple(map(neg, r)) for r in one.equalities)]
    lower = tuple([_bound(one, r, column) for r in signs if r[column] > 0])
    upper = tuple([_bound(one, r, column) for r in signs if r[column] < 0])
    return lower, upper


@lru_cache(maxsize=1 << 13)
def has_steep_bounds(one: Part, name: str) -> bool:
    """Whether there is a lower bound and an upper one whose divisors are above one."""
    column = one.names.index(name)
    found = [r[column] for r in one.inequalities]
    equal = [abs(r[column]) for r in one.equalities]
    return max([0, *found, *equal]) > 1 and min([0, *found, *[-c for c in equal]]) < -1


def solved_for(one: Part, name: str) -> Affine | None:
    """What `name` is equal to, where an equality without existentials has it with coefficient 1, else None."""
    column = one.names.index(name)
    for row in one.equalities:
        if abs(row[column]) == 1 and not any(row[: one.own]):
            found, _ = _bound(one, row, column)
            return found
    return None


def constant_of(one: Part, name: str) -> int | None:
    """The one value of `name` where an equality says it, else None."""
    column = one.names.index(name)
    return next((-r[-1] for r in one.equalities if r[column] and sum(map(bool, r[:-1])) == 1), None)


def _bound(one: Part, row: Row, column: int) -> tuple[Affine, int]:
    sign = -1 if row[column] > 0 else 1
    terms = [(n, sign * c) for i, (n, c) in enumerate(zip(one.names, row, strict=False)) if c and i != column]
    return Affine(tuple(terms), sign * row[-1]), abs(row[column])
