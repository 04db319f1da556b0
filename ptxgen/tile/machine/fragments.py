"""Operands of products in registers."""

from __future__ import annotations

import numpy as np

from ptxgen.tile.buffers import Region
from ptxgen.tile.leaves import Factor
from ptxgen.tile.machine.geometry import Index
from ptxgen.tile.machine.numbers import Numbers
from ptxgen.tile.machine.state import NEVER_WRITTEN, Step, Storage


def register_tile(step: Step, region: Region) -> tuple[Storage, int]:
    """The warp's registers of a buffer, and where the region's slot starts in them."""
    storage = step.warp.registers[region.buffer.name]
    depth = region.buffer.depth
    return storage, step.value(region.rank) % depth * (len(storage.values) // depth)


def matrix(step: Step, factor: Factor, index: Index) -> Numbers:
    """The elements `index` of a register operand; a fault where they are not of the tile asked for."""
    region = factor.region
    storage, shift = register_tile(step, region)
    assert storage.ranks is not None
    rank = step.value(region.rank)
    found = storage.ranks[index + shift]
    if (found != rank).any():
        row, column = np.unravel_index(int((found != rank).argmax()), found.shape)
        older, where = int(found[row, column]), f"row {row}, column {column} of the warp's part of {region.buffer.name}"
        if older == NEVER_WRITTEN:
            raise step.fault("tile.uninitialised", f"reads {where}, which was never written")
        raise step.fault("tile.stale", f"reads {where} in tile {rank}, but tile {older} is in its slot")
    return storage.values[index + shift]
