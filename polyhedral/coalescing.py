"""Pieces of a union joined and dropped, and the system around them."""

from __future__ import annotations

from functools import lru_cache

from polyhedral.difference import difference, negations
from polyhedral.spelling import is_existential
from polyhedral.system import FALSE, UNIVERSE, System, disjoint, make


@lru_cache(maxsize=1 << 10)
def coalesced(pieces: tuple[System, ...]) -> tuple[System, ...]:
    """The same union without pieces inside others, neighbours joined where their hull is no more than both."""
    kept: list[System] = []
    for piece in pieces:
        if any(not difference(piece, k) for k in kept):
            continue
        kept = [k for k in kept if difference(k, piece)]
        kept.append(piece)
    while (joined := _join_one(kept)) is not None:
        kept = joined
    return tuple(kept)


def _join_one(pieces: list[System]) -> list[System] | None:
    for i, first in enumerate(pieces):
        for j in range(i + 1, len(pieces)):
            hull = simple_hull((first, pieces[j]))
            if hull.is_universe and len(pieces) > 2:
                continue
            if all(not difference(s, pieces[j]) for s in difference(hull, first)):
                return [*pieces[:i], hull, *pieces[i + 1 : j], *pieces[j + 1 :]]
    return None


def simple_hull(pieces: tuple[System, ...]) -> System:
    """The conjunction of those conditions of the pieces that every piece satisfies."""
    if not pieces:
        return FALSE
    if len(pieces) == 1:
        return pieces[0]
    result = UNIVERSE
    for piece in pieces:
        for condition in _single_conditions(piece):
            if all(disjoint(other, n) for n in negations(condition) for other in pieces):
                result = result & condition
    return result.simplified()


@lru_cache(maxsize=1 << 12)
def _single_conditions(piece: System) -> tuple[System, ...]:
    found: list[System] = []
    for row in piece.inequalities:
        if not any(c and is_existential(n) for n, c in zip(piece.names, row, strict=False)):
            found.append(make(piece.names, (), (row,)))
    for row in piece.equalities:
        own = [n for n, c in zip(piece.names, row, strict=False) if c and is_existential(n)]
        if not own:
            opposite = tuple(-c for c in row)
            found += [make(piece.names, (), (row,)), make(piece.names, (), (opposite,))]
        found.append(make(piece.names, (row,), ()))
    return tuple(found)
