"""Products whose tiles are taken along Hilbert's curve: the same bits as in rows."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling
from ptxgen.plan import grouped, hilbert, rows
from ptxgen.tile import Raster
from tests.kernels.cases import bits, run_matmul

GROUPS = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, workers=2, drain=64)
PLANS = {
    "volta": ("sm_70", MatmulTiling(i=64, j=64, k=16)),
    "ampere": ("sm_80", MatmulTiling(i=64, j=64, depth=3)),
    "hopper": ("sm_90a", evolve(GROUPS, workers=None)),
    "blocks that stay": ("sm_90a", GROUPS),
    "clusters": ("sm_90a", evolve(GROUPS, cluster=(2, 1))),
    "turns": ("sm_90a", evolve(GROUPS, warps=8, turns=True, workers=1)),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_order_of_tiles_changes_no_bit(name: str) -> None:
    target, tiling = PLANS[name]
    spec = MatmulSpec(Layout.NT, batched=name == "volta")
    found = []
    for raster in (hilbert(2), hilbert(4), rows):
        outcome = run_matmul(spec, (136, 200, 40), evolve(tiling, raster=raster), target=target)
        found.append(bits(outcome.arrays["D"]))
        curve = raster.curve
        assert outcome.kernel.program.grid.raster == Raster(raster.group, curve)
    assert np.array_equal(found[0], found[2])
    assert np.array_equal(found[1], found[2])


def test_a_raster_says_what_it_is() -> None:
    assert [str(order) for order in (rows, grouped(4), hilbert(), hilbert(8))] == [
        "rows",
        "grouped(4)",
        "hilbert(16)",
        "hilbert(8)",
    ]
    assert "hilbert(8), walked by 2 blocks" in str(evolve(GROUPS, raster=hilbert(8)))
