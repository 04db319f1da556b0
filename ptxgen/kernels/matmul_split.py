"""Products whose k is split among neighbouring blocks: what can be, and where their partial tiles lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.limits import limits
from isa.targets import target
from ptxgen.compute import s32
from ptxgen.errors import PlanError
from ptxgen.kernels.matmul_compute import MatmulSpec
from ptxgen.kernels.matmul_drain import BARRIERS_BYTES
from ptxgen.plan import Plan, shared

if TYPE_CHECKING:
    from ptxgen.kernels.matmul_plan import MatmulTiling


def check_split(spec: MatmulSpec, tiling: MatmulTiling) -> None:
    """PlanError, by name, for what is not combined with parts of k."""
    if tiling.split == 1:
        return
    what = f"k split in {tiling.split}"
    if tiling.workers is not None:
        raise PlanError(f"{what}: blocks that stay and walk the tiles do not share a sum so far; take workers=None")
    if spec.totals:
        names = ", ".join(map(str, spec.totals))
        raise PlanError(f"{what}: each block joins a slice of its tile, no {names} of all of it; take split=1")
    if spec.summed is s32:
        raise PlanError(f"{what}: parts are joined in f32, the sums are integers; take split=1")


def joined(plan: Plan, parts: int, tile_bytes: int, rings: dict[str, int]) -> Plan:
    """The plan with its sum over k in so many parts. A partial tile of `tile_bytes` lies over the first of the `rings`,
    by name with their bytes, that holds it, else beside them; PlanError where it fits nowhere."""
    most = limits(target(plan.target)).shared_bytes_per_cta - BARRIERS_BYTES
    over = next((name for name, size in rings.items() if size >= tile_bytes), None)
    if over is None and tile_bytes + sum(rings.values()) > most:
        sizes = ", ".join(f"{name} {size}" for name, size in rings.items())
        raise PlanError(
            f"k split in {parts}: a partial tile has {tile_bytes} bytes, more than any ring ({sizes}) and than what "
            f"they leave of {most}; take a smaller tile or deeper rings"
        )
    return plan.split("k", parts, through=shared(1, alias=over))
