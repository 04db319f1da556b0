"""What of some rows is left to say where others are known."""

from __future__ import annotations

from functools import lru_cache
from itertools import compress, count
from operator import neg

from polyhedral.elimination import implies, irredundant
from polyhedral.emptiness import Nearby, integer_point, point_in
from polyhedral.rows import Row
from polyhedral.spelling import Rows

_IS_POSITIVE, _IS_NEGATIVE = (0).__lt__, (0).__gt__


@lru_cache(maxsize=1 << 14)
def needed(
    own: Rows, known: Rows, equalities_too: bool, existential: int, width: int, near: Nearby | None
) -> tuple[bool, ...]:
    """For each row of `own`, equalities and then inequalities, whether something would be lost without it.

    A point `near` that satisfies all of them saves work.
    """
    point = point_in((*own[0], *known[0]), (*own[1], *known[1]), width) if near is None else near
    equal = list(own[0])
    if equalities_too:
        for row in own[0]:
            others = [*known[0], *(r for r in equal if r is not row)]
            if _equality_is_implied(row, others, [*known[1], *own[1]], existential, width):
                equal.remove(row)
    said = set(known[1])
    unsaid = [r for r in own[1] if r not in said]
    kept = {*equal, *irredundant(equal, unsaid, known[0], known[1], width, point)} if unsaid else set(equal)
    return tuple([r in kept for part in own for r in part])


@lru_cache(maxsize=1 << 13)
def are_lone_bounds(rows: tuple[Row, ...], free: tuple[bool, ...]) -> bool:
    """Whether each row is the only one on its side of some column that is free: what it says no others can say."""
    lone: set[int] = set()
    for column in compress(zip(*rows, strict=True), free):
        for side in (_IS_POSITIVE, _IS_NEGATIVE):
            numbers = list(compress(count(), map(side, column)))
            lone.update(numbers if len(numbers) == 1 else ())
    return len(lone) == len(rows)


def _equality_is_implied(
    row: Row, equalities: list[Row], inequalities: list[Row], existential: int, width: int
) -> bool:
    own = [i for i in range(existential) if row[i]]
    if not own:
        return implies(equalities, inequalities, row, width) and implies(
            equalities, inequalities, tuple(map(neg, row)), width
        )
    if len(own) > 1 or any(r[own[0]] for r in (*equalities, *inequalities)):
        return False
    modulus = abs(row[own[0]])
    rest = row if row[own[0]] > 0 else tuple(map(neg, row))
    window = [(*rest[:-1], rest[-1] - 1), (*tuple(map(neg, rest[:-1])), modulus - 1 - rest[-1])]
    return integer_point(equalities, [*inequalities, *window], width) is None
