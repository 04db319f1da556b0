"""Whether a schedule tree keeps the dependences, and whether its bands are what they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from attrs import evolve

from polyhedral.affine import Affine, var
from polyhedral.dependences import Dependence
from polyhedral.ordering import TimedPairs, Violation
from polyhedral.schedule_scan import known_of_parameters, statements_of_schedule
from polyhedral.schedule_tree import (
    Band,
    Context,
    Domain,
    Expansion,
    Extension,
    Filter,
    Leaf,
    Mark,
    ScheduleNode,
    Sequence,
    Unordered,
)
from polyhedral.statement import Statement
from polyhedral.system import UNIVERSE, System


def schedule_violation(
    found: Iterable[Dependence],
    tree: Domain,
    context: System = UNIVERSE,
    reductions_are_free: bool = True,
) -> Violation | None:
    """The first pair of dependent instances that the tree does not run in order, or None.

    Statements are the spaces of the tree, by name; instances of one time are in no order, so a dependent pair of one
    time is a violation. What the contexts say of the parameters is known. Pairs set aside by a reduction are not asked
    for, unless `reductions_are_free` is False. ValueError names a statement that the tree does not run.
    """
    for pairs in _timed(found, tree, context, reductions_are_free):
        witness = pairs.misordered(tie=False)
        if witness is not None:
            return witness
    return None


def band_violation(
    found: Iterable[Dependence],
    tree: Domain,
    context: System = UNIVERSE,
    reductions_are_free: bool = True,
) -> tuple[Band, Violation] | None:
    """The first band whose flags are wrong, with a dependent pair that says so, or None.

    Pairs that the bands around put at different times are not asked for. Members of a band that is `permutable`, so
    that they may be exchanged and tiled, must not run such a pair backwards; a member that is `coincident`, so that
    its iterations may run at once, must give both one time.
    """
    asked = list(found)
    for path, band in _bands(tree):
        for pairs in _timed(asked, path, context, reductions_are_free):
            witness = _against_flags(pairs, band)
            if witness is not None:
                return band, witness
    return None


def _against_flags(pairs: TimedPairs, band: Band) -> Violation | None:
    first = len(pairs.ones) - len(band.members)
    witness = pairs.backwards_in(range(first, len(pairs.ones))) if band.permutable else None
    for member, coincident in enumerate(band.coincident):
        if witness is None and coincident:
            witness = pairs.apart_at(first + member, outer=first)
    return witness


def _timed(
    found: Iterable[Dependence], tree: Domain, context: System, reductions_are_free: bool
) -> Iterator[TimedPairs]:
    running: dict[object, list[Statement]] = {space.name: [] for space in tree.domain.spaces}
    for statement in statements_of_schedule(tree):
        running.setdefault(statement.payload, []).append(statement)
    known = context & known_of_parameters(tree).hull()
    for dependence in found:
        if dependence.set_aside and reductions_are_free:
            continue
        for name in (dependence.source, dependence.sink):
            if name not in running:
                raise ValueError(f"the schedule tree runs no instances of the statement {name}, which has dependences")
        for one in running[dependence.source]:
            for other in running[dependence.sink]:
                yield _pairs(dependence, one, other, known)


def _pairs(dependence: Dependence, one: Statement, other: Statement, known: System) -> TimedPairs:
    first, ones = _times_of(one, dependence.relation.in_dims, "<")
    second, others = _times_of(other, dependence.relation.out_dims, ">")
    pieces = [p & a & b & known for p in dependence.relation.pieces for a in first for b in second]
    return TimedPairs.of(dependence, pieces, ones, others)


def _times_of(statement: Statement, dims: tuple[str, ...], mark: str) -> tuple[tuple[System, ...], tuple[Affine, ...]]:
    members = statement.hidden
    own = statement.domain.dims[len(members) :]
    names = {m: f"{m}{mark}" for m in members} | dict(zip(own, dims, strict=True))
    times = tuple(t.substitute({m: var(n) for m, n in names.items()}) for t in statement.schedule)
    return statement.domain.rename(names).pieces, times


def _bands(tree: Domain) -> Iterator[tuple[Domain, Band]]:
    """Each band with the tree that holds only what is on the way to it, and nothing below."""
    for below, band in _bands_below(tree.child):
        yield evolve(tree, child=below), band


def _bands_below(node: ScheduleNode) -> Iterator[tuple[ScheduleNode, Band]]:
    match node:
        case Leaf():
            return
        case Sequence(children) | Unordered(children):
            for child in children:
                for below, band in _bands_below(child.child):
                    yield Sequence((evolve(child, child=below),)), band
        case Band():
            yield evolve(node, child=Leaf(), options=(), isolate=None), node
            for below, band in _bands_below(node.child):
                yield evolve(node, child=below), band
        case Domain() | Context() | Filter() | Mark() | Extension() | Expansion():
            for below, band in _bands_below(node.child):
                yield evolve(node, child=below), band
        case _:
            assert_never(node)
