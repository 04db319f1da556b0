"""Exact dependences between statement instances that touch one array element."""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterable, Sequence

from attrs import evolve, field, frozen

from polyhedral.affine import Affine, as_affine, var
from polyhedral.maps import Map
from polyhedral.sets import Set
from polyhedral.system import System


def _affine_tuple(entries: Iterable[Affine | int]) -> tuple[Affine, ...]:
    return tuple(as_affine(e) for e in entries)


@frozen
class Access:
    """The element of `array` that an instance touches, by affine indices of its dimensions and parameters."""

    array: Hashable
    indices: tuple[Affine, ...] = field(converter=_affine_tuple, default=())


@frozen
class Reduction:
    """The statement updates its element of `array` by an associative operation, over the dimensions `over`."""

    array: Hashable
    over: tuple[str, ...]


@frozen
class ScheduledStatement:
    """A statement with what it reads and writes, run in the order of `schedule`."""

    name: Hashable
    domain: Set
    reads: tuple[Access, ...] = ()
    writes: tuple[Access, ...] = ()
    schedule: tuple[Affine, ...] = field(converter=_affine_tuple, default=())
    reduction: Reduction | None = None


class Kind(enum.Enum):
    """What the two instances do to the element, first and second: write and read, read and write, write twice."""

    FLOW = "flow"
    ANTI = "anti"
    OUTPUT = "output"


@frozen
class Dependence:
    """Pairs of instances that must keep their order.

    `relation` goes from the dimensions of `source` to those of `sink`, the latter with a prime at the
    end of each name. `set_aside` marks pairs of one declared reduction, whose order is free.
    """

    kind: Kind
    source: Hashable
    sink: Hashable
    array: Hashable
    element: tuple[Affine, ...]
    relation: Map
    set_aside: bool = False


def primed(name: str) -> str:
    """The name of a sink's dimension."""
    return f"{name}'"


def dependences(statements: Sequence[ScheduledStatement], last_writer: bool = False) -> tuple[Dependence, ...]:
    """All flow, anti and output dependences, exact; empty ones are left out.

    They are between instances of which the first runs before the second in the schedules; instances
    of one time run in the order of `statements`, and those of one statement and time in none. With
    `last_writer` flow dependences hold only the write whose value is read. Pairs of a declared
    reduction that differ in its dimensions only come apart, with `set_aside` set. ValueError where a
    parameter of one statement is called as a dimension of another, and where a name is another's with a
    prime, as the sink's dimensions are called.
    """
    _check_names(statements)
    found = [d for source in enumerate(statements) for sink in enumerate(statements) for d in _between(source, sink)]
    if last_writer:
        found = [_last_writer(d, found) if d.kind is Kind.FLOW else d for d in found]
    return tuple(d for d in found if not d.relation.is_empty())


def _check_names(statements: Sequence[ScheduledStatement]) -> None:
    dims = {d: s.name for s in statements for d in s.domain.dims}
    for s in statements:
        indices = [i for access in (*s.reads, *s.writes) for i in access.indices]
        names = {*s.domain.params, *(n for a in (*indices, *s.schedule) for n in a.names)}
        clash = sorted(names.difference(s.domain.dims).intersection(dims))
        if clash:
            raise ValueError(f"{clash[0]} is a parameter of {s.name} and a dimension of {dims[clash[0]]}: rename one")
        for dim, owner in dims.items():
            if primed(dim) in names.union(s.domain.dims):
                raise ValueError(
                    f"{primed(dim)} of {s.name} is what a dependence calls the dimension {dim} of {owner} in its sink: "
                    "rename one"
                )


def _between(source: tuple[int, ScheduledStatement], sink: tuple[int, ScheduledStatement]) -> list[Dependence]:
    (first, a), (second, b) = source, sink
    order = _before(a, b, first < second)
    cases = [(Kind.FLOW, a.writes, b.reads), (Kind.ANTI, a.reads, b.writes), (Kind.OUTPUT, a.writes, b.writes)]
    found = []
    for kind, ones, others in cases:
        for one in dict.fromkeys(ones):
            for other in dict.fromkeys(others):
                if one.array == other.array:
                    relation = _conflict(a, b, one, other, order)
                    found += _parted(Dependence(kind, a.name, b.name, one.array, one.indices, relation), a, b)
    return [d for d in found if d.relation.pieces]


def _prime(affine: Affine, dims: tuple[str, ...]) -> Affine:
    return affine.substitute({d: var(primed(d)) for d in dims})


def _before(a: ScheduledStatement, b: ScheduledStatement, tie: bool) -> list[System]:
    width = max(len(a.schedule), len(b.schedule))
    ones = [*a.schedule, *[Affine()] * (width - len(a.schedule))]
    others = [_prime(t, b.domain.dims) for t in b.schedule] + [Affine()] * (width - len(b.schedule))
    return lexicographically_before(ones, others, tie)


def lexicographically_before(ones: Sequence[Affine], others: Sequence[Affine], tie: bool) -> list[System]:
    """Systems whose union says that the first tuple comes before the second, or is equal to it where `tie`."""
    found, equal = [], System()
    for one, other in zip(ones, others, strict=True):
        case = equal & System.of(one < other)
        if not case.is_empty():
            found.append(case)
        equal = equal & System.of(one.equals(other))
        if equal.is_empty():
            return found
    return [*found, equal] if tie else found


def _conflict(a: ScheduledStatement, b: ScheduledStatement, one: Access, other: Access, order: list[System]) -> Map:
    if len(one.indices) != len(other.indices):
        raise ValueError(
            f"array {one.array} has {len(one.indices)} indices in {a.name} and {len(other.indices)} in {b.name}"
        )
    dims = b.domain.dims
    same = System.of(*(x.equals(_prime(y, dims)) for x, y in zip(one.indices, other.indices, strict=True)))
    after = b.domain.rename({d: primed(d) for d in dims})
    pieces = [
        whole
        for p in a.domain.pieces
        for q in after.pieces
        if not (both := p & q & same).is_empty()
        for case in order
        if not (whole := both & case).is_empty()
    ]
    return Map(a.domain.dims, after.dims, tuple(pieces))


def _parted(dependence: Dependence, a: ScheduledStatement, b: ScheduledStatement) -> list[Dependence]:
    reduction = a.reduction
    if a.name != b.name or reduction is None or reduction.array != dependence.array:
        return [dependence]
    kept = [d for d in a.domain.dims if d not in reduction.over]
    same = dependence.relation.intersect(*(var(d).equals(var(primed(d))) for d in kept))
    other = dependence.relation - same
    return [evolve(dependence, relation=same, set_aside=True), evolve(dependence, relation=other)]


def _last_writer(flow: Dependence, found: Sequence[Dependence]) -> Dependence:
    relation = flow.relation
    for output in found:
        if output.kind is not Kind.OUTPUT or output.source != flow.source or output.array != flow.array:
            continue
        for later in found:
            ends = (later.kind, later.source, later.sink, later.array)
            if ends == (Kind.FLOW, output.sink, flow.sink, flow.array) and not relation.is_empty():
                relation = relation - output.relation.then(later.relation)
    return evolve(flow, relation=relation)
