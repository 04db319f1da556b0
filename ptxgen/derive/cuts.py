"""Where the sums of tiles are cut whose slabs blocks share: a part of the order of the sum, which decides its bits."""

from __future__ import annotations

from attrs import frozen

from ptxgen.plan import BlockOrder, Cluster, Persist, Plan, Stream, cut_of, tile_levels

MOST_PARTS = 3


@frozen
class Cut:
    """Where the sums of tiles are cut: the blocks of a work list, `workers` of them or (None) as many as run at once,
    share the slabs of all tiles evenly, which are of these extents and, in clusters, taken in the order of the raster.
    Equal cuts are of equal sizes and as many blocks."""

    slab: int
    extents: tuple[tuple[str, int], ...]
    raster: BlockOrder
    cluster: tuple[tuple[str, int], ...]
    workers: int | None

    def __str__(self) -> str:
        blocks = "as many blocks as run at once" if self.workers is None else f"{self.workers} blocks"
        tiles = ", ".join(f"{dim}={size}" for dim, size in self.extents)
        clusters = ", ".join(f"{dim}={size}" for dim, size in self.cluster)
        beside = f" in clusters of {clusters}" if clusters else ""
        return (
            f"slabs of {self.slab} in ascending k, cut where the even shares of {blocks}{beside} end in the tiles "
            f"({tiles}) as {self.raster} orders them, each part from zero, added (rn) in ascending order: another "
            f"count of blocks is another order"
        )


def cut_by(plan: Plan, stream: Stream) -> Cut:
    """Where a streamed sum is cut."""
    _, cutting = cut_of(plan.steps, plan.compute.statements, stream)
    walked = next(step for step in plan.steps if isinstance(step, Persist))
    level = next(tile for tile in tile_levels(plan.steps) if tile.level == walked.level)
    extents = tuple((dim, size) for dim, size in level.extents if dim in walked.dims)
    cluster = next((step.extents for step in plan.steps if isinstance(step, Cluster)), ())
    workers = walked.workers if isinstance(walked.workers, int) else None
    return Cut(cutting.slab, extents, walked.raster, cluster, workers)
