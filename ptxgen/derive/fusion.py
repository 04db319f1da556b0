"""Which loops of neighbouring statements are one loop: as many as the dependences allow."""

from __future__ import annotations

from attrs import evolve

from ptxgen.compute import Statement
from ptxgen.derive.loops import Path, RolledLoop
from ptxgen.derive.space import IndexSpace
from ptxgen.plan import backwards, dependences


def fused_paths(space: IndexSpace) -> dict[str, Path]:
    """The loops around each statement, by its name. Two statements share a loop if both have it there and no pair of
    instances would run backwards; a loop of the same dim that is not shared is a further copy."""
    paths: dict[str, Path] = {}
    current: Path = ()
    uses: dict[RolledLoop, list[Statement]] = {}
    for statement in space.compute.statements:
        shared: list[RolledLoop] = []
        wanted = space.rolled(statement)
        for loop, open_loop in zip(wanted, current, strict=False):
            if open_loop.at != loop.at or not _may_join(space, uses[open_loop], statement, loop):
                break
            shared.append(open_loop)
        current = (*shared, *(_fresh(loop, uses) for loop in wanted[len(shared) :]))
        for loop in current:
            uses.setdefault(loop, []).append(statement)
        paths[statement.name] = current
    return paths


def _may_join(space: IndexSpace, inside: list[Statement], statement: Statement, loop: RolledLoop) -> bool:
    names = {earlier.name for earlier in inside}
    return not any(
        dependence.source in names
        and dependence.sink == statement.name
        and backwards(space.compute, dependence, loop.dim, loop.size or space.block_extent(loop.dim))
        for dependence in dependences(space.compute)
    )


def _fresh(loop: RolledLoop, uses: dict[RolledLoop, list[Statement]]) -> RolledLoop:
    while loop in uses:
        loop = evolve(loop, copy=loop.copy + 1)
    return loop
