"""The integer points of a set at given parameters, in lexicographic order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from polyhedral.affine import Affine
from polyhedral.rows import Row
from polyhedral.system import System

if TYPE_CHECKING:
    from polyhedral.sets import Set

_Terms = list[tuple[int, Row]]


def lexicographic(points: Set, params: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
    """The points at these parameters, each once; raises ValueError where one is missing or a dimension is unbounded."""
    missing = [p for p in points.params if p not in params]
    if missing:
        raise ValueError(f"enumerating {points} wants a value for the parameter {missing[0]}")
    values = {p: params[p] for p in points.params}
    pieces = [s for p in points.pieces if not (s := p.substitute(values)).is_empty()]
    scanners = [_Piece(p, points.dims) for p in pieces]
    return _visit(scanners, (), len(points.dims))


def _visit(pieces: list[_Piece], prefix: tuple[int, ...], width: int) -> Iterator[tuple[int, ...]]:
    if len(prefix) == width:
        if any(p.accepts(prefix) for p in pieces):
            yield prefix
        return
    ranges = [(p, r) for p in pieces if (r := p.range_at(prefix))]
    if not ranges:
        return
    for value in range(min(r.start for _, r in ranges), max(r.stop for _, r in ranges)):
        inside = [p for p, r in ranges if value in r]
        if inside:
            yield from _visit(inside, (*prefix, value), width)


class _Piece:
    """One system without parameters, with its shadows on each prefix of the dimensions."""

    def __init__(self, system: System, dims: tuple[str, ...]) -> None:
        self.system = system
        self.dims = dims
        self.levels: list[tuple[_Terms, _Terms]] = []
        shadow = system.eliminate(*system.exists)[0] if system.exists else system
        shadows = []
        for dim in reversed(dims):
            shadows.append(shadow)
            shadow = shadow.eliminate(dim)[0]
        for dim, shadow in zip(dims, reversed(shadows), strict=False):
            self.levels.append(self._level(shadow, dim))

    def _level(self, shadow: System, dim: str) -> tuple[_Terms, _Terms]:
        lower, upper = shadow.bounds(dim)
        if not lower or not upper:
            raise ValueError(f"dimension {dim} of {self.system} is not bounded on both sides: its points are endless")
        return self._dense(lower), self._dense(upper)

    def _dense(self, terms: Iterable[tuple[Affine, int]]) -> _Terms:
        names = set(self.dims)
        return [
            (divisor, (*(affine.coefficient(d) for d in self.dims), affine.constant))
            for affine, divisor in terms
            if names.issuperset(affine.names)
        ]

    def range_at(self, prefix: tuple[int, ...]) -> range:
        """The values that the next dimension may have after `prefix`."""
        lower, upper = self.levels[len(prefix)]
        low = max(-(-_at(row, prefix) // d) for d, row in lower)
        high = min(_at(row, prefix) // d for d, row in upper)
        return range(low, high + 1)

    def accepts(self, point: tuple[int, ...]) -> bool:
        """Whether the whole point is in the system."""
        return self.system.holds(dict(zip(self.dims, point, strict=False)))


def _at(row: Row, prefix: tuple[int, ...]) -> int:
    return sum(map(int.__mul__, row, prefix)) + row[-1]
