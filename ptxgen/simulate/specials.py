"""The values of special registers for the threads of a batch."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

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
_CLUSTER = frozenset({"cluster_ctaid", "cluster_nctaid", "clusterid", "nclusterid"})
_RANKS = frozenset({"cluster_ctarank", "cluster_nctarank", "is_explicit_cluster"})
CLOCKS = frozenset({"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi"})
_MASKS["gt"], _MASKS["ge"] = ~_MASKS["le"], ~_MASKS["lt"]


class Extents(Protocol):
    """The shape of a launch, x first."""

    @property
    def grid(self) -> tuple[int, int, int]: ...
    @property
    def block(self) -> tuple[int, int, int]: ...
    @property
    def cluster(self) -> tuple[int, int, int]: ...


def special_values(name: str, batch: Batch, launch: Extents, layout: Layout) -> Array:
    """The values of `%name`, broadcasting to [warps, 32]. UnsupportedError for one that changes while a thread runs."""
    base, _, axis = name.partition(".")
    if axis == "w":
        return _same(0)
    if base in _RANKS:
        return _rank_values(base, batch)
    if base in _CLUSTER:
        return _cluster_values(base, "xyz".index(axis), batch, launch)
    if axis in ("x", "y", "z") and base in ("tid", "ctaid", "ntid", "nctaid"):
        return _extent_values(base, "xyz".index(axis), batch, launch)
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
    if base in _RANKS or base in _CLUSTER:
        return True
    if axis:
        return axis in ("x", "y", "z", "w") and base in ("tid", "ctaid", "ntid", "nctaid")
    return base.startswith("lanemask_") or name in {
        "laneid", "warpid", "nwarpid", "smid", "gridid", "nsmid", "dynamic_smem_size", "total_smem_size",
    }  # fmt: skip


def _rank_values(base: str, batch: Batch) -> Array:
    match base:
        case "cluster_ctarank":
            return _ctas(batch)[:, None] % batch.cluster
        case "cluster_nctarank":
            return _same(batch.cluster)
        case _:
            return _same(int(batch.cluster > 1))


def _ctas(batch: Batch) -> Array:
    """The number in the grid of each warp's CTA; one number for all where there is one CTA."""
    numbers: Array = batch.first + np.arange(batch.warps) // batch.warps_per_cta
    return numbers if batch.ctas > 1 else numbers[:1]


def _cluster_values(base: str, axis: int, batch: Batch, launch: Extents) -> Array:
    clusters = tuple(whole // part for whole, part in zip(launch.grid, launch.cluster, strict=True))
    match base:
        case "cluster_ctaid":
            return _along(_ctas(batch) % batch.cluster, axis, launch.cluster)[:, None]
        case "cluster_nctaid":
            return _same(launch.cluster[axis])
        case "clusterid":
            return _along(_ctas(batch) // batch.cluster, axis, clusters)[:, None]
        case _:
            return _same(clusters[axis])


def _extent_values(base: str, axis: int, batch: Batch, launch: Extents) -> Array:
    block = launch.block
    match base:
        case "ntid":
            return _same(block[axis])
        case "nctaid":
            return _same(launch.grid[axis])
        case "ctaid":
            first = _cluster_values("clusterid", axis, batch, launch)
            return first * launch.cluster[axis] + _cluster_values("cluster_ctaid", axis, batch, launch)
        case _:
            if block[axis] == 1:
                return _same(0)
            of_a_cta = _along(np.arange(batch.warps_per_cta * LANES), axis, block).reshape(-1, LANES)
            return np.tile(of_a_cta, (batch.ctas, 1))


def _along(number: Array, axis: int, extents: tuple[int, ...]) -> Array:
    step = (1, extents[0], extents[0] * extents[1])[axis]
    return number // step % extents[axis] if axis < 2 else number // step


def _same(value: int) -> Array:
    return np.full((1, 1), value, np.uint64)
