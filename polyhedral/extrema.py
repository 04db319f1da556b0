"""Lexicographically first and last points as functions of the parameters."""

from __future__ import annotations

from attrs import evolve, frozen

from polyhedral.affine import Affine, FloorDiv, as_affine, var
from polyhedral.maps import Map
from polyhedral.parametric_minimum import Minimum, Point, Region, joined, parametric_minimum
from polyhedral.sets import Set
from polyhedral.system import System


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
        missing = [n for piece in self.pieces for n in piece.domain.visible if n not in params]
        if missing:
            raise ValueError(f"the point wants a value for the parameter {missing[0]}, which {params} lacks")
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

    Raises ValueError where a dimension is not bounded from below for some parameters with points.
    """
    return _piecewise(points.dims, _first(points))


def last_points(points: Set) -> PiecewisePoint:
    """The lexicographically last point for every value of the parameters; as `first_points`."""
    return _piecewise(points.dims, _last(points))


def first_images(pairs: Map) -> Map:
    """Each input with its lexicographically first output only. Exact; ValueError as of `first_points`."""
    return _images(pairs, _first(Set(pairs.out_dims, pairs.pieces)))


def last_images(pairs: Map) -> Map:
    """Each input with its lexicographically last output only; as `first_images`."""
    return _images(pairs, _last(Set(pairs.out_dims, pairs.pieces)))


def _piecewise(dims: tuple[str, ...], found: list[_Found]) -> PiecewisePoint:
    pieces = [Piece(_quantified(region, region.context), point, region.quotients) for region, point in found]
    return PiecewisePoint(dims, tuple(pieces))


def _images(pairs: Map, found: list[_Found]) -> Map:
    pieces = []
    for region, point in found:
        at = System.of(*(var(d).equals(value) for d, value in zip(pairs.out_dims, point, strict=True)))
        pieces.append(_quantified(region, region.context & at))
    return Map(pairs.in_dims, pairs.out_dims, tuple(pieces))


def _quantified(region: Region, system: System) -> System:
    return system.quantified([name for name, _ in region.quotients])


_Found = tuple[Region, Point]


def _last(points: Set) -> list[_Found]:
    turned = {d: -var(d) for d in points.dims}
    mirrored = Set(points.dims, tuple(p.substitute(turned) for p in points.pieces))
    return [(region, tuple([as_affine(a * -1) for a in point])) for region, point in _first(mirrored)]


def _first(points: Set) -> list[_Found]:
    """The first points of the union: those of one piece after the other, each set beside the first ones so far."""
    found = [Minimum(Region(_free_prefix(points)), None)]
    for piece in points.pieces:
        found = [less for so_far in found for less in _less(so_far, piece, points.dims)]
    return [(m.region, m.point) for m in found if m.point is not None]


def _free_prefix(points: Set) -> str:
    prefix = "floor"
    while any(n.startswith(prefix) for n in (*points.dims, *points.params)):
        prefix += "_"
    return prefix


def _less(so_far: Minimum, piece: System, dims: tuple[str, ...]) -> list[Minimum]:
    """What is least of a minimum and of the points of a piece, in parts of the region."""
    found: list[Minimum] = []
    for own in parametric_minimum(piece, dims, so_far.region):
        if own.point is None:
            found.append(evolve(so_far, region=own.region))
        else:
            found += [own] if so_far.point is None else _lesser(so_far.point, own, 0)
    return joined(so_far.region, found)


def _lesser(point: Point, own: Minimum, place: int) -> list[Minimum]:
    """The lesser of two points from the coordinate `place` on, those before it being equal."""
    if own.point is None or place == len(point):
        return [own]
    apart = own.point[place] - point[place]
    found: list[Minimum] = []
    for side, value in ((apart < 0, own.point), (apart > 0, point)):
        region = own.region.where(System.of(side))
        found += [Minimum(region, value)] if region is not None else []
    region = own.region.where(System.of(apart.equals(0)))
    found += _lesser(point, Minimum(region, own.point), place + 1) if region is not None else []
    return joined(own.region, found)
