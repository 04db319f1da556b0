"""Launches timed on a device, from the files beside this one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ptxgen.compute import f16
from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling
from ptxgen.kernels.epilogue import Activate, Activation, Bias
from ptxgen.kernels.matmul_menu import Sizes
from ptxgen.plan import grouped, sms

SPEC = MatmulSpec(Layout.NT, epilogue=(Bias(element=f16), Activate(Activation.RELU)))
TARGET = "sm_90a"


FIRST, LATER = "measured_h200.txt", "measured_h200_later.txt"


@cache
def measured(record: str = FIRST) -> dict[Sizes, dict[MatmulTiling, float]]:
    """The microseconds of tilings by shape. Times of two records are of two machines."""
    found: dict[Sizes, dict[MatmulTiling, float]] = {}
    held: dict[MatmulTiling, float] = {}
    for line in Path(__file__).with_name(record).read_text().splitlines():
        if line.startswith("#"):
            continue
        words = line.split()
        if words[0] == "shape":
            m, n, k = map(int, words[1:])
            held = found.setdefault(Sizes(m, n, k), {})
            continue
        i, j, k, warps, depth, raster, staying, rows, columns, drain, swap, turns = map(int, words[:-1])
        workers = sms if staying else None
        tiling = MatmulTiling(
            i, j, k, warps=warps, depth=depth, isolate=False, raster=grouped(raster), workers=workers,
            cluster=(rows, columns), drain=drain, swap=bool(swap), turns=bool(turns), overlap=True,
        )  # fmt: skip
        held[tiling] = float(words[-1])
    return found
