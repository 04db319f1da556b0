"""What a request costs: passes over the shared memory's banks, and sectors of global memory."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from attrs import define
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

BANKS = 32
BANK_BYTES = 4
SECTOR_BYTES = 32
_NOWHERE = np.int64(1) << 62


@define
class SharedTraffic:
    """The requests of one shared access site. A request is one instruction of one warp.

    `passes` are the cycles of the banks, `least` what they would be without conflicts, `worst` the most passes of one
    phase.
    """

    requests: int = 0
    passes: int = 0
    least: int = 0
    worst: int = 0

    @property
    def conflicts(self) -> int:
        """Passes beyond the least."""
        return self.passes - self.least


@define
class GlobalTraffic:
    """The requests of one global access site, the sectors of 32 bytes they touch, the distinct bytes they ask for."""

    requests: int = 0
    sectors: int = 0
    bytes: int = 0

    @property
    def sectors_per_request(self) -> float:
        """Sectors that a request touches on average."""
        return self.sectors / self.requests if self.requests else 0.0

    @property
    def efficiency(self) -> float:
        """The part of the sectors' bytes that was asked for, 1.0 for full sectors."""
        return self.bytes / (SECTOR_BYTES * self.sectors) if self.sectors else 1.0


def count_shared(traffic: SharedTraffic, byte_offsets: Array, mask: Array | None, width_bytes: int) -> None:
    """Add a request per warp: 32 banks of 4 bytes; 64-bit accesses go by half-warps and 128-bit ones by quarter-warps.

    Lanes of a phase at the same word share a pass. `byte_offsets` is [warps, 32].
    """
    unit_bytes = max(width_bytes, BANK_BYTES)
    lanes = BANKS * BANK_BYTES // unit_bytes
    if mask is None and _side_by_side(byte_offsets, unit_bytes):
        phases = byte_offsets.size // lanes
        traffic.requests += len(byte_offsets)
        traffic.passes += phases
        traffic.least += phases
        traffic.worst = max(traffic.worst, 1)
        return
    units = (byte_offsets // unit_bytes).reshape(-1, lanes)
    if mask is not None:
        traffic.requests += int(mask.any(axis=1).sum())
        units = np.where(mask.reshape(-1, lanes), units, _NOWHERE)
    else:
        traffic.requests += len(byte_offsets)
    units = np.sort(units, axis=1)
    distinct = _first_of_each(units)
    place = (units & (lanes - 1)) + np.arange(len(units))[:, None] * lanes
    hits = np.bincount(place[distinct], minlength=units.size).reshape(-1, lanes).max(axis=1)
    traffic.passes += int(hits.sum())
    traffic.least += int((hits > 0).sum())
    traffic.worst = max(traffic.worst, int(hits.max()))


def count_global(traffic: GlobalTraffic, addresses: Array, mask: Array | None, width_bytes: int) -> None:
    """Add a request per warp for `addresses` [warps, 32], each aligned to the width."""
    if mask is None and _side_by_side(addresses, width_bytes):
        traffic.requests += len(addresses)
        traffic.bytes += addresses.size * width_bytes
        ends = (addresses[:, 0] // SECTOR_BYTES, (addresses[:, -1] + width_bytes - 1) // SECTOR_BYTES)
        traffic.sectors += int((ends[1] - ends[0] + 1).sum())
        return
    if mask is not None:
        traffic.requests += int(mask.any(axis=1).sum())
        addresses = np.where(mask, addresses, _NOWHERE)
    else:
        traffic.requests += len(addresses)
    ordered = np.sort(addresses, axis=1)
    traffic.bytes += int(_first_of_each(ordered).sum()) * width_bytes
    inside = ordered != _NOWHERE
    ordered //= SECTOR_BYTES
    traffic.sectors += int((_first_of_each(ordered) & inside).sum())


def _side_by_side(addresses: Array, width_bytes: int) -> bool:
    """Whether the lanes of each warp go to places one behind the other."""
    return bool((addresses[:, 1:] - addresses[:, :-1] == width_bytes).all())


def _first_of_each(ordered: Array) -> Array:
    """True at the first of equal neighbours along the last axis, never at the sentinel."""
    first = np.empty(ordered.shape, np.bool_)
    first[:, 0] = True
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
    first &= ordered != _NOWHERE
    return first
