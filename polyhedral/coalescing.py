"""Pieces of a union joined and dropped, and the system around them."""

from __future__ import annotations

from functools import lru_cache

from polyhedral.difference import difference, negations
from polyhedral.part import Part, Parts, in_place, part
from polyhedral.parts import linked, rows_of
from polyhedral.points import is_seen_outside
from polyhedral.spelling import Spelling
from polyhedral.system import FALSE, UNIVERSE, System, disjoint, make

MOST_QUESTIONS, QUESTIONS_OF_QUOTIENTS = 1 << 10, 8


@lru_cache(maxsize=1 << 10)
def coalesced(pieces: tuple[System, ...]) -> tuple[System, ...]:
    """The same union without pieces inside others, neighbours joined where their hull is no more than both.

    At most `MOST_QUESTIONS` are asked of pairs of pieces, so that a union of hundreds of them may keep some apart.
    """
    pairs = _Pairs(MOST_QUESTIONS)
    kept: list[System] = []
    for piece in pieces:
        met = [k for k in kept if pairs.spend(1) and not disjoint(piece, k) and pairs.may_be_compared(piece, k)]
        if any(not difference(piece, k) for k in met):
            continue
        kept = [k for k in kept if k not in met or difference(k, piece)]
        kept.append(piece)
    while (joined := _join_one(kept, pairs)) is not None:
        kept = joined
    return tuple(kept)


def _join_one(pieces: list[System], pairs: _Pairs) -> list[System] | None:
    for i, first in enumerate(pieces):
        for j in range(i + 1, len(pieces)):
            hull = pairs.joined(first, pieces[j])
            if hull is not None and not (hull.is_universe and len(pieces) > 2):
                return [*pieces[:i], hull, *pieces[i + 1 : j], *pieces[j + 1 :]]
    return None


class _Pairs:
    """Pairs of the pieces of one union: how many questions are `left` for them, and what they make where joined."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.hulls: dict[tuple[System, System], System | None] = {}

    def spend(self, questions: int) -> bool:
        """Whether so many more questions may be asked."""
        self.left -= questions
        return self.left >= 0

    def may_be_compared(self, first: System, second: System) -> bool:
        """Whether what one piece has and another has not may still be asked; of quotients that is several questions."""
        return self.spend(1 if _is_plain(first) and _is_plain(second) else QUESTIONS_OF_QUOTIENTS)

    def joined(self, first: System, second: System) -> System | None:
        """The hull of two pieces where it has no other point, None where it has or no question is left."""
        pair = first, second
        if pair not in self.hulls:
            self.hulls[pair] = _joined(first, second) if self.may_be_compared(first, second) else None
        return self.hulls[pair]


@lru_cache(maxsize=1 << 12)
def _joined(first: System, second: System) -> System | None:
    """The hull of two systems where it has no other point: none where a condition of each fails."""
    if not (_is_plain(first) and _is_plain(second)):
        hull = simple_hull((first, second))
        return hull if all(not difference(s, second) for s in difference(hull, first)) else None
    if _differ_in_two_ways(first.parts, second.parts):
        return None
    around: list[System] = []
    failing: list[list[System]] = []
    for piece, other in ((first, second), (second, first)):
        side = _failing(piece, other)
        around.append(_without(piece, side))
        failing.append([n for c in side for n in negations(c)])
    if any(not disjoint(*around, one, other) for one in failing[0] for other in failing[1]):
        return None
    return simple_hull((first, second))


def _differ_in_two_ways(first: Parts, second: Parts) -> bool:
    """Whether the first is not inside the second on some variables, nor the second inside the first on others.

    No row ties the ones to the others. A hull then has points of neither: of the first there, of the second here.
    """
    groups = [(own, theirs) for own, theirs in linked(first, second) if own != theirs]
    if len(groups) < 2:
        return False
    seen = [is_seen_outside(own, theirs) for own, theirs in groups]
    for place, (own, theirs) in enumerate(groups):
        if any(seen[:place] + seen[place + 1 :]) and _reaches_out(own, theirs):
            return True
    return False


def _reaches_out(own: Parts, theirs: Parts) -> bool:
    """Whether some point of parts does not satisfy others."""
    if is_seen_outside(theirs, own):
        return True
    near = System(own)
    return not all(_is_implied(c, near) for one in theirs for c in _conditions(one))


@lru_cache(maxsize=1 << 12)
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
    kept: list[Part] = []
    for one in piece.parts:
        own = _conditions(one)
        if not any(c in failing for c in own):
            kept.append(one)
        elif not one.own and not one.equalities:
            kept += rows_of(one, [c not in failing for c in own])
        else:
            kept += System.of(*(c for c in own if c not in failing)).parts
    return System(in_place(kept))


@lru_cache(maxsize=1 << 12)
def _failing(piece: System, other: System) -> tuple[System, ...]:
    """The conditions of a piece that not all points of the other satisfy."""
    found: list[System] = []
    for one in piece.parts:
        if one not in other.parts:
            found += _failing_of(one, tuple([p for p in other.parts if not p.visible.isdisjoint(one.visible)]))
    return tuple(found) if not found or not other.is_empty() else ()


@lru_cache(maxsize=1 << 12)
def _failing_of(one: Part, others: Parts) -> tuple[System, ...]:
    """The conditions of a part that not all points of others that share its variables satisfy."""
    near = System(others)
    if near.is_empty():
        return ()
    known = _single_conditions(near)
    return tuple([c for c in _conditions(one) if c not in known and not _is_implied(c, near)])


def _is_implied(condition: System, piece: System) -> bool:
    return not is_seen_outside(condition.parts, piece.parts) and all(disjoint(piece, n) for n in negations(condition))


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


def _single_conditions(piece: System) -> tuple[System, ...]:
    parts = piece.parts
    return _conditions(parts[0]) if len(parts) == 1 else tuple([c for p in parts for c in _conditions(p)])


@lru_cache(maxsize=1 << 12)
def _conditions(piece: Part) -> tuple[System, ...]:
    found: list[System] = []
    for row in piece.inequalities:
        if not any(row[: piece.own]):
            used = [i for i, c in enumerate(row[:-1]) if c]
            names = tuple([piece.names[i] for i in used])
            found.append(System((part(Spelling(names, (), (tuple([row[i] for i in (*used, -1)]),))),)))
    for row in piece.equalities:
        if not any(row[: piece.own]):
            opposite = tuple([-c for c in row])
            found += [make(piece.names, (), (row,)), make(piece.names, (), (opposite,))]
        found.append(make(piece.names, (row,), ()))
    return tuple(found)
