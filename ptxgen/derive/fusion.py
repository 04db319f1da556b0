"""Which loops of neighbouring statements are one loop: as many as the dependences allow."""

from __future__ import annotations

from ptxgen.compute import Statement
from ptxgen.derive.space import IndexSpace
from ptxgen.plan import backwards, dependences


def fused_paths(space: IndexSpace) -> dict[str, tuple[str, ...]]:
    """The loops around each statement, by name. Two statements share a loop if both have it there and no pair of
    instances would run backwards; a loop of the same dim that is not shared gets a name of its own (`cta.j#2`)."""
    paths: dict[str, tuple[str, ...]] = {}
    current: tuple[str, ...] = ()
    uses: dict[str, list[Statement]] = {}
    for statement in space.compute.statements:
        shared: list[str] = []
        wanted = space.rolled(statement)
        for loop, name in zip(wanted, current, strict=False):
            if name.partition("#")[0] != loop or not _may_join(space, uses[name], statement, loop):
                break
            shared.append(name)
        fresh = [_fresh(loop, uses) for loop in wanted[len(shared) :]]
        current = (*shared, *fresh)
        for name in current:
            uses.setdefault(name, []).append(statement)
        paths[statement.name] = current
    return paths


def _may_join(space: IndexSpace, inside: list[Statement], statement: Statement, loop: str) -> bool:
    dim = loop.partition(".")[2]
    tile = space.outer_tile(dim)
    assert tile is not None
    names = {earlier.name for earlier in inside}
    return not any(
        dependence.source in names
        and dependence.sink == statement.name
        and backwards(space.compute, dependence, dim, tile.sizes[dim])
        for dependence in dependences(space.compute)
    )


def _fresh(loop: str, uses: dict[str, list[Statement]]) -> str:
    if loop not in uses:
        return loop
    number = 2
    while f"{loop}#{number}" in uses:
        number += 1
    return f"{loop}#{number}"
