"""Which tiles a block takes, in which order."""

from __future__ import annotations

from ptxgen.tile.machine.clusters import clusters_of
from ptxgen.tile.machine.rasters import Place
from ptxgen.tile.machine.state import Launch, evaluate
from ptxgen.tile.machine.streaming import most_workers, shares

RESIDENT_CLUSTERS = 3
Shares = tuple[tuple[Place, ...], ...]


def items_of(launch: Launch, workers: int | None) -> list[Shares]:
    """For each cluster what each of its blocks takes: a tile each, or with a work list those of every W-th cluster of
    tiles. W clusters are as many as the list has blocks for, `workers` where it leaves that to the device, one at least
    and never more than there are. Of a streamed list the launch keeps what each cluster takes of its tiles."""
    grid = launch.program.grid
    together, shared = clusters_of(launch), grid.work_list
    if shared is None:
        return [tuple((place,) for place in members) for members in together]
    asked = shared.workers or workers or RESIDENT_CLUSTERS * grid.cluster
    slabs = 0 if shared.slabs is None else evaluate(shared.slabs, launch.sizes)
    count = min(max(1, asked // grid.cluster), most_workers(shared, len(together), slabs))
    if shared.slabs is not None:
        launch.shares = shares(len(together), slabs, count) if count else []
        return [tuple(zip(*(together[item.tile] for item in own.items), strict=True)) for own in launch.shares]
    return [tuple(zip(*together[worker::count], strict=True)) for worker in range(count)]
