"""The extents of a launch."""

from __future__ import annotations

import math
import operator
from typing import TypeAlias

from ptxgen.errors import LaunchError

Extent: TypeAlias = int | tuple[int, ...]
Three: TypeAlias = tuple[int, int, int]

GRID_LIMITS: Three = ((1 << 31) - 1, 65535, 65535)


def three(name: str, extent: Extent) -> Three:
    """An extent of a grid, block or cluster as x, y, z, missing ones 1; LaunchError unless all are at least 1."""
    try:
        extents = tuple(operator.index(each) for each in (extent if isinstance(extent, tuple) else (extent,)))
    except TypeError:
        extents = ()
    if not 1 <= len(extents) <= 3 or min(extents) < 1:
        raise LaunchError(f"{name} wants one to three integers of at least 1, got {extent!r}")
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z


def check_shape(kernel: str, grid: Three, block: Three, cluster: Three, *, threads_per_cta: int) -> None:
    """LaunchError where the device cannot hold such a grid or block, or the clusters do not divide the grid."""
    threads = math.prod(block)
    if threads > threads_per_cta:
        raise LaunchError(f"kernel {kernel}: a block of {block} has {threads} threads, the most are {threads_per_cta}")
    if any(extent > limit for extent, limit in zip(grid, GRID_LIMITS, strict=True)):
        raise LaunchError(f"kernel {kernel}: the grid {grid} is larger than {GRID_LIMITS}")
    if any(extent % size for extent, size in zip(grid, cluster, strict=True)):
        raise LaunchError(f"kernel {kernel}: the grid {grid} is no multiple of the cluster {cluster}")
