"""What of a system is left to say where a context is known."""

from __future__ import annotations

from operator import neg

from polyhedral.elimination import implies, irredundant
from polyhedral.emptiness import integer_point
from polyhedral.rows import Row
from polyhedral.spelling import Spelled, Spelling, aligned, is_existential, normal


def without_redundant(system: Spelled, context: Spelled) -> Spelling:
    """The system without the inequalities that its other rows and the context imply."""
    names, (own, known) = aligned(system, context)
    kept = irredundant(own[0], own[1], known[0], known[1], len(names))
    return normal(names, own[0], kept)


def without_known(system: Spelled, context: Spelled) -> Spelling:
    """The system without the rows, equalities and congruences too, that its other rows and the context imply."""
    names, (own, known) = aligned(system, context)
    width = len(names)
    equal = list(own[0])
    for row in own[0]:
        others = [*known[0], *(r for r in equal if r is not row)]
        if _equality_is_implied(row, others, [*known[1], *own[1]], names):
            equal.remove(row)
    kept = irredundant(equal, own[1], known[0], known[1], width)
    return normal(names, equal, kept)


def _equality_is_implied(row: Row, equalities: list[Row], inequalities: list[Row], names: tuple[str, ...]) -> bool:
    width = len(names)
    own = [i for i, n in enumerate(names) if is_existential(n) and row[i]]
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
