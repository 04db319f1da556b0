"""PTX that other compilers wrote, beside its source."""

from collections.abc import Set
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ptxgen import parse
from ptxgen.ir import Module
from ptxgen.simulate import Report, simulate

HERE = Path(__file__).parent
NOTHING: frozenset[str] = frozenset()


@cache
def module(compiler: str, name: str) -> Module:
    """The module of `compiler/name.ptx`."""
    return parse((HERE / compiler / f"{name}.ptx").read_text(encoding="utf-8"), file=f"{name}.ptx")


def cuda(name: str, *args: Any, grid: Any, block: Any, found: Set[str] = NOTHING, **options: Any) -> Report:
    """Run a kernel of CUDA C, called like its file; its findings must be of the codes `found`, no more and no less."""
    report = simulate(module("cuda", name), name, grid=grid, block=block, args=args, **options)
    assert {each.code for each in report.findings} == found, "\n".join(map(str, report.findings))
    return report


def chance(seed: int = 0) -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(seed)


def distance(found: Any, exact: Any) -> float:
    """The largest difference in units in the last place of the type found, of values in float64."""
    spacing = np.spacing(np.abs(np.asarray(exact).astype(found.dtype)).clip(np.finfo(found.dtype).smallest_normal))
    return float(np.max(np.abs(found.astype(np.float64) - exact) / spacing))


def triton(
    name: str, *args: Any, grid: Any, warps: int = 4, shared_bytes: int = 0, kernel: str = "",
    found: Set[str] = NOTHING, **options: Any,
) -> Report:  # fmt: skip
    """As `cuda` for a kernel that Triton compiled; it takes two addresses of scratch memory more, here none."""
    report = simulate(
        module("triton", name), kernel or name, grid=grid, block=32 * warps, args=(*args, 0, 0),
        shared_bytes=shared_bytes, **options,
    )  # fmt: skip
    assert {each.code for each in report.findings} == found, "\n".join(map(str, report.findings))
    return report
