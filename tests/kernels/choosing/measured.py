"""Launches timed on a device, from the files beside this one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from attrs import evolve

from ptxgen.compute import f16
from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.products.epilogue import Activate, Activation, Bias
from ptxgen.plan import grouped, sms

SPEC = MatmulSpec(Layout.NT, epilogue=(Bias(element=f16), Activate(Activation.RELU)))
TARGET = "sm_90a"


FIRST, LATER, PARTS = "measured_h200.txt", "measured_h200_later.txt", "measured_h200_parts.txt"
PICKS, CHAINS, HOT = "measured_h200_picks.txt", "measured_h200_chains.txt", "measured_h200_hot.txt"
KEPT = "measured_h200_kept.txt"
PLAIN = 12


def measured(record: str = FIRST) -> dict[Sizes, dict[MatmulTiling, float]]:
    """The microseconds of tilings by shape, of SPEC. Times of two records are of two machines."""
    return {sizes: times for (spec, sizes), times in measured_of(record).items() if spec == SPEC}


@cache
def measured_of(record: str) -> dict[tuple[MatmulSpec, Sizes], dict[MatmulTiling, float]]:
    """The same of all products of a record."""
    found: dict[tuple[MatmulSpec, Sizes], dict[MatmulTiling, float]] = {}
    held: dict[MatmulTiling, float] = {}
    for line in Path(__file__).with_name(record).read_text().splitlines():
        words = line.split()
        if words[0] == "shape":
            m, n, k = map(int, words[1:4])
            held = found.setdefault((_spec("bias,relu" if len(words) == 4 else words[4]), Sizes(m, n, k)), {})
        elif words[0] != "#":
            held[_tiling([int(word) for word in words[:-1]])] = float(words[-1])
    return found


def _spec(epilogue: str) -> MatmulSpec:
    if epilogue == "bias,relu":
        return SPEC
    return evolve(SPEC, epilogue=() if epilogue == "-" else parse_epilogue(epilogue))


def _tiling(numbers: list[int]) -> MatmulTiling:
    i, j, k, warps, depth, raster, staying, rows, columns, drain, swap, turns = numbers[:PLAIN]
    split, stream, piecewise, ahead, group_rows, *slots = numbers[PLAIN:] or (1, 0, 0, 0, 64)
    return MatmulTiling(
        i, j, k, warps=warps, depth=depth, isolate=False, raster=grouped(raster), workers=sms if staying else None,
        cluster=(rows, columns), drain=drain, swap=bool(swap), turns=bool(turns), overlap=True, split=split,
        stream=bool(stream), piecewise=bool(piecewise), residual_depth=ahead, group_rows=group_rows,
        drain_depth=slots[0] if slots else 2,
    )  # fmt: skip
