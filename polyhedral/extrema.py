"""Lexicographically first and last points as functions of the parameters."""

from __future__ import annotations

from attrs import frozen

from polyhedral.affine import Affine, FloorDiv, as_affine, var
from polyhedral.difference import difference
from polyhedral.maps import Map
from polyhedral.quotients import definition
from polyhedral.sets import Set
from polyhedral.spelling import is_existential
from polyhedral.system import System

MOST_ROUNDS = 1 << 12


@frozen
class Piece:
    """Where `domain`, a system over the parameters, holds, the point has the coordinates `point`.

    Coordinates are expressions of the parameters and of `quotients`, each of which may use those before it.
    """

    domain: System
    point: tuple[Affine, ...]
    quotients: tuple[tuple[str, FloorDiv], ...] = ()

    def evaluate(self, params: dict[str, int]) -> tuple[int, ...]:
        """The point at parameters that are in the domain."""
        known = dict(params)
        for name, quotient in self.quotients:
            known[name] = quotient.evaluate(known)
        return tuple(a.evaluate(known) for a in self.point)


@frozen
class PiecewisePoint:
    """A point as a function of the parameters: pieces of which no two domains meet, none where there is no point."""

    dims: tuple[str, ...]
    pieces: tuple[Piece, ...]

    def at(self, params: dict[str, int]) -> tuple[int, ...] | None:
        """The point at these parameters, None where there is none."""
        for piece in self.pieces:
            if piece.domain.holds(params):
                return piece.evaluate(params)
        return None

    def __str__(self) -> str:
        lines = []
        for piece in self.pieces:
            where = "".join(f", {n} = {q}" for n, q in piece.quotients)
            lines.append(f"({', '.join(map(str, piece.point))}) where {piece.domain}{where}")
        return "\n".join(lines)


def first_points(points: Set) -> PiecewisePoint:
    """The lexicographically first point for every value of the parameters. Exact over the integers.

    Raises ValueError where a dimension is not bounded from below for some parameters with points. Pieces with
    existentials that are more than congruences may take very long.
    """
    return PiecewisePoint(points.dims, tuple(_first(points, points.dims, True)))


def last_points(points: Set) -> PiecewisePoint:
    """The lexicographically last point for every value of the parameters; as `first_points`."""
    return PiecewisePoint(points.dims, _turned(_first(_mirrored(points), points.dims, True)))


def _mirrored(points: Set) -> Set:
    return Set(points.dims, tuple(p.substitute({d: -var(d) for d in points.dims}) for p in points.pieces))


def _turned(found: list[Piece]) -> tuple[Piece, ...]:
    return tuple(Piece(p.domain, tuple(as_affine(a * -1) for a in p.point), p.quotients) for p in found)


def first_images(pairs: Map) -> Map:
    """Each input with its lexicographically first output only. Exact; ValueError as of `first_points`."""
    return _of_points(pairs, tuple(_first(Set(pairs.out_dims, pairs.pieces), pairs.out_dims, False)))


def last_images(pairs: Map) -> Map:
    """Each input with its lexicographically last output only; as `first_images`."""
    return _of_points(pairs, _turned(_first(_mirrored(Set(pairs.out_dims, pairs.pieces)), pairs.out_dims, False)))


def _of_points(pairs: Map, found: tuple[Piece, ...]) -> Map:
    pieces = []
    for piece in found:
        at = [var(d).equals(value) for d, value in zip(pairs.out_dims, piece.point, strict=True)]
        whole = System.of(piece.domain, *at, *(definition(n, q) for n, q in piece.quotients))
        pieces.append(whole.quantified([n for n, _ in piece.quotients]))
    return Map(pairs.in_dims, pairs.out_dims, tuple(pieces)).normalised()


def _first(points: Set, dims: tuple[str, ...], apart: bool) -> list[Piece]:
    if not dims:
        return [Piece(p, ()) for p in (points.disjoint() if apart else points).pieces]
    head, rest = dims[0], dims[1:]
    found: list[Piece] = []
    for domain, value, quotients in _least(points.project_onto(head), head, apart):
        known = domain
        for name, quotient in quotients:
            known = known & definition(name, quotient)
        inner = Set(rest, tuple(p & known for p in points.substitute({head: value}).pieces)).normalised()
        for piece in _first(inner, rest, apart):
            own = tuple((n, q) for n, q in (*quotients, *piece.quotients))
            hidden = [n for n, _ in quotients]
            found.append(Piece(piece.domain.project_out(*hidden), (value, *piece.point), own))
    return found


_Least = tuple[System, Affine, tuple[tuple[str, FloorDiv], ...]]


def _least(line: Set, head: str, apart: bool) -> list[_Least]:
    other = f"{head}~"
    found: list[_Least] = []
    for piece in line.disjoint().pieces:
        for candidate in _candidates(piece, head):
            below = _below(line, head, other)
            at = candidate[0] & piece
            minimal = [at]
            for lower in below:
                minimal = [s for m in minimal for s in difference(m, lower)]
            for system in minimal:
                domain = system.project_out(head)
                if not domain.is_empty():
                    found.append((domain, candidate[1], candidate[2]))
    left = line.project_out(head)
    for domain, _, _ in found:
        left = left - Set((), (domain,))
    if not left.is_empty():
        raise ValueError(f"no bound of {head} says its first value where {left}")
    return _apart(found) if apart else found


def _below(line: Set, head: str, other: str) -> list[System]:
    return [(p.rename({head: other}) & System.of(var(other) < var(head))).project_out(other) for p in line.pieces]


def _candidates(piece: System, head: str) -> list[_Least]:
    lower = [(a, d) for a, d in piece.eliminate()[0].bounds(head)[0] if not any(is_existential(n) for n in a.names)]
    if not lower:
        raise ValueError(f"{head} is not bounded from below in {piece}: there is no first point")
    found: list[_Least] = []
    for number, (affine, divisor) in enumerate(lower):
        start: Affine = affine
        quotients: tuple[tuple[str, FloorDiv], ...] = ()
        if divisor != 1:
            start = var(f"{head}_first{number}")
            quotients = ((f"{head}_first{number}", FloorDiv(affine + (divisor - 1), divisor)),)
        for shift in range(_period(piece, head)):
            where = System.of(var(head).equals(start + shift), *(definition(n, q) for n, q in quotients))
            found.append((where.quantified([n for n, _ in quotients]), start + shift, quotients))
    return found


def _period(piece: System, head: str) -> int:
    period = 1
    for column, name in enumerate(piece.names):
        if is_existential(name):
            rows = (*piece.equalities, *piece.inequalities)
            period *= max(abs(row[column]) for row in rows if row[column])
    if period > MOST_ROUNDS:
        raise ValueError(f"the first value of {head} has {period} candidates above each bound: too many to tell apart")
    return period


def _apart(found: list[_Least]) -> list[_Least]:
    taken: list[System] = []
    result: list[_Least] = []
    for domain, value, quotients in found:
        rest = [domain]
        for earlier in taken:
            rest = [s for r in rest for s in difference(r, earlier)]
        result += [(r, value, quotients) for r in rest]
        taken.append(domain)
    return result
