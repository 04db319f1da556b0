"""What blocks do: a tile each or many in turn, the whole of its sum or a part."""

from __future__ import annotations

from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.rings import ring_bytes
from ptxgen.kernels.products.split import joined, joins_in_cluster, passed_on, slices_tiles
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Plan, blocks


def on_blocks(plan: Plan, tiling: MatmulTiling) -> Plan:
    """A block for each tile, or blocks that stay."""
    if tiling.workers is None:
        return plan.place("cta", onto=blocks, raster=tiling.raster)
    return plan.persist("cta", raster=tiling.raster, workers=tiling.workers)


def drain_extent(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling) -> int:
    """The extent of the pieces in which results leave through shared memory; a slice leaves from registers."""
    return 0 if slices_tiles(spec, tiling, plan.target) else tiling.drain


def split(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling) -> Plan:
    """The plan with k in parts, or streamed, where the tiling asks for it."""
    if tiling.stream:
        return plan.stream("k", tickets=tiling.tickets)
    if tiling.split == 1:
        return plan
    if not joins_in_cluster(spec, tiling, plan.target):
        return passed_on(plan, tiling.split, tickets=tiling.tickets)
    of_a, both = ring_bytes(spec, tiling)
    tile_bytes = tiling.i * tiling.j * spec.summed.byte_count
    return joined(plan, tiling.split, tile_bytes, {"B.shared": both - of_a, "A.shared": of_a})
