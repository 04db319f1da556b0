"""Sets of integer points: unions of systems over ordered, named dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import field, frozen

from polyhedral.affine import Affine
from polyhedral.coalescing import coalesced, simple_hull
from polyhedral.difference import difference
from polyhedral.isl_text import body_texts, braces, tuple_text
from polyhedral.part_rows import Bounds
from polyhedral.system import FALSE, UNIVERSE, Conjunct, System, disjoint


def _checked_dims(instance: Set, attribute: object, dims: tuple[str, ...]) -> None:
    if len(set(dims)) != len(dims):
        raise ValueError(f"the dimensions {dims} repeat a name")


def primed_apart(name: str, taken: Iterable[str]) -> str:
    """The name with as many primes as tell it from those that are taken."""
    known = set(taken)
    while name in known:
        name += "'"
    return name


@frozen(cache_hash=True)
class Set:
    """A union of systems over the named dimensions `dims`.

    Every variable of a piece that is neither a dimension nor existential is a parameter: the set is a
    family of sets, one for each value of the parameters, and all operations are exact for each of
    them. Sets of one operation must have the same dimensions in the same order.
    """

    dims: tuple[str, ...] = field(validator=_checked_dims)
    pieces: tuple[System, ...] = ()

    @staticmethod
    def of(dims: Iterable[str], *parts: Conjunct, exists: Iterable[str] = ()) -> Set:
        """The points that satisfy all parts; names in `exists` may be any integer that makes them hold."""
        return Set(tuple(dims), (System.of(*parts, exists=exists),)).normalised()

    @staticmethod
    def empty(dims: Iterable[str]) -> Set:
        """The set without points."""
        return Set(tuple(dims), ())

    @property
    def params(self) -> tuple[str, ...]:
        """The parameters that occur, sorted."""
        return tuple(sorted({n for p in self.pieces for n in p.visible} - set(self.dims)))

    def normalised(self) -> Set:
        """The same set without pieces that are empty or spelled twice."""
        return Set(self.dims, tuple(dict.fromkeys(p for p in self.pieces if not p.is_empty())))

    def __and__(self, other: Set) -> Set:
        self._same_dims(other)
        return Set(self.dims, tuple(a & b for a in self.pieces for b in other.pieces)).normalised()

    def __or__(self, other: Set) -> Set:
        self._same_dims(other)
        return Set(self.dims, self.pieces + other.pieces).normalised()

    def __sub__(self, other: Set) -> Set:
        self._same_dims(other)
        pieces = self.pieces
        for taken in other.pieces:
            pieces = tuple(s for p in pieces for s in difference(p, taken))
        return Set(self.dims, pieces)

    def complement(self) -> Set:
        """The points of the whole space that are not in the set."""
        return Set(self.dims, (UNIVERSE,)) - self

    def product(self, other: Set) -> Set:
        """The pairs of a point of each, over both lists of dimensions; those of `other` that clash get a prime."""
        own = self.apart(other.params)
        moved = other.apart((*own.dims, *own.params))
        return Set((*own.dims, *moved.dims), tuple(a & b for a in own.pieces for b in moved.pieces)).normalised()

    def apart(self, names: Iterable[str]) -> Set:
        """The set with primes on the dimensions that are called by one of `names`, a parameter of something else."""
        taken = set(names)
        clash = [d for d in self.dims if d in taken]
        if not clash:
            return self
        taken.update(self.dims, self.params)
        new: dict[str, str] = {}
        for dim in clash:
            new[dim] = primed_apart(dim, taken)
            taken.add(new[dim])
        return self.rename(new)

    def intersect(self, *parts: Conjunct) -> Set:
        """The points that satisfy all parts as well."""
        extra = System.of(*parts)
        return Set(self.dims, tuple(p & extra for p in self.pieces)).normalised()

    def project_out(self, *names: str) -> Set:
        """The set without these dimensions, exact over the integers; parameters may be projected out too."""
        self._have(names, "project out")
        left = tuple(d for d in self.dims if d not in names)
        return Set(left, tuple(p.project_out(*names) for p in self.pieces)).normalised().coalesced()

    def project_onto(self, *dims: str) -> Set:
        """The set with the other dimensions projected out, in the order asked for."""
        unknown = [d for d in dims if d not in self.dims]
        if unknown:
            raise ValueError(f"cannot project onto {unknown[0]!r}: the set has the dimensions {self.dims}")
        left = self.project_out(*(d for d in self.dims if d not in dims))
        return Set(dims, left.pieces)

    def rename(self, names: Mapping[str, str]) -> Set:
        """The set with dimensions or parameters renamed."""
        return Set(tuple(names.get(d, d) for d in self.dims), tuple(p.rename(names) for p in self.pieces))

    def substitute(self, values: Mapping[str, Affine | int]) -> Set:
        """The set with parameters replaced, or the slice at values of dimensions (which are then no dimensions).

        ValueError for a name that is neither: a set depends on just the parameters that it has.
        """
        self._have(values, "substitute")
        left = tuple(d for d in self.dims if d not in values)
        return Set(left, tuple(p.substitute(values) for p in self.pieces)).normalised()

    def is_empty(self) -> bool:
        """Whether there is no point for any value of the parameters."""
        return all(p.is_empty() for p in self.pieces)

    def is_subset(self, other: Set) -> bool:
        """Whether each point is in `other`, for every value of the parameters."""
        return (self - other).is_empty()

    def equals(self, other: Set) -> bool:
        """Whether both have the same points for every value of the parameters (`==` compares the spelling)."""
        return self.is_subset(other) and other.is_subset(self)

    def contains(self, point: Mapping[str, int]) -> bool:
        """Whether the point, given with the parameters by name, is in the set."""
        missing = [n for p in self.pieces for n in p.visible if n not in point]
        if missing:
            raise ValueError(f"whether a point is in {self} wants a value for {missing[0]}, which {point} lacks")
        return any(p.holds(point) for p in self.pieces)

    def disjoint(self) -> Set:
        """The same set with pieces of which no two meet."""
        pieces: tuple[System, ...] = ()
        for piece in self.pieces:
            rest: tuple[System, ...] = (piece,)
            for earlier in pieces:
                rest = tuple(s for r in rest for s in difference(r, earlier))
            pieces += rest
        return Set(self.dims, pieces)

    def coalesced(self) -> Set:
        """The same set without pieces that lie inside another, and with neighbours joined that make one system."""
        return Set(self.dims, coalesced(self.pieces))

    def gist(self, context: System | Set) -> Set:
        """The conditions that are left to test where `context` is known to hold."""
        if isinstance(context, Set):
            if context.dims:
                self._same_dims(context)
            known = context.hull()
            return Set(self.dims, tuple(p.gist(known) for p in self.pieces if not disjoint(p, known)))
        return Set(self.dims, tuple(p.gist(context) for p in self.pieces if not disjoint(p, context)))

    def simplified(self, context: System | None = None) -> Set:
        """The same set with redundant conditions and pieces removed."""
        return Set(self.dims, tuple(p.simplified(context) for p in self.pieces)).normalised().coalesced()

    def hull(self) -> System:
        """Conditions of the pieces that all of them satisfy: a system around the set, itself when convex."""
        return simple_hull(self.pieces)

    def sample(self, params: Mapping[str, int] | None = None) -> dict[str, int] | None:
        """One integer point by name, with parameters where they are not given; None where there is none."""
        for piece in self.pieces:
            found = piece.substitute(dict(params or {})).sample()
            if found is not None:
                return dict.fromkeys(self.dims, 0) | dict.fromkeys(self.params, 0) | found | dict(params or {})
        return None

    def bounds(self, name: str) -> Bounds:
        """Lower and upper (expression, divisor) terms of a dimension in a set of one piece."""
        if len(self.pieces) != 1:
            raise ValueError(f"bounds are asked of a set of one piece, not of {len(self.pieces)}: {self}")
        self._have((name,), "bound")
        return self.pieces[0].bounds(name)

    def points(self, params: Mapping[str, int] | None = None) -> Iterator[tuple[int, ...]]:
        """The points in lexicographic order, each once; raises ValueError where a dimension has no bound."""
        from polyhedral.enumeration import lexicographic

        return lexicographic(self, params or {})

    def lexmin(self, params: Mapping[str, int] | None = None) -> tuple[int, ...] | None:
        """The first point in lexicographic order at these parameters, None where there is none.

        ValueError where a dimension is not bounded from below.
        """
        from polyhedral.extrema import first_points

        return first_points(self._at(params)).at({})

    def lexmax(self, params: Mapping[str, int] | None = None) -> tuple[int, ...] | None:
        """The last point in lexicographic order at these parameters, None where there is none; as `lexmin`."""
        from polyhedral.extrema import last_points

        return last_points(self._at(params)).at({})

    def _at(self, params: Mapping[str, int] | None) -> Set:
        values = params or {}
        missing = [p for p in self.params if p not in values]
        if missing:
            raise ValueError(f"the points of {self} want a value for the parameter {missing[0]}")
        return self.substitute({p: values[p] for p in self.params})

    def _have(self, names: Iterable[str], what: str) -> None:
        known = {*self.dims, *self.params}
        unknown = [n for n in names if n not in known]
        if unknown:
            there = f"the dimensions {self.dims} and the parameters {self.params}"
            raise ValueError(f"cannot {what} {unknown[0]!r}: the set has {there}")

    def _same_dims(self, other: Set) -> None:
        if not isinstance(other, Set):
            raise TypeError(f"wanted a Set, got the {type(other).__name__} {other}")
        if self.dims != other.dims:
            raise ValueError(f"sets over {self.dims} and {other.dims} do not combine: their dimensions differ")

    def __str__(self) -> str:
        return braces(self.params, body_texts(tuple_text("", self.dims), self.pieces or (FALSE,)))
