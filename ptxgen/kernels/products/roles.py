"""Who beside those that multiply has slabs brought, and the registers that they give away."""

from __future__ import annotations

from ptxgen.kernels.products.generations import moves_registers
from ptxgen.kernels.products.tiling import MatmulTiling

ROLE_REGISTERS = {2: (40, 232), 3: (32, 160)}


def loading_warps(tiling: MatmulTiling, target: str, *, by_groups: bool) -> int:
    """The warps beside those that multiply, which have boxes copied: a whole warpgroup to give registers away, as most
    do; none where warps copy for themselves."""
    if by_groups:
        return 4
    return 0 if not tiling.boxed else 4 if moves_registers(target) and tiling.warps // 4 in ROLE_REGISTERS else 1
