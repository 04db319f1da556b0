"""Dependences between the statements of a compute, exact, and what a schedule step may not do to them.

Program order is statement after statement, each in lexicographic order of its dims. A declared reduction's dependence
on itself is set aside for the order of its sum, but not for where it runs: parts on different blocks need a join.
"""

from __future__ import annotations

from functools import lru_cache

from attrs import frozen

from polyhedral import Affine, Constraint, Set, System, var
from ptxgen.compute import Array, ArrayKind, Compute, Load, Statement

SINK_MARK = "'"


@frozen
class Dependence:
    """Pairs of instances that touch one element, the source first, one of them writing it.

    `pairs` is a set over the source's dims and the sink's dims, the latter marked with an apostrophe.
    """

    source: Statement
    sink: Statement
    array: str
    reduction: bool
    pairs: Set


@frozen
class Witness:
    """Two concrete instances in the order that must be kept, with the sizes at which they exist."""

    source: str
    sink: str
    array: str
    sizes: str

    def __str__(self) -> str:
        return f"{self.source} must come before {self.sink}: both touch {self.array} (at {self.sizes})"


def sink_name(dim: str) -> str:
    """The name of a sink's dim in a set of pairs."""
    return dim + SINK_MARK


def marked(statement: Statement, expression: Affine) -> Affine:
    """`expression` with the statement's dims marked as the sink's."""
    return expression.substitute({dim.name: var(sink_name(dim.name)) for dim in statement.dims})


@lru_cache(maxsize=256)
def dependences(compute: Compute) -> tuple[Dependence, ...]:
    """Every dependence between different statements, and of each statement on itself."""
    found: list[Dependence] = []
    for place, source in enumerate(compute.statements):
        found += self_dependences(source)
        for sink in compute.statements[place + 1 :]:
            for first, second in conflicting(source, sink):
                found.append(Dependence(source, sink, first.array, False, _pairs(source, sink, first, second)))
    return tuple(d for d in found if not d.pairs.is_empty())


def conflicting(source: Statement, sink: Statement) -> list[tuple[Load, Load]]:
    """The pairs of accesses to one array of which at least one writes."""
    writes = [(source.target, access) for access in (sink.target, *sink.reads)]
    reads = [(access, sink.target) for access in source.reads]
    return [(first, second) for first, second in writes + reads if first.array == second.array]


def self_dependences(statement: Statement) -> list[Dependence]:
    """The dependences of a statement on its own earlier instances: a reduction's, and reads of its own target."""
    accesses = [(statement.target, read) for read in statement.reads if read.array == statement.target.array]
    accesses += [(second, first) for first, second in accesses]
    kinds = [(first, second, False) for first, second in accesses]
    if statement.reduction:
        kinds.append((statement.target, statement.target, True))
    found: list[Dependence] = []
    for first, second, reduction in kinds:
        for ordered in _earlier(statement):
            pairs = _pairs(statement, statement, first, second).intersect(*ordered)
            found.append(Dependence(statement, statement, first.array, reduction, pairs))
    return found


def _pairs(source: Statement, sink: Statement, first: Load, second: Load) -> Set:
    dims = (*(dim.name for dim in source.dims), *(sink_name(dim.name) for dim in sink.dims))
    parts: list[Constraint] = []
    for dim in source.dims:
        parts += [dim.affine >= 0, dim.affine < dim.extent]
    for dim in sink.dims:
        index = var(sink_name(dim.name))
        parts += [index >= 0, index < dim.extent]
    parts += [one.equals(marked(sink, other)) for one, other in zip(first.indices, second.indices, strict=True)]
    return Set.of(dims, *parts)


def _earlier(statement: Statement) -> list[tuple[Constraint, ...]]:
    orders: list[tuple[Constraint, ...]] = []
    equal: tuple[Constraint, ...] = ()
    for dim in statement.dims:
        index = var(sink_name(dim.name))
        orders.append((*equal, dim.affine < index))
        equal = (*equal, dim.affine.equals(index))
    return orders


def tile_numbers(dependence: Dependence, dim: str, size: int) -> tuple[System, Affine, Affine]:
    """Conditions that define the tile numbers of source and sink along `dim`, and the two numbers.

    A statement without the dim counts as running in tile 0.
    """
    parts: list[Constraint] = []
    numbers: list[Affine] = []
    for statement, index in ((dependence.source, dim), (dependence.sink, sink_name(dim))):
        if any(own.name == dim for own in statement.dims):
            number = var(f"tile({index})")
            parts += [number * size <= var(index), var(index) < number * size + size]
            numbers.append(number)
        else:
            numbers.append(Affine())
    return System.of(*parts), numbers[0], numbers[1]


def crossing(dependence: Dependence, dim: str, size: int) -> Witness | None:
    """A pair whose ends lie in different tiles of `dim`, if there is one."""
    tiles, first, second = tile_numbers(dependence, dim, size)
    for apart in (first < second, first > second):
        found = _witness(dependence, tiles & System.of(apart))
        if found:
            return found
    return None


def backwards(dependence: Dependence, dim: str, size: int = 1) -> Witness | None:
    """A pair whose source lies in a later tile of `dim` than its sink, if there is one."""
    tiles, first, second = tile_numbers(dependence, dim, size)
    return _witness(dependence, tiles & System.of(first > second))


def incomplete(dependence: Dependence, dim: str, size: int) -> Witness | None:
    """A pair whose source lies beyond the first tile of `dim`: not yet run when the sink runs in the first one."""
    tiles, first, _ = tile_numbers(dependence, dim, size)
    return _witness(dependence, tiles & System.of(first > 0))


def _witness(dependence: Dependence, condition: System) -> Witness | None:
    names = tuple(sorted(set(condition.visible) - set(dependence.pairs.dims)))
    lifted = Set(dependence.pairs.dims + names, dependence.pairs.pieces).intersect(condition)
    point = lifted.sample() if not lifted.is_empty() else None
    if point is None:
        return None
    dims = {name for dim in dependence.source.dims for name in (dim.name,)}
    sinks = {sink_name(dim.name) for dim in dependence.sink.dims}
    sizes = {n: v for n, v in point.items() if n not in dims | sinks | set(names)}
    element = ", ".join(str(index.evaluate(point)) for index in dependence_access(dependence))
    return Witness(
        instance(dependence.source, {d.name: point[d.name] for d in dependence.source.dims}),
        instance(dependence.sink, {d.name: point[sink_name(d.name)] for d in dependence.sink.dims}),
        f"{dependence.array}[{element}]",
        ", ".join(f"{name}={value}" for name, value in sorted(sizes.items())),
    )


def dependence_access(dependence: Dependence) -> tuple[Affine, ...]:
    """The indices, in the source's dims, of the element that both ends touch."""
    for access in (dependence.source.target, *dependence.source.reads):
        if access.array == dependence.array:
            return access.indices
    raise KeyError(dependence.array)


def instance(statement: Statement, point: dict[str, int]) -> str:
    """One instance in words: `C[i=0, j=0, k=32]`."""
    return f"{statement.name}[{', '.join(f'{name}={value}' for name, value in point.items())}]"


def is_local(compute: Compute, array: str) -> bool:
    """Whether an array has no address of its own."""
    found: Array = compute.array(array)
    return found.kind is ArrayKind.LOCAL
