"""Pieces of a union joined and dropped, and the system around them."""

from __future__ import annotations

from functools import lru_cache

from polyhedral.difference import difference, negations
from polyhedral.parts import part
from polyhedral.spelling import Spelling, is_existential
from polyhedral.system import FALSE, UNIVERSE, System, disjoint, make, with_rows


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
            hull = _joined(first, pieces[j])
            if hull is not None and not (hull.is_universe and len(pieces) > 2):
                return [*pieces[:i], hull, *pieces[i + 1 : j], *pieces[j + 1 :]]
    return None


@lru_cache(maxsize=1 << 12)
def _joined(first: System, second: System) -> System | None:
    """The hull of two systems where it has no other point: none where a condition of each fails."""
    if not (_is_plain(first) and _is_plain(second)):
        hull = simple_hull((first, second))
        return hull if all(not difference(s, second) for s in difference(hull, first)) else None
    sides = (_failing(first, second), _failing(second, first))
    failing = [[n for c in side for n in negations(c)] for side in sides]
    around = [_without(piece, side) for piece, side in zip((first, second), sides, strict=True)]
    if any(not disjoint(*around, one, other) for one in failing[0] for other in failing[1]):
        return None
    return simple_hull((first, second))


def _is_plain(piece: System) -> bool:
    """Whether the piece is no more than its single conditions."""
    if not piece.exists:
        return True
    try:
        return len(piece.conditions) > 0
    except ValueError:
        return False


def _without(piece: System, failing: tuple[System, ...]) -> System:
    """The piece without its conditions that are said to fail."""
    if not failing:
        return piece
    if not piece.equalities and not piece.exists:
        return with_rows(piece, [c not in failing for c in _single_conditions(piece)])
    kept = UNIVERSE
    for condition in _single_conditions(piece):
        kept = kept & condition if condition not in failing else kept
    return kept


@lru_cache(maxsize=1 << 12)
def _failing(piece: System, other: System) -> tuple[System, ...]:
    """The conditions of a piece that not all points of the other satisfy."""
    known = frozenset(_single_conditions(other))
    return tuple([c for c in _single_conditions(piece) if c not in known and not _is_implied(c, other)])


def _is_implied(condition: System, piece: System) -> bool:
    return all(disjoint(piece, n) for n in negations(condition))


def simple_hull(pieces: tuple[System, ...]) -> System:
    """The conjunction of those conditions of the pieces that every piece satisfies."""
    if not pieces:
        return FALSE
    if len(pieces) == 1:
        return pieces[0]
    result = UNIVERSE
    for piece in pieces:
        failing = {c for other in pieces if other is not piece for c in _failing(piece, other)}
        for condition in _single_conditions(piece):
            if condition not in failing:
                result = result & condition
    return result.simplified()


@lru_cache(maxsize=1 << 12)
def _single_conditions(piece: System) -> tuple[System, ...]:
    found: list[System] = []
    for row in piece.inequalities:
        if not any(c and is_existential(n) for n, c in zip(piece.names, row, strict=False)):
            used = [i for i, c in enumerate(row[:-1]) if c]
            names = tuple([piece.names[i] for i in used])
            found.append(System((part(Spelling(names, (), (tuple([row[i] for i in (*used, -1)]),))),)))
    for row in piece.equalities:
        own = [n for n, c in zip(piece.names, row, strict=False) if c and is_existential(n)]
        if not own:
            opposite = tuple(-c for c in row)
            found += [make(piece.names, (), (row,)), make(piece.names, (), (opposite,))]
        found.append(make(piece.names, (row,), ()))
    return tuple(found)
