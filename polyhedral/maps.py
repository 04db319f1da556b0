"""Relations between integer tuples: unions of systems over input and output dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from attrs import field, frozen

from polyhedral.affine import Affine, as_affine, var
from polyhedral.isl_text import arrow, body_texts, braces, tuple_text
from polyhedral.sets import Set
from polyhedral.system import FALSE, Conjunct, System


def _checked_out(instance: Map, attribute: object, out_dims: tuple[str, ...]) -> None:
    names = (*instance.in_dims, *out_dims)
    if len(set(names)) != len(names):
        raise ValueError(f"a map from {instance.in_dims} to {out_dims} names a dimension twice: rename one side")


@frozen(cache_hash=True)
class Map:
    """Pairs of points: a union of systems over `in_dims` and `out_dims`, all of different names.

    Other variables are parameters. Operations that join two maps match dimensions by position.
    """

    in_dims: tuple[str, ...]
    out_dims: tuple[str, ...] = field(validator=_checked_out)
    pieces: tuple[System, ...] = ()

    @staticmethod
    def of(in_dims: Iterable[str], out_dims: Iterable[str], *parts: Conjunct, exists: Iterable[str] = ()) -> Map:
        """The pairs that satisfy all parts; names in `exists` may be any integer that makes them hold."""
        return Map(tuple(in_dims), tuple(out_dims), (System.of(*parts, exists=exists),)).normalised()

    @staticmethod
    def affine(in_dims: Iterable[str], out: Mapping[str, Affine | int], domain: Set | None = None) -> Map:
        """The function that gives each output dimension its expression of the inputs, on `domain` or everywhere."""
        rows = System.of(*(var(name).equals(as_affine(value)) for name, value in out.items()))
        pieces = (rows,) if domain is None else tuple(rows & p for p in domain.pieces)
        return Map(tuple(in_dims), tuple(out), pieces).normalised()

    @property
    def params(self) -> tuple[str, ...]:
        """The parameters that occur, sorted."""
        return self.as_set().params

    def as_set(self) -> Set:
        """The pairs as one set over the input and then the output dimensions."""
        return Set((*self.in_dims, *self.out_dims), self.pieces)

    def normalised(self) -> Map:
        """The same relation without pieces that are empty or spelled twice."""
        return self._of(self.as_set().normalised())

    def inverse(self) -> Map:
        """The pairs turned round."""
        return Map(self.out_dims, self.in_dims, self.pieces)

    def domain(self) -> Set:
        """The points that have an image, exact over the integers."""
        return self.as_set().project_out(*self.out_dims)

    def range(self) -> Set:
        """The points that are an image, exact over the integers."""
        return self.as_set().project_out(*self.in_dims)

    def apply(self, points: Set) -> Set:
        """The images of `points`, exact over the integers."""
        return self.intersect_domain(points).range()

    def intersect_domain(self, points: Set) -> Map:
        """The pairs that start in `points`."""
        if len(points.dims) != len(self.in_dims):
            raise ValueError(f"a map from {self.in_dims} has no points over {points.dims} in its domain")
        own = self.apart(points.params)
        moved = points.rename(dict(zip(points.dims, own.in_dims, strict=True)))
        return Map(own.in_dims, own.out_dims, tuple(a & b for a in own.pieces for b in moved.pieces)).normalised()

    def intersect_range(self, points: Set) -> Map:
        """The pairs that end in `points`."""
        return self.inverse().intersect_domain(points).inverse()

    def then(self, other: Map) -> Map:
        """The pairs x, z such that this map has x, y and `other` has y, z for some y; exact over the integers."""
        if len(self.out_dims) != len(other.in_dims):
            raise ValueError(f"a map to {self.out_dims} is not followed by one from {other.in_dims}")
        own, after = self.apart(other.params), other.apart(self.params)
        middle = [f"{d}~" for d in own.out_dims]
        first = own.as_set().rename(dict(zip(own.out_dims, middle, strict=True)))
        second = after.as_set().rename(dict(zip(after.in_dims, middle, strict=True)))
        out_dims = Set(after.out_dims).apart((*own.in_dims, *own.params, *after.params)).dims
        second = second.rename(dict(zip(after.out_dims, out_dims, strict=True)))
        dims = (*own.in_dims, *middle, *out_dims)
        joined = Set(dims, tuple(a & b for a in first.pieces for b in second.pieces)).normalised()
        return Map(own.in_dims, out_dims, joined.project_out(*middle).pieces)

    def product(self, other: Map) -> Map:
        """The pairs (x, u), (y, v) such that this map has x, y and `other` has u, v."""
        own = self.apart(other.params)
        moved = other.apart((*own.in_dims, *own.out_dims, *own.params))
        pieces = tuple(a & b for a in own.pieces for b in moved.pieces)
        return Map((*own.in_dims, *moved.in_dims), (*own.out_dims, *moved.out_dims), pieces).normalised()

    def apart(self, names: Iterable[str]) -> Map:
        """The map with primes on the dimensions that are called by one of `names`, as of a set."""
        moved = self.as_set().apart(names)
        width = len(self.in_dims)
        return Map(moved.dims[:width], moved.dims[width:], moved.pieces)

    def complement(self) -> Map:
        """The pairs that are not in the map."""
        return self._of(self.as_set().complement())

    def coalesced(self) -> Map:
        """The same relation in fewer pieces, as of a set."""
        return self._of(self.as_set().coalesced())

    def gist(self, context: System | Map) -> Map:
        """The conditions that are left to test where `context` is known to hold."""
        if isinstance(context, System):
            return self._of(self.as_set().gist(context))
        return self._with(context, Set.gist)

    def sample(self, params: Mapping[str, int] | None = None) -> dict[str, int] | None:
        """One pair by name, with parameters where they are not given; None where there is none."""
        return self.as_set().sample(params)

    def compose(self, other: Map) -> Map:
        """This map after `other`: the pairs x, z such that `other` has x, y and this one y, z for some y."""
        return other.then(self)

    def intersect(self, *parts: Conjunct) -> Map:
        """The pairs that satisfy all parts as well."""
        return self._of(self.as_set().intersect(*parts))

    def __and__(self, other: Map) -> Map:
        return self._with(other, Set.__and__)

    def __or__(self, other: Map) -> Map:
        return self._with(other, Set.__or__)

    def __sub__(self, other: Map) -> Map:
        return self._with(other, Set.__sub__)

    def is_empty(self) -> bool:
        """Whether there is no pair for any value of the parameters."""
        return self.as_set().is_empty()

    def is_subset(self, other: Map) -> bool:
        """Whether each pair is in `other`, for every value of the parameters."""
        return Set.is_subset(*self._alike(other))

    def equals(self, other: Map) -> bool:
        """Whether both have the same pairs for every value of the parameters."""
        return Set.equals(*self._alike(other))

    def is_injective(self) -> bool:
        """Whether no two inputs share an output, for every value of the parameters."""
        twin = Set(self.in_dims).apart((*self.in_dims, *self.out_dims, *self.params)).dims
        copy = self.as_set().rename(dict(zip(self.in_dims, twin, strict=True)))
        pairs = [a & b for a in self.pieces for b in copy.pieces]
        return all(
            (pair & System.of(apart)).is_empty()
            for pair in pairs
            for d, t in zip(self.in_dims, twin, strict=True)
            for apart in (var(d) < var(t), var(d) > var(t))
        )

    def pairs(self, params: Mapping[str, int] | None = None) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The pairs at these parameters in lexicographic order, each once."""
        width = len(self.in_dims)
        for point in self.as_set().points(params):
            yield point[:width], point[width:]

    def _with(self, other: Map, join: Callable[[Set, Set], Set]) -> Map:
        joined = join(*self._alike(other))
        width = len(self.in_dims)
        return Map(joined.dims[:width], joined.dims[width:], joined.pieces)

    def _alike(self, other: Map) -> tuple[Set, Set]:
        """The pairs of both over the same dimensions, none of which is a parameter of either."""
        if not isinstance(other, Map):
            raise TypeError(f"wanted a Map, got the {type(other).__name__} {other}")
        if (len(self.in_dims), len(self.out_dims)) != (len(other.in_dims), len(other.out_dims)):
            raise ValueError(f"maps {self.in_dims} -> {self.out_dims} and {other.in_dims} -> {other.out_dims} differ")
        own = self.as_set().apart(other.params)
        return own, other.as_set().rename(dict(zip((*other.in_dims, *other.out_dims), own.dims, strict=True)))

    def _of(self, pairs: Set) -> Map:
        return Map(self.in_dims, self.out_dims, pairs.pieces)

    def __str__(self) -> str:
        tuples = arrow(tuple_text("", self.in_dims), tuple_text("", self.out_dims))
        return braces(self.params, body_texts(tuples, self.pieces or (FALSE,)))
