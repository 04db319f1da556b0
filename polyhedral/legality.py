"""Whether new schedules keep the dependences, with two concrete instances where one does not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import frozen

from polyhedral.affine import Affine, FloorDiv, as_affine, var
from polyhedral.dependences import Dependence, primed
from polyhedral.ordering import TimedPairs, Violation
from polyhedral.quotients import definition
from polyhedral.system import System


@frozen
class QuotientDim:
    """A named schedule dimension that is floor(affine / divisor); later entries may use its name."""

    name: str
    affine: Affine
    divisor: int


Entry: TypeAlias = Affine | FloorDiv | QuotientDim | int


@frozen
class Times:
    """A schedule of original instances: `entries` in order, and `quotients` that they may use by name.

    A quotient may use those before it. An entry that is itself a QuotientDim or a FloorDiv stands for
    its value.
    """

    entries: tuple[Entry, ...]
    quotients: tuple[QuotientDim, ...] = ()


Schedules: TypeAlias = Mapping[Any, Times | Sequence[Entry]]


def violations(
    found: Iterable[Dependence],
    schedules: Schedules,
    context: System | None = None,
    order: Sequence[Hashable] = (),
    reductions_are_free: bool = True,
) -> Violation | None:
    """The first pair of dependent instances that `schedules` do not keep in order, or None.

    Instances of one new time are taken to run in the order of `order`, a sequence of statement names,
    and to run at once where it does not tell them apart: then the pair is a violation. Dependences
    set aside by a reduction are not asked for, unless `reductions_are_free` is False.
    """
    ranks = {name: rank for rank, name in enumerate(order)}
    for dependence in _asked(found, schedules, reductions_are_free):
        pairs = _timed(dependence, schedules, context)
        tie = ranks.get(dependence.source, 0) < ranks.get(dependence.sink, 0)
        witness = pairs.misordered(tie)
        if witness is not None:
            return witness
    return None


def legal(
    found: Iterable[Dependence],
    schedules: Schedules,
    context: System | None = None,
    order: Sequence[Hashable] = (),
    reductions_are_free: bool = True,
) -> bool:
    """Whether `violations` finds none."""
    return violations(found, schedules, context, order, reductions_are_free) is None


def parallelism_violation(
    found: Iterable[Dependence],
    schedules: Schedules,
    level: int,
    context: System | None = None,
    reductions_are_free: bool = True,
) -> Violation | None:
    """A dependent pair with one time before `level` and different times there, or None where it may run in parallel."""
    for dependence in _asked(found, schedules, reductions_are_free):
        witness = _timed(dependence, schedules, context).apart_at(level)
        if witness is not None:
            return witness
    return None


def permutability_violation(
    found: Iterable[Dependence],
    schedules: Schedules,
    band: Sequence[int],
    context: System | None = None,
    reductions_are_free: bool = True,
) -> Violation | None:
    """A dependent pair that runs backwards at a level of `band` though no level before the band orders it, or None."""
    for dependence in _asked(found, schedules, reductions_are_free):
        witness = _timed(dependence, schedules, context).backwards_in(band)
        if witness is not None:
            return witness
    return None


def is_parallel(
    dim: str, found: Iterable[Dependence], outer: Sequence[str] = (), context: System | None = None
) -> bool:
    """Whether instances that agree in `outer` may run at once for all values of `dim`, a dimension of statements.

    Only dependences between statements that both have these dimensions are looked at.
    """
    chosen, schedules = _along((*outer, dim), found)
    return parallelism_violation(chosen, schedules, len(outer), context) is None


def is_permutable(
    dims: Sequence[str], found: Iterable[Dependence], outer: Sequence[str] = (), context: System | None = None
) -> bool:
    """Whether the loops `dims` inside `outer` may be exchanged and tiled.

    Only dependences between statements that both have these dimensions are looked at.
    """
    chosen, schedules = _along((*outer, *dims), found)
    band = range(len(outer), len(outer) + len(dims))
    return permutability_violation(chosen, schedules, band, context) is None


def _along(dims: Sequence[str], found: Iterable[Dependence]) -> tuple[list[Dependence], Schedules]:
    needed = set(dims)
    chosen = [
        d
        for d in found
        if needed.issubset(d.relation.in_dims) and {primed(n) for n in needed}.issubset(d.relation.out_dims)
    ]
    names = {n for d in chosen for n in (d.source, d.sink)}
    return chosen, {n: tuple(var(d) for d in dims) for n in names}


def _asked(found: Iterable[Dependence], schedules: Schedules, reductions_are_free: bool) -> list[Dependence]:
    chosen = [d for d in found if not (d.set_aside and reductions_are_free)]
    for dependence in chosen:
        for name in (dependence.source, dependence.sink):
            if name not in schedules:
                raise ValueError(f"no schedule is given for the statement {name}, which has dependences")
    return chosen


def _timed(dependence: Dependence, schedules: Schedules, context: System | None) -> TimedPairs:
    times = _NewTimes(dependence, schedules, context or System())
    pieces = [p & times.defined for p in dependence.relation.pieces]
    return TimedPairs.of(dependence, pieces, times.ones, times.others)


class _NewTimes:
    """The new times of both ends of a dependence, and in `defined` the quotients that they use."""

    def __init__(self, dependence: Dependence, schedules: Schedules, context: System) -> None:
        self.dependence = dependence
        self.defined = context
        relation = dependence.relation
        source = {d: var(d) for d in relation.in_dims}
        sink = {d.removesuffix("'"): var(d) for d in relation.out_dims}
        self.ones = self._times(schedules[dependence.source], source, "<")
        self.others = self._times(schedules[dependence.sink], sink, ">")

    def _times(self, times: Times | Sequence[Entry], names: dict[str, Affine], mark: str) -> list[Affine]:
        given = times if isinstance(times, Times) else Times(tuple(times))
        names = dict(names)
        for quotient in given.quotients:
            self._define(quotient.name, FloorDiv(quotient.affine, quotient.divisor), names, mark)
        result = []
        for number, entry in enumerate(given.entries):
            match entry:
                case QuotientDim(name, affine, divisor):
                    result.append(self._define(name, FloorDiv(affine, divisor), names, mark))
                case FloorDiv():
                    result.append(self._define(f"entry{number}", entry, dict(names), mark))
                case _:
                    result.append(as_affine(entry).substitute(names))
        return result

    def _define(self, name: str, quotient: FloorDiv, names: dict[str, Affine], mark: str) -> Affine:
        own = f"{name}{mark}"
        self.defined = self.defined & definition(own, quotient.substitute(names))
        names[name] = var(own)
        return var(own)
