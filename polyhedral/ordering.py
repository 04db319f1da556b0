"""Dependent instances with new times: the first pair that the times do not keep in order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from attrs import frozen

from polyhedral.affine import Affine
from polyhedral.dependences import Dependence
from polyhedral.system import System


@frozen
class Violation:
    """Two instances in the wrong order: dimensions, parameters and array indices are concrete integers."""

    dependence: Dependence
    source: tuple[tuple[str, int], ...]
    sink: tuple[tuple[str, int], ...]
    params: tuple[tuple[str, int], ...]
    element: tuple[int, ...]
    level: int | None

    def __str__(self) -> str:
        def instance(name: Hashable, values: tuple[tuple[str, int], ...]) -> str:
            return f"{name}({', '.join(f'{d}={v}' for d, v in values)})"

        dependence = self.dependence
        where = f"{dependence.array}[{', '.join(map(str, self.element))}]"
        given = f" with {', '.join(f'{n}={v}' for n, v in self.params)}" if self.params else ""
        return (
            f"{dependence.kind.value} dependence on {where} from {instance(dependence.source, self.source)} "
            f"to {instance(dependence.sink, self.sink)}{given}"
        )


@frozen
class TimedPairs:
    """The pairs of one dependence, `pieces`, with new times of the first and of the second instance, equally long.

    Pieces are over the dimensions of the relation and whatever the times use beside them.
    """

    dependence: Dependence
    pieces: tuple[System, ...]
    ones: tuple[Affine, ...]
    others: tuple[Affine, ...]

    @staticmethod
    def of(
        dependence: Dependence, pieces: Sequence[System], ones: Sequence[Affine], others: Sequence[Affine]
    ) -> TimedPairs:
        """The pairs without empty pieces, the shorter of the times padded with 0."""
        width = max(len(ones), len(others))
        padded = [(*t, *[Affine()] * (width - len(t))) for t in (ones, others)]
        return TimedPairs(dependence, tuple(p for p in pieces if not p.is_empty()), padded[0], padded[1])

    def misordered(self, tie: bool) -> Violation | None:
        """A pair of which the second instance has the earlier time, or one time where `tie` is False."""
        pieces = self.pieces
        for level, (one, other) in enumerate(zip(self.ones, self.others, strict=True)):
            witness = self._witness(pieces, System.of(one > other), level)
            if witness is not None:
                return witness
            pieces = _kept(pieces, System.of(one.equals(other)))
        return None if tie else self._witness(pieces, System(), None)

    def apart_at(self, level: int, outer: int | None = None) -> Violation | None:
        """A pair with different times at `level` and one time at the first `outer` levels, all before it by default."""
        if level >= len(self.ones):
            return None
        pieces = self._together(level if outer is None else outer)
        one, other = self.ones[level], self.others[level]
        found = self._witness(pieces, System.of(one < other), level)
        return found or self._witness(pieces, System.of(one > other), level)

    def backwards_in(self, band: Sequence[int]) -> Violation | None:
        """A pair of one time before the levels `band` that runs backwards at one of them."""
        pieces = self._together(min(band, default=0))
        for level in band:
            found = self._witness(pieces, System.of(self.ones[level] > self.others[level]), level)
            if found is not None:
                return found
        return None

    def _together(self, outer: int) -> tuple[System, ...]:
        pieces = self.pieces
        for one, other in list(zip(self.ones, self.others, strict=True))[:outer]:
            pieces = _kept(pieces, System.of(one.equals(other)))
        return pieces

    def _witness(self, pieces: Sequence[System], wrong: System, level: int | None) -> Violation | None:
        for piece in pieces:
            point = (piece & wrong).sample()
            if point is not None:
                return self._violation(point, level)
        return None

    def _violation(self, point: dict[str, int], level: int | None) -> Violation:
        relation = self.dependence.relation
        params = relation.params
        known = dict.fromkeys((*relation.in_dims, *relation.out_dims, *params), 0) | point
        source = tuple((d, known[d]) for d in relation.in_dims)
        sink = tuple((d.removesuffix("'"), known[d]) for d in relation.out_dims)
        given = tuple((p, known[p]) for p in params)
        element = tuple(i.evaluate(known) for i in self.dependence.element)
        return Violation(self.dependence, source, sink, given, element, level)


def _kept(pieces: Sequence[System], condition: System) -> tuple[System, ...]:
    return tuple(s for p in pieces if not (s := p & condition).is_empty())
