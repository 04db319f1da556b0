"""Blocks of a cluster: they run together, meet at the cluster's barrier, and reach each other's barriers and tiles only
while those are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
from attrs import define, evolve, field

from ptxgen.tile.grid import Grid, rank_name
from ptxgen.tile.machine.faults import MachineFault
from ptxgen.tile.machine.geometry import Index
from ptxgen.tile.machine.rasters import Place, in_order
from ptxgen.tile.machine.schedule import Blocked
from ptxgen.tile.machine.segments import group_variables
from ptxgen.tile.machine.state import Block, Launch, Warp, evaluate


@define(eq=False)
class Cluster:
    """The blocks of a cluster, its number counted from 1, and its barrier: how often each warp has arrived and waited
    there, what those that arrived in each phase had seen, and which warps have ended, for whom nobody waits."""

    number: int
    blocks: list[Block] = field(factory=list)
    arrived: dict[int, int] = field(factory=dict)
    told: list[Index] = field(factory=list)
    waited: dict[int, int] = field(factory=dict)
    ended: set[int] = field(factory=set)

    @property
    def warps(self) -> list[Warp]:
        """The warps of all blocks in the order of their places."""
        return [warp for block in self.blocks for warp in block.warps]

    def arrive(self, warp: Warp) -> None:
        """The warp tells that it has come here, and what it has seen."""
        phase = self.arrived[warp.place] = self.arrived.get(warp.place, 0) + 1
        if phase > self.waited.get(warp.place, 0) + 1:
            text = f"{warp.name}, block {warp.block.name}, arrives twice at the cluster's barrier before it waits there"
            raise MachineFault("tile.barrier", text, None)
        if phase > len(self.told):
            self.told.append(np.zeros_like(warp.seen))
        np.maximum(self.told[phase - 1], warp.seen, out=self.told[phase - 1])
        warp.seen[warp.place] += 1

    def wait(self, warp: Warp) -> Blocked:
        """The wait for everybody's arrival in the phase in which the warp arrived last."""
        phase = self.arrived.get(warp.place, 0)
        if phase == self.waited.get(warp.place, 0):
            text = f"{warp.name}, block {warp.block.name}, waits for the cluster's barrier and has not arrived there"
            raise MachineFault("tile.barrier", text, None)

        self.waited[warp.place] = phase

        def ready() -> bool:
            return all(each.place in self.ended or self.arrived.get(each.place, 0) >= phase for each in self.warps)

        def resume() -> None:
            np.maximum(warp.seen, self.told[phase - 1], out=warp.seen)

        return Blocked("the cluster's barrier", ready, resume)

    def reach(self, warp: Warp, rank: int) -> Block:
        """The block of that rank, reached by a warp. Fault `tile.early` where nothing tells the warp that the block has
        initialised its barriers."""
        block = self.blocks[rank]
        if block is not warp.block:
            if not warp.seen[block.warps[0].place]:
                text = f"{warp.name}, block {warp.block.name}, reaches block {block.name}, which may not have begun"
                raise MachineFault("tile.early", text, None)
            block.reached[warp.place] = max(block.reached.get(warp.place, 0), int(warp.seen[warp.place]))
        return block

    def check_left(self) -> None:
        """Fault `tile.left` where a block was reached by something that none of its warps has seen when it ended: it
        may have gone by then."""
        for block in self.blocks:
            known = np.maximum.reduce([warp.seen for warp in block.warps])
            for place, clock in block.reached.items():
                if clock > known[place]:
                    other = next(warp for warp in self.warps if warp.place == place)
                    text = f"{other.name}, block {other.block.name}, reaches block {block.name}, which may have left"
                    raise MachineFault("tile.left", text, None)


def clusters_of(launch: Launch) -> list[tuple[Place, ...]]:
    """The tile indices of the blocks of each cluster, in the order of their ranks, the last dim fastest; clusters in
    that of the raster, those of a group before those of the next. Where tiles do not fill the last cluster its blocks
    lie beyond them."""
    grid, sizes = launch.program.grid, launch.sizes
    if grid.segments is not None:
        inside = evolve(grid, dims=grid.dims[1:])
        groups = group_variables(launch, grid.segments)
        return [
            tuple((number, *place) for place in members)
            for number, group in enumerate(groups)
            for members in _clusters(inside, {**sizes, **group})
        ]
    return _clusters(grid, sizes)


def _clusters(grid: Grid, sizes: Mapping[str, int]) -> list[tuple[Place, ...]]:
    counts = [-(-evaluate(dim.count, sizes) // dim.cluster) for dim in grid.dims]
    height = grid.dims[-2].cluster if len(grid.dims) > 1 else 1
    return [tuple(_members(grid, first)) for first in in_order(counts, grid.raster, height)]


def _members(grid: Grid, first: Place) -> Iterator[Place]:
    for rank in product(*(range(dim.cluster) for dim in grid.dims)):
        yield tuple(at * dim.cluster + own for at, dim, own in zip(first, grid.dims, rank, strict=True))


def tile_variables(launch: Launch, place: Place) -> dict[str, int]:
    """What a block's tile indices are, its ranks along those that a cluster extends along, and the bounds of its
    group."""
    grid = launch.program.grid
    group = group_variables(launch, grid.segments)[place[0]] if grid.segments else {}
    found = {dim.variable: at for dim, at in zip(grid.dims, place, strict=True)}
    ranks = {rank_name(d.variable): at % d.cluster for d, at in zip(grid.dims, place, strict=True) if d.cluster > 1}
    return found | ranks | group
