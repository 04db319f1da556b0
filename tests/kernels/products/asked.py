"""Tilings drawn at random, and what becomes of each of their choices where the arrays suit them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from attrs import evolve, fields

from ptxgen.compute import e4m3, f16, f32, f64, s8
from ptxgen.kernels import Grouping, Layout, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan
from ptxgen.kernels import parse_epilogue as pieces
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.kernels.launching.views import DTYPES, outline
from ptxgen.plan import BlockOrder, Eviction, Plan, grouped, hilbert, sms

SIZES = {"M": 512, "N": 512, "K": 512, "batches": 2, "groups": 4}
TARGETS = ("sm_70", "sm_80", "sm_90", "sm_90a")
SPECS = {
    "plain": MatmulSpec(Layout.NT),
    "residual": MatmulSpec(Layout.NT, epilogue=pieces("bias,relu,residual")),
    "kept": MatmulSpec(Layout.TN, output=f32, epilogue=pieces("keep,relu")),
    "halves": MatmulSpec(Layout.NN, accumulate=f16),
    "row sums": MatmulSpec(Layout.NT, epilogue=pieces("row_sum")),
    "column sums": MatmulSpec(Layout.NT, epilogue=pieces("column_sum")),
    "chains": MatmulSpec(Layout.NT, promote=32),
    "bytes in rows": MatmulSpec.of(e4m3),
    "bytes along k": MatmulSpec.of(e4m3, layout=Layout.NT, output=e4m3),
    "integers": MatmulSpec.of(s8, layout=Layout.NT),
    "doubles": MatmulSpec.of(f64),
    "groups of rows": MatmulSpec(Layout.NN, grouped=Grouping.ROWS),
    "groups of terms": MatmulSpec(Layout.TN, grouped=Grouping.TERMS),
    "groups along k": MatmulSpec(Layout.NT, grouped=Grouping.TERMS),
}
TILES = ((128, 128, 8), (128, 256, 8), (64, 128, 4), (64, 64, 4), (192, 128, 12), (128, 64, 4), (96, 192, 12),
         (64, 24, 4), (32, 128, 8), (100, 64, 4), (64, 64, 3))  # fmt: skip
CHOICES: dict[str, tuple[Any, ...]] = {
    "k": (8, 16, 32, 64, 64, 64, 128, 24),
    "depth": (1, 2, 3, 4),
    "prefetch": (True, False),
    "fragment_depth": (1, 2, 2, 4, 3),
    "raster": (grouped(8), BlockOrder(1), hilbert(4)),
    "workers": (None, sms, 5),
    "cluster": ((1, 1), (1, 1), (2, 1), (2, 2), (4, 4)),
    "drain": (0, 64, 64, 32, 16, 8, 4, 7, 24, 128),
    "swap": (False, False, True),
    "overlap": (False, True),
    "turns": (False, False, True),
    "evict": ((None, None, None), (Eviction.FIRST, None, None), (None, None, Eviction.LAST)),
    "maps_early": (False, True),
    "split": (1, 1, 1, 2, 3, 65),
    "boxed": (False, False, True),
    "stream": (False, False, True),
    "drain_depth": (2, 2, 3),
    "piecewise": (False, True),
    "residual_depth": (0, 2),
    "group_rows": (64, 64, 64, 128, 192),
    "tickets": (False, False, True),
}
DEFAULTS = {each.name: getattr(MatmulTiling(), each.name) for each in fields(MatmulTiling)}


def drawn(chance: np.random.Generator) -> MatmulTiling:
    """A tile with a few choices that differ from their defaults."""
    i, j, count = TILES[chance.integers(len(TILES))]
    named = chance.choice(list(CHOICES), chance.integers(1, 5), replace=False)
    changed = {str(name): CHOICES[name][chance.integers(len(CHOICES[name]))] for name in named}
    return MatmulTiling(i, j, **{"k": 64, "warps": count, "isolate": False, **changed})


def plan_of(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> Plan:
    """The plan for large arrays that suit every tiling."""
    parted = evolve(spec, parts=tiling.warp_tile)
    compute = matmul_compute(parted)
    arrays = {
        array.name: outline(DTYPES[array.element], tuple(extent.evaluate(SIZES | PARTS) for extent in array.extents))
        for array in arrays_in_memory(compute)
    }
    return matmul_plan(compute, parted, facts_of(compute, bind(arrays_in_memory(compute), arrays)), tiling, target)


PARTS = {"row_sum_part_count": 8, "column_sum_part_count": 8}


def steps_of(plan: Plan) -> str:
    """The steps as text, without their lines."""
    return re.sub(r"\s+# \S+:\d+", "", "\n".join(map(str, plan.steps)))
