"""Products whose k is split among blocks, and where their partial sums meet."""

from __future__ import annotations

from functools import cache
from math import prod

from isa.forms import resolve
from isa.limits import limits
from isa.targets import target as target_named
from ptxgen.errors import PlanError
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.drain import BARRIERS_BYTES
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Plan, shared, workspace
from ptxgen.tile import is_power

CLUSTER_BARRIER = "barrier.cluster.wait.acquire.aligned"
IN_CLUSTERS = (2, 4, 8)
MOST_BLOCKS = 8


@cache
def has_clusters(target: str) -> bool:
    """Whether blocks of a target come in clusters."""
    return resolve(CLUSTER_BARRIER).availability.least_version(target_named(target)) is not None


def joins_in_cluster(spec: MatmulSpec, tiling: MatmulTiling, target: str) -> bool:
    """Whether the parts of a tile are neighbours in a cluster: where the target has clusters, they are few enough, and
    no sum runs over the tile, of which each block then has a slice, dealt to its warps by bits: extents and warps are
    powers of two. Else they pass their sums on through memory."""
    blocks = tiling.split * prod(tiling.cluster)
    by_bits = all(map(is_power, (tiling.i, tiling.j, tiling.warps)))
    return (
        tiling.split in IN_CLUSTERS and has_clusters(target) and blocks <= MOST_BLOCKS and not spec.totals and by_bits
    )


def slices_tiles(spec: MatmulSpec, tiling: MatmulTiling, target: str) -> bool:
    """Whether each block of a cluster has a slice of a tile in the end, which it stores from registers."""
    return tiling.split > 1 and joins_in_cluster(spec, tiling, target)


def joined(plan: Plan, parts: int, tile_bytes: int, rings: dict[str, int]) -> Plan:
    """The plan with its sum over k in so many parts of a cluster. A partial tile of `tile_bytes` lies over the first of
    the `rings`, by name with their bytes, that holds it, else beside them; PlanError where it fits nowhere."""
    most = limits(target_named(plan.target)).shared_bytes_per_cta - BARRIERS_BYTES
    over = next((name for name, size in rings.items() if size >= tile_bytes), None)
    if over is None and tile_bytes + sum(rings.values()) > most:
        sizes = ", ".join(f"{name} {size}" for name, size in rings.items())
        raise PlanError(
            f"k split in {parts}: a partial tile has {tile_bytes} bytes, more than any ring ({sizes}) and than what "
            f"they leave of {most}; take a smaller tile or deeper rings"
        )
    return plan.split("k", parts, through=shared(1, alias=over))


def passed_on(plan: Plan, parts: int, *, tickets: bool = False) -> Plan:
    """The plan with its sum over k in so many parts that pass it on through memory, where blocks come by ticket if
    they are to."""
    return plan.split("k", parts, through=workspace(tickets=tickets))
