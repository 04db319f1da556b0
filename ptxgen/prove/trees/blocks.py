"""The blocks of a launch that are laid out together, and what each is told of its tile and of its items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptxgen.prove.trees.sizes import Case, tiles_of
from ptxgen.tile import Grid

Told = Mapping[str, int]


def laid_out(grid: Grid, case: Case) -> Iterator[tuple[Told, list[Told]]]:
    """For each block, in the order in which they begin, the variables of all that it does and those of each item: the
    blocks of a cluster of tiles, of each part of its sums, or where tiles are shared slab by slab all of the launch."""
    if case.shares:
        yield from _sharing(grid, case)
        return
    for indices in tiles_of(grid):
        if grid.work_list is None:
            yield {**case.sizes, **indices, **case.bounds(grid.segments, 0)}, []
        else:
            yield case.sizes, [indices | case.bounds(grid.segments, number) for number in range(case.items)]


def _sharing(grid: Grid, case: Case) -> Iterator[tuple[Told, list[Told]]]:
    members = tiles_of(grid)
    for cluster, share in enumerate(case.shares):
        for rank, indices in enumerate(members):
            told = share.told(cluster * len(members) + rank, len(case.shares) * len(members))
            yield case.sizes, [indices | told | part.told for part in share.parts]


def where(grid: Grid, case: Case) -> str:
    """The sizes and items of a case in words."""
    sizes = ", ".join(f"{name} = {value}" for name, value in case.sizes.items() if value) or "sizes of 0"
    if case.shares:
        return f"{sizes}, tiles: {case.items}, shared by {len(case.shares)}"
    return f"{sizes}, {case.items} items" if grid.work_list else sizes
