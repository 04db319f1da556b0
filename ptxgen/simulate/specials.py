"""The values of special registers for the threads of a batch."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptxgen.errors import UnsupportedError
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import LANES
from ptxgen.simulate.layout import Layout

Array: TypeAlias = NDArray[Any]
_LANE = np.arange(LANES, dtype=np.uint32)[None, :]
_MASKS = {
    "eq": np.uint32(1) << _LANE,
    "lt": (np.uint32(1) << _LANE) - np.uint32(1),
    "le": ((np.uint32(1) << _LANE) - np.uint32(1)) | (np.uint32(1) << _LANE),
}
_ALONE = {
    "cluster_ctaid": 0, "cluster_nctaid": 1, "cluster_ctarank": 0, "cluster_nctarank": 1, "is_explicit_cluster": 0,
}  # fmt: skip
CLOCKS = frozenset({"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi"})
_MASKS["gt"], _MASKS["ge"] = ~_MASKS["le"], ~_MASKS["lt"]


def special_values(
    name: str, batch: Batch, grid: tuple[int, int, int], block: tuple[int, int, int], layout: Layout
) -> Array:
    """The values of `%name`, broadcasting to [warps, 32]. UnsupportedError for one that changes while a thread runs."""
    base, _, axis = name.partition(".")
    if base in _ALONE:
        return _same(_ALONE[base])
    if base in ("clusterid", "nclusterid"):
        return _extent_values("ctaid" if base == "clusterid" else "nctaid", "xyz".index(axis), batch, grid, block)
    if axis in ("x", "y", "z") and base in ("tid", "ctaid", "ntid", "nctaid"):
        return _extent_values(base, "xyz".index(axis), batch, grid, block)
    if base.startswith("lanemask_"):
        return _MASKS[base.removeprefix("lanemask_")]
    match name:
        case "laneid":
            return _LANE
        case "warpid":
            return (np.arange(batch.warps, dtype=np.uint32) % batch.warps_per_cta)[:, None]
        case "nwarpid":
            return _same(batch.warps_per_cta)
        case "smid" | "gridid":
            return _same(0)
        case "nsmid":
            return _same(1)
        case "dynamic_smem_size":
            return _same(layout.dynamic_bytes)
        case "total_smem_size":
            return _same(layout.shared_bytes)
        case _:
            raise UnsupportedError(f"special register %{name}")


def supported(name: str) -> bool:
    """True if `special_values` knows the register."""
    base, _, axis = name.partition(".")
    if base in _ALONE or base in ("clusterid", "nclusterid"):
        return True
    if axis:
        return axis in ("x", "y", "z") and base in ("tid", "ctaid", "ntid", "nctaid")
    return base.startswith("lanemask_") or name in {
        "laneid", "warpid", "nwarpid", "smid", "gridid", "nsmid", "dynamic_smem_size", "total_smem_size",
    }  # fmt: skip


def _extent_values(
    base: str, axis: int, batch: Batch, grid: tuple[int, int, int], block: tuple[int, int, int]
) -> Array:
    match base:
        case "ntid":
            return _same(block[axis])
        case "nctaid":
            return _same(grid[axis])
        case "ctaid":
            number = batch.first + np.arange(batch.warps) // batch.warps_per_cta
            return _along(number, axis, grid)[:, None] if batch.ctas > 1 else _along(number[:1], axis, grid)[:, None]
        case _:
            thread = np.arange(batch.warps * LANES).reshape(batch.warps, LANES) % (batch.warps_per_cta * LANES)
            return _along(thread, axis, block) if block[axis] > 1 else _same(0)


def _along(number: Array, axis: int, extents: tuple[int, int, int]) -> Array:
    step = (1, extents[0], extents[0] * extents[1])[axis]
    return number // step % extents[axis] if axis < 2 else number // step


def _same(value: int) -> Array:
    return np.full((1, 1), value, np.uint64)
