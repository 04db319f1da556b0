"""Tiles and boxes as text."""

from __future__ import annotations

from collections.abc import Iterable

from polyhedral import Affine
from ptxgen.tile.buffers import Region, Space

INDENT = "  "


def region_text(region: Region) -> str:
    """The tile of a region, and its corner unless that is all zero in a tile."""
    everything = region.buffer.space is not Space.GLOBAL and not any(o.terms or o.constant for o in region.origin)
    return tile_text(region) + ("" if everything else listed(region.origin))


def tile_text(region: Region) -> str:
    """The buffer's name, with the number of the tile where it is not an array in global memory."""
    return region.buffer.name if region.buffer.space is Space.GLOBAL else f"{region.buffer.name}{{{region.rank}}}"


def listed(items: Iterable[Affine]) -> str:
    """`[a, b]`."""
    return f"[{', '.join(map(str, items))}]"


def box_text(shape: Iterable[int]) -> str:
    """`128x32`."""
    return "x".join(map(str, shape)) or "scalar"


def dims_text(places: Iterable[int]) -> str:
    """`d0, d1`."""
    return ", ".join(f"d{place}" for place in places)
