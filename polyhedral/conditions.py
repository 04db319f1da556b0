"""Conditions as parts of a system, and back."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from math import gcd
from operator import itemgetter

from polyhedral.affine import Affine, Congruence, Constraint
from polyhedral.part import Parts, part, parts_of
from polyhedral.spelling import Spelling, dense, normal

_AFFINE = itemgetter(0)


def of_one(condition: Constraint) -> Parts:
    """One equality or inequality."""
    affine = condition.affine
    names = affine.names
    _check_not_reserved(names)
    row = (*[c for _, c in affine.terms], affine.constant)
    divisor = gcd(*row[:-1])
    if condition.equality:
        return parts_of(normal(names, (row,), ()))
    if not divisor:
        return parts_of(normal(names, (), (row,)))
    row = row if divisor == 1 else tuple([c // divisor for c in row])
    return (part(Spelling(names, (), (row,))),)


def _check_not_reserved(names: Iterable[str]) -> None:
    reserved = [n for n in names if n[:1] == "$"]
    if reserved:
        raise ValueError(f"the variable name {reserved[0]!r} is reserved: names that start with $ are existential")


def of_affine(equal: list[tuple[Affine, int]], unequal: list[Affine]) -> Parts:
    """Expressions that are multiples of the number beside them, 0 where that is 0, and those that are not negative."""
    found = {n for a in chain(map(_AFFINE, equal), unequal) for n, _ in a.terms}
    _check_not_reserved(found)
    names = sorted([*found, *(f"${i}" for i, (_, modulus) in enumerate(equal) if modulus)])
    index = {n: i for i, n in enumerate(names)}
    rows = []
    for i, (affine, modulus) in enumerate(equal):
        row = list(dense(affine, index))
        if modulus:
            row[index[f"${i}"]] = -modulus
        rows.append(tuple(row))
    return parts_of(normal(tuple(names), rows, [dense(a, index) for a in unequal]))


def congruence(affine: Affine, own: str) -> Congruence:
    """The condition that `affine` is 0 for some integer `own`."""
    modulus = abs(affine.coefficient(own))
    rest = affine.substitute({own: 0})
    terms = {n: c % modulus for n, c in rest.terms}
    return Congruence(Affine.of(terms, rest.constant % modulus), modulus)
