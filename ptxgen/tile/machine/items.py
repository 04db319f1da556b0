"""Which tiles a block takes, in which order."""

from __future__ import annotations

from ptxgen.tile.machine.clusters import clusters_of
from ptxgen.tile.machine.rasters import Place
from ptxgen.tile.machine.state import Launch

RESIDENT_CLUSTERS = 3
Shares = tuple[tuple[Place, ...], ...]


def items_of(launch: Launch, workers: int | None) -> list[Shares]:
    """For each cluster what each of its blocks takes: a tile each, or with a work list those of every W-th cluster of
    tiles. W clusters are as many as the list has blocks for, `workers` where it leaves that to the device, one at least
    and never more than there are."""
    grid = launch.program.grid
    together, shared = clusters_of(launch), grid.work_list
    if shared is None:
        return [tuple((place,) for place in members) for members in together]
    asked = shared.workers or workers or RESIDENT_CLUSTERS * grid.cluster
    count = min(max(1, asked // grid.cluster), len(together))
    return [tuple(zip(*together[worker::count], strict=True)) for worker in range(count)]
