"""Tiles of a workspace that blocks pass on: the flag of each tile, and what who sets it has seen by then.

Blocks run in ascending order of their parts, so that one that waits for a later one waits forever, which on a device,
where all of them run at once, it might not.
"""

from __future__ import annotations

from math import prod

import numpy as np
from attrs import define, field

from ptxgen.tile.grid import Grid
from ptxgen.tile.machine.clocks import Clocks
from ptxgen.tile.machine.faults import MachineFault
from ptxgen.tile.machine.geometry import Index
from ptxgen.tile.machine.numbers import NUMPY_TYPES
from ptxgen.tile.machine.schedule import Blocked
from ptxgen.tile.machine.state import NEVER_WRITTEN, Launch, Storage, Warp, evaluate
from ptxgen.tile.program import Program
from ptxgen.tile.variables import TILE_COUNT, TILE_NUMBER

Seen = dict[int, Index]


@define(eq=False)
class Turns:
    """The flags of a launch by array and tile: the value, and the clocks that their writer had seen, by cluster."""

    values: dict[tuple[str, int], int] = field(factory=dict)
    told: dict[tuple[str, int], Seen] = field(factory=dict)

    def acquire(self, warp: Warp, flags: str, tile: int, value: int) -> Blocked:
        """The wait of a role's first warp for a value; behind it the warp has seen what the writer had."""
        at = (flags, tile)

        def resume() -> None:
            for cluster, seen in self.told.get(at, {}).items():
                known = warp.before.get(cluster, np.zeros_like(seen))
                warp.before[cluster] = np.maximum(known, seen)

        return Blocked(f"{flags}[{tile}] to be {value}", lambda: self.values.get(at, 0) == value, resume)

    def release(self, warp: Warp, flags: str, tile: int, value: int) -> None:
        """The first warp of a role tells that it has come here, and what it has seen."""
        self.values[flags, tile] = value
        self.told[flags, tile] = {**warp.before, warp.block.cluster.number: warp.seen.copy()}
        warp.seen[warp.place] += 1

    def check_put_back(self) -> None:
        """Fault `tile.flag` where a flag is not what it was at the launch."""
        for (flags, tile), value in self.values.items():
            if value:
                raise MachineFault("tile.flag", f"{flags}[{tile}] is {value} when the launch ends, and was 0", None)


def workspace_memory(program: Program, sizes: dict[str, int], warps: int, blocks: int) -> dict[str, Storage]:
    """The workspaces of a launch of so many blocks, not yet written."""
    if not program.workspaces:
        return {}
    shared = program.grid.work_list
    tiles = tile_count(program.grid, sizes) if shared is None or shared.slabs is None else blocks
    return {
        each.name: Storage(
            np.zeros(tiles * each.elements, NUMPY_TYPES[each.element]),
            np.full(tiles * each.elements, NEVER_WRITTEN, np.int64),
            Clocks(tiles * each.elements, warps),
        )
        for each in program.workspaces
        if not each.zeroed
    }


def tile_count(grid: Grid, sizes: dict[str, int]) -> int:
    """The tiles of a launch, all parts of one counted once."""
    return prod(counts_of(grid, sizes)) // grid.parts


def counts_of(grid: Grid, sizes: dict[str, int]) -> list[int]:
    """The tile indices along each dim, filled up to whole clusters."""
    return [-(-evaluate(dim.count, sizes) // dim.cluster) * dim.cluster for dim in grid.dims]


def tile_numbers(grid: Grid, place: tuple[int, ...], sizes: dict[str, int]) -> dict[str, int]:
    """The number of a block's tile among those of its part, and how many there are."""
    if grid.parts == 1:
        return {}
    number = 0
    for at, count in zip(place[1:], counts_of(grid, sizes)[1:], strict=True):
        number = number * count + at
    return {TILE_NUMBER: number, TILE_COUNT: tile_count(grid, sizes)}


def in_order(launch: Launch, together: list[tuple[tuple[tuple[int, ...], ...], ...]]) -> None:
    """Puts clusters in ascending order of their part, the order among those of one part kept."""
    if launch.program.grid.parts > 1:
        together.sort(key=lambda shares: shares[0][0][0])
