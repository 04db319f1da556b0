"""The local memory of the lanes of a group, by address: what calls pass and take."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.memory import ALLOCATED, WRITTEN

Array: TypeAlias = NDArray[Any]


@frozen(eq=False)
class Stack:
    """Local memory at addresses that all lanes of a group share."""

    group: Group
    batch: Batch

    def index(self, address: int, size: int) -> Array:
        """Byte places of `size` bytes at an address: [live lanes, size]."""
        offsets = self.batch.spaces["local"].offsets
        if offsets is None or not size:
            return np.zeros((0, size), np.int64)
        lanes = offsets[self.group.warps][self.group.lanes()]
        return lanes[:, None] + (address + np.arange(size))

    def clear(self, address: int, size: int) -> None:
        """Make bytes count as never written."""
        self.batch.spaces["local"].arena.shadow[self.index(address, size)] = ALLOCATED

    def move(self, source: int, target: int, size: int) -> None:
        """Copy bytes and whether they were written."""
        arena = self.batch.spaces["local"].arena
        taken, put = self.index(source, size), self.index(target, size)
        arena.data[put], arena.shadow[put] = arena.data[taken], arena.shadow[taken]

    def store(self, address: int, value: Array) -> None:
        """Write an array [warps, 32]."""
        self.store_lanes(address, np.broadcast_to(value, self.group.shape)[self.group.lanes()])

    def store_lanes(self, address: int, values: Array) -> None:
        """Write values of the live lanes."""
        arena = self.batch.spaces["local"].arena
        bits = np.ascontiguousarray(values)
        place = self.index(address, bits.itemsize)
        arena.data[place] = bits.view(np.uint8).reshape(len(bits), -1)
        arena.shadow[place] = WRITTEN

    def load(self, address: int, dtype: np.dtype[Any]) -> Array:
        """Read values of the live lanes."""
        found = self.batch.spaces["local"].arena.data[self.index(address, dtype.itemsize)]
        values: Array = np.ascontiguousarray(found).view(dtype)[:, 0]
        return values
