"""Named tuples of dimensions, and unions of sets and maps over several of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce

from attrs import field, frozen

from polyhedral.isl_text import arrow, body_texts, braces, tuple_text
from polyhedral.maps import Map
from polyhedral.sets import Set


@frozen(order=True)
class Space:
    """A tuple with a name, maybe empty: `width` dimensions, or a pair of spaces wrapped into one.

    `bare` marks no tuple at all, as a set of parameters alone has it.
    """

    name: str
    width: int
    wrapped: tuple[Space, Space] | None = None
    bare: bool = False

    def text(self, dims: Iterable[str]) -> str:
        """The tuple with these dimensions in isl's notation."""
        own = tuple(dims)
        if self.bare:
            return ""
        if self.wrapped is None:
            return tuple_text(self.name, own)
        first, second = self.wrapped
        return f"{self.name}[{first.text(own[: first.width])} -> {second.text(own[first.width :])}]"


def _one_each(parts: Iterable[tuple[Space, Set]]) -> tuple[tuple[Space, Set], ...]:
    found: dict[Space, Set] = {}
    for space, points in parts:
        if len(points.dims) != space.width:
            raise ValueError(f"a set over {points.dims} is not one of {space.width} dimensions, as {space} says")
        old = found.get(space)
        found[space] = points if old is None else Set.__or__(*_alike(old, points))
    return tuple(sorted((item for item in found.items() if not item[1].is_empty()), key=lambda item: item[0].text(())))


def _alike(one: Set, other: Set) -> tuple[Set, Set]:
    """Both over the same dimensions, none of which is a parameter of either."""
    own = one.apart(other.params)
    same = own.dims == other.dims
    return own, other if same else other.rename(dict(zip(other.dims, own.dims, strict=True)))


def _wanted(kind: type, other: object) -> None:
    if not isinstance(other, kind):
        raise TypeError(f"wanted a {kind.__name__}, got the {type(other).__name__} {other}")


def wrapped(first: Space, second: Space) -> Space:
    """The space of pairs of points of the two."""
    return Space("", first.width + second.width, (first, second))


@frozen
class UnionSet:
    """Sets of differently named tuples, one for each space; empty ones are left out."""

    parts: tuple[tuple[Space, Set], ...] = field(converter=_one_each, default=())

    def of(self, name: str) -> Set:
        """The set of the one space of this name; KeyError where there is none, or more than one."""
        found = [s for space, s in self.parts if space.name == name]
        if len(found) != 1:
            raise KeyError(f"{len(found)} spaces are called {name!r}: there are {[str(s.name) for s, _ in self.parts]}")
        return found[0]

    def get(self, space: Space) -> Set:
        """The set of a space, empty where there is none."""
        return dict(self.parts).get(space) or Set.empty(tuple(f"i{k}" for k in range(space.width)))

    @property
    def spaces(self) -> tuple[Space, ...]:
        """The spaces that have a point."""
        return tuple(s for s, _ in self.parts)

    def __or__(self, other: UnionSet) -> UnionSet:
        _wanted(UnionSet, other)
        return UnionSet(self.parts + other.parts)

    def __and__(self, other: UnionSet) -> UnionSet:
        return self._with(other, lambda a, b: a & b)

    def __sub__(self, other: UnionSet) -> UnionSet:
        return self._with(other, lambda a, b: a - b)

    def _with(self, other: UnionSet, join: Callable[[Set, Set], Set]) -> UnionSet:
        _wanted(UnionSet, other)
        return UnionSet(tuple((s, join(*_alike(p, other.get(s)))) for s, p in self.parts))

    def product(self, other: UnionSet) -> UnionSet:
        """The pairs of a point of each, in spaces that wrap both."""
        return UnionSet(tuple((wrapped(s, t), p.product(q)) for s, p in self.parts for t, q in other.parts))

    def coalesced(self) -> UnionSet:
        """The same union in fewer pieces."""
        return UnionSet(tuple((s, p.coalesced()) for s, p in self.parts))

    def gist(self, context: UnionSet) -> UnionSet:
        """The conditions that are left to test where `context` is known to hold; spaces that it lacks are gone."""
        return self._with(context, Set.gist)

    def sample(self, params: Mapping[str, int] | None = None) -> tuple[Space, dict[str, int]] | None:
        """The space and the names' values of one point; None where there is none."""
        found = ((s, p.sample(params)) for s, p in self.parts)
        return next(((s, point) for s, point in found if point is not None), None)

    @property
    def params(self) -> tuple[str, ...]:
        """The parameters that occur, sorted."""
        return tuple(sorted({n for _, p in self.parts for n in p.params}))

    def is_empty(self) -> bool:
        """Whether there is no point for any value of the parameters."""
        return not self.parts

    def is_subset(self, other: UnionSet) -> bool:
        """Whether each point is in `other`, for every value of the parameters."""
        return (self - other).is_empty()

    def equals(self, other: UnionSet) -> bool:
        """Whether both have the same points for every value of the parameters."""
        return self.is_subset(other) and other.is_subset(self)

    def __str__(self) -> str:
        params = self.params
        shown = [(s, p.apart(params)) for s, p in self.parts]
        return braces(params, [b for s, p in shown for b in body_texts(s.text(p.dims), p.pieces)])


@frozen
class UnionMap:
    """Maps between differently named tuples, one for each pair of spaces."""

    parts: tuple[tuple[Space, Space, Map], ...] = ()

    @property
    def params(self) -> tuple[str, ...]:
        """The parameters that occur, sorted."""
        return tuple(sorted({n for _, _, m in self.parts for n in m.params}))

    def inverse(self) -> UnionMap:
        """The pairs turned round."""
        return UnionMap(tuple((b, a, m.inverse()) for a, b, m in self.parts))

    def domain(self) -> UnionSet:
        """The points that have an image."""
        return UnionSet(tuple((a, m.domain()) for a, _, m in self.parts))

    def range(self) -> UnionSet:
        """The points that are an image."""
        return UnionSet(tuple((b, m.range()) for _, b, m in self.parts))

    def apply(self, points: UnionSet) -> UnionSet:
        """The images of `points`."""
        _wanted(UnionSet, points)
        return UnionSet(tuple((b, m.apply(points.get(a))) for a, b, m in self.parts))

    def intersect_domain(self, points: UnionSet) -> UnionMap:
        """The pairs that start in `points`."""
        return self._kept((a, b, m.intersect_domain(points.get(a))) for a, b, m in self.parts)

    def intersect_range(self, points: UnionSet) -> UnionMap:
        """The pairs that end in `points`."""
        return self._kept((a, b, m.intersect_range(points.get(b))) for a, b, m in self.parts)

    def get(self, source: Space, target: Space) -> Map:
        """The map between two spaces, empty where there is none."""
        own = [m for a, b, m in self.parts if (a, b) == (source, target)]
        if not own:
            dims = tuple(f"i{k}" for k in range(source.width + target.width))
            return Map(dims[: source.width], dims[source.width :], ())
        return reduce(Map.__or__, own)

    def _with(self, other: UnionMap, join: Callable[[Map, Map], Map]) -> UnionMap:
        _wanted(UnionMap, other)
        pairs = dict.fromkeys((a, b) for a, b, _ in self.parts)
        return self._kept((a, b, join(self.get(a, b), other.get(a, b))) for a, b in pairs)

    def __and__(self, other: UnionMap) -> UnionMap:
        return self._with(other, Map.__and__)

    def __sub__(self, other: UnionMap) -> UnionMap:
        return self._with(other, Map.__sub__)

    def gist(self, context: UnionMap) -> UnionMap:
        """The conditions that are left to test where `context` is known to hold; pairs of spaces it lacks are gone."""
        return self._with(context, Map.gist)

    def coalesced(self) -> UnionMap:
        """The same union with one map for each pair of spaces, in fewer pieces."""
        return self._with(self, lambda a, _: a.coalesced())

    def product(self, other: UnionMap) -> UnionMap:
        """The pairs (x, u), (y, v) such that this map has x, y and `other` has u, v, in spaces that wrap both."""
        return self._kept(
            (wrapped(a, c), wrapped(b, d), m.product(o)) for a, b, m in self.parts for c, d, o in other.parts
        )

    def is_empty(self) -> bool:
        """Whether there is no pair for any value of the parameters."""
        return all(m.is_empty() for _, _, m in self.parts)

    def is_subset(self, other: UnionMap) -> bool:
        """Whether each pair is in `other`, for every value of the parameters."""
        return (self - other).is_empty()

    def equals(self, other: UnionMap) -> bool:
        """Whether both have the same pairs for every value of the parameters."""
        return self.is_subset(other) and other.is_subset(self)

    def then(self, other: UnionMap) -> UnionMap:
        """The pairs x, z such that this map has x, y and `other` has y, z for some y."""
        return self._kept((a, d, m.then(o)) for a, b, m in self.parts for c, d, o in other.parts if b == c)

    @staticmethod
    def _kept(parts: Iterable[tuple[Space, Space, Map]]) -> UnionMap:
        return UnionMap(tuple(p for p in parts if not p[2].is_empty()))

    def __or__(self, other: UnionMap) -> UnionMap:
        _wanted(UnionMap, other)
        return UnionMap(self.parts + other.parts)

    def __str__(self) -> str:
        params = self.params
        shown = [(a, c, m.apart(params)) for a, c, m in self.parts]
        texts = [b for a, c, m in shown for b in body_texts(arrow(a.text(m.in_dims), c.text(m.out_dims)), m.pieces)]
        return braces(params, texts)
