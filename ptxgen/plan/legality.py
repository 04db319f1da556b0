"""Dependences between the statements of a compute, exact, and what a schedule step may not do to them.

Program order is statement after statement, each in lexicographic order of its dims. A declared reduction's dependence
on itself is set aside for the order of its sum, but not for where it runs: parts on different blocks need a join.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from attrs import frozen

from polyhedral import (
    Access,
    Affine,
    Dependence,
    FloorDiv,
    Reduction,
    ScheduledStatement,
    Set,
    Violation,
    const,
    parallelism_violation,
    permutability_violation,
    var,
)
from polyhedral import dependences as exact_dependences
from ptxgen.compute import Compute, Load, Statement


@frozen
class Witness:
    """Two concrete instances in the order that must be kept, with the sizes at which they exist."""

    source: str
    sink: str
    array: str
    sizes: str

    def __str__(self) -> str:
        return f"{self.source} must come before {self.sink}: both touch {self.array} (at {self.sizes})"


@lru_cache(maxsize=256)
def dependences(compute: Compute) -> tuple[Dependence, ...]:
    """Every dependence between statements, and of each statement on its own earlier instances."""
    return exact_dependences([_in_program_order(place, s) for place, s in enumerate(compute.statements)])


def _in_program_order(place: int, statement: Statement) -> ScheduledStatement:
    target = _access(statement, statement.target)
    reads = tuple(_access(statement, load) for load in statement.reads)
    reduction = None
    if statement.reduction:
        reduction = Reduction(target.array, statement.reduction.dims)
        reads = (*reads, target)
    times = (const(place), *(dim.affine for dim in statement.dims))
    return ScheduledStatement(statement.name, _with_parts(statement), reads, (target,), times, reduction)


def _with_parts(statement: Statement) -> Set:
    """The statement's domain, with one more dim for each quotient among its indices."""
    domain = statement.domain
    quotients = dict.fromkeys(
        index for load in (statement.target, *statement.reads) for index in load.indices if isinstance(index, FloorDiv)
    )
    for quotient in quotients:
        number = var(str(quotient))
        defined = [number * quotient.divisor <= quotient.affine, quotient.affine < (number + 1) * quotient.divisor]
        domain = Set((*domain.dims, str(quotient)), domain.pieces).intersect(*defined)
    return domain


def _access(statement: Statement, load: Load) -> Access:
    """The element that an access touches. An index of a segment is in no other group's, so the group's number is one
    more index of what it reaches."""
    groups = tuple(var(d.segments.group) for d in statement.dims if d.segments and d.affine in load.indices)
    return Access(load.array, (*groups, *(var(str(i)) if isinstance(i, FloorDiv) else i for i in load.indices)))


def crossing(compute: Compute, dependence: Dependence, dim: str, size: int) -> Witness | None:
    """A pair whose ends lie in different tiles of `dim`, if there is one (a statement without the dim: tile 0)."""
    schedules = _tile_numbers(compute, dependence, dim, size)
    return _witness(parallelism_violation([dependence], schedules, 0, reductions_are_free=False))


def backwards(compute: Compute, dependence: Dependence, dim: str, size: int = 1) -> Witness | None:
    """A pair whose source lies in a later tile of `dim` than its sink, if there is one. A statement without the dim
    runs in tile 0: such a sink does not wait for the source's other tiles."""
    schedules = _tile_numbers(compute, dependence, dim, size)
    return _witness(permutability_violation([dependence], schedules, [0]))


def _tile_numbers(
    compute: Compute, dependence: Dependence, dim: str, size: int
) -> dict[Hashable, tuple[Affine | FloorDiv, ...]]:
    numbers: dict[Hashable, tuple[Affine | FloorDiv, ...]] = {}
    for name in (dependence.source, dependence.sink):
        statement = compute.statement(str(name))
        has = any(own.name == dim for own in statement.dims)
        numbers[statement.name] = (FloorDiv(var(dim), size) if has else const(0),)
    return numbers


def _witness(violation: Violation | None) -> Witness | None:
    if violation is None:
        return None
    dependence = violation.dependence
    return Witness(
        _instance(str(dependence.source), violation.source),
        _instance(str(dependence.sink), violation.sink),
        f"{dependence.array}[{', '.join(map(str, violation.element))}]",
        ", ".join(f"{name}={value}" for name, value in violation.params),
    )


def _instance(name: str, point: tuple[tuple[str, int], ...]) -> str:
    return f"{name}[{', '.join(f'{dim}={value}' for dim, value in point)}]"
