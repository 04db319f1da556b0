"""Memory: a byte arena per space with one shadow byte per byte."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from attrs import define, field, frozen
from numpy.typing import DTypeLike, NDArray

from ptxgen.errors import LaunchError

Array: TypeAlias = NDArray[Any]

UNALLOCATED, ALLOCATED, WRITTEN, OWED, OBJECT = 0, 1, 2, 3, 5
GLOBAL_BASE = 0x7F00_0000_0000
SHARED_WINDOW = 0x7E00_0000_0000
LOCAL_WINDOW = 0x7D00_0000_0000
CONST_WINDOW = 0x7C00_0000_0000
FUNCTIONS_BASE = 0x7B00_0000_0000
PARAMETER_WINDOW = 0x7A00_0000_0000
RANK_SHIFT = 24
RANK_MASK = (1 << RANK_SHIFT) - 1
WINDOW_BYTES = 1 << 32
_ALIGNMENT = 256
FIRST_BYTE = 512
_LANE_DTYPE: dict[int, DTypeLike] = {
    1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128, 32: np.dtype("V32"),
}  # fmt: skip
_WIDEST = 32
_LOW_BITS: dict[int, Any] = {
    1: np.uint8(1),
    2: np.uint16(0x0101),
    4: np.uint32(0x01010101),
    8: np.uint64(0x0101010101010101),
}


class Arena:
    """The bytes of one space and their shadow, viewed at every access width.

    `data` and `shadow` are uint8 arrays of one length, a multiple of 32. `owed` counts the copies under way into it,
    whose bytes are OWED, `objects` the mbarriers in it, whose bytes are OBJECT.
    """

    def __init__(self, size_bytes: int, state: int = UNALLOCATED) -> None:
        padded = -(-max(size_bytes, _WIDEST) // _WIDEST) * _WIDEST
        self.size_bytes = padded
        self.owed = self.objects = 0
        self.data = np.zeros(padded, np.uint8)
        self.shadow = np.full(padded, state, np.uint8) if state else np.zeros(padded, np.uint8)
        self._data: dict[int, Array] = {width: self.data.view(dtype) for width, dtype in _LANE_DTYPE.items()}
        self._shadow: dict[int, Array] = {width: self.shadow.view(_LANE_DTYPE[width]) for width in (1, 2, 4, 8)}

    def load(self, index: Array, width_bytes: int) -> Array:
        """The values at byte indices, multiples of the width, as unsigned of that width; opaque for 16 and 32 bytes."""
        return self._data[width_bytes].take(index // width_bytes, mode="clip")

    def store(self, index: Array, values: Array, width_bytes: int) -> None:
        """Write `values` (as `load` gives them) and mark the bytes written; of equal indices the last wins."""
        place = index // width_bytes
        self._data[width_bytes][place] = values
        if width_bytes > 8:
            words = self._shadow[8].reshape(-1, width_bytes // 8)
            words[place] = WRITTEN * _LOW_BITS[8]
        else:
            self._shadow[width_bytes][place] = WRITTEN * _LOW_BITS[width_bytes]

    def mark(self, index: Array, width_bytes: int, state: int) -> None:
        """Set the shadow of accesses."""
        for byte in range(0, width_bytes, min(width_bytes, 8)):
            step = min(width_bytes, 8)
            self._shadow[step][(index + byte) // step] = state * _LOW_BITS[step]

    def owes(self, index: Array, width_bytes: int) -> Array:
        """True where some byte of the access is owed by a copy under way; shape of `index`."""
        if width_bytes > 8:
            return self.owes(index, width_bytes // 2) | self.owes(index + width_bytes // 2, width_bytes // 2)
        state = self._shadow[width_bytes].take(index // width_bytes, mode="clip")
        low = _LOW_BITS[width_bytes]
        owed: Array = (state & (state >> state.dtype.type(1)) & low) != 0
        return owed

    def holds_object(self, index: Array, width_bytes: int) -> Array:
        """True where some byte of the access belongs to an mbarrier; shape of `index`."""
        if width_bytes > 8:
            half = width_bytes // 2
            return self.holds_object(index, half) | self.holds_object(index + half, half)
        state = self._shadow[width_bytes].take(index // width_bytes, mode="clip")
        held: Array = (state & (_LOW_BITS[width_bytes] << state.dtype.type(2))) != 0
        return held

    def lacks_written(self, index: Array, width_bytes: int) -> Array:
        """True where some byte of the access was never written or is not allocated; shape of `index`."""
        if width_bytes > 8:
            words = self._shadow[8].reshape(-1, width_bytes // 8).take(index // width_bytes, axis=0, mode="clip")
            lacking: Array = (words != WRITTEN * _LOW_BITS[8]).any(axis=-1)
            return lacking
        state = self._shadow[width_bytes].take(index // width_bytes, mode="clip")
        lacks: Array = np.not_equal(state, WRITTEN * _LOW_BITS[width_bytes])
        return lacks

    def lacks_allocated(self, index: Array, width_bytes: int) -> Array:
        """True where some byte of the access is not allocated; shape of `index`."""
        if width_bytes > 8:
            half = width_bytes // 2
            return self.lacks_allocated(index, half) | self.lacks_allocated(index + half, half)
        state = self._shadow[width_bytes].take(index // width_bytes, mode="clip")
        low = _LOW_BITS[width_bytes]
        lacks: Array = np.not_equal((state | (state >> state.dtype.type(1))) & low, low)
        return lacks


@frozen(eq=False)
class Unwritten:
    """An array argument whose bytes count as never written when the kernel starts."""

    array: Array


def unwritten(array: Array) -> Unwritten:
    """An argument like `array` whose contents the kernel may not read before it wrote them."""
    return Unwritten(array)


@define(eq=False)
class GlobalMemory:
    """Host arrays at device addresses: every array that overlaps another shares its allocation."""

    arena: Arena
    addresses: dict[int, int] = field(factory=dict)
    heap_start: int = 0
    _homes: list[tuple[Array, int]] = field(factory=list)

    def address_of(self, array: Array) -> int:
        """The device address of the first byte of an array that was placed."""
        return GLOBAL_BASE + self.addresses[_pointer(array)]

    def copy_back(self) -> None:
        """Write what the kernel left into the host arrays; arrays that cannot be written are left alone."""
        for array, offset in self._homes:
            if array.flags.writeable:
                _bytes(array)[...] = self.arena.data[offset : offset + array.nbytes]


def place(arguments: list[Array | Unwritten], variable_bytes: int = 0, heap_bytes: int = 0) -> GlobalMemory:
    """Global memory with the arguments copied in, each allocation aligned to 256 bytes and apart from the others.

    `variable_bytes` are reserved before them for variables of the module, at arena offset FIRST_BYTE, and `heap_bytes`
    behind them.
    """
    arrays = [each.array if isinstance(each, Unwritten) else each for each in arguments]
    for array in arrays:
        if not array.flags.c_contiguous:
            raise LaunchError(f"an array argument must be contiguous, got strides {array.strides} for {array.shape}")
    offsets: dict[int, int] = {}
    cursor, limit, delta = 2 * FIRST_BYTE + variable_bytes, -1, 0
    spans: list[tuple[int, int]] = []
    for start, size in sorted((_pointer(array), array.nbytes) for array in arrays):
        if start > limit:
            cursor = -(-cursor // _ALIGNMENT) * _ALIGNMENT
            delta = cursor - start
        offsets[start] = start + delta
        limit = max(limit, start + size)
        cursor = limit + delta + FIRST_BYTE
        spans.append((start + delta, size))
    end = -(-cursor // _ALIGNMENT) * _ALIGNMENT
    memory = GlobalMemory(Arena(end + heap_bytes), offsets, end)
    for start, size in spans:
        memory.arena.shadow[start : start + size] = WRITTEN
    for argument, array in zip(arguments, arrays, strict=True):
        offset = offsets[_pointer(array)]
        if isinstance(argument, Unwritten):
            memory.arena.shadow[offset : offset + array.nbytes] = ALLOCATED
        else:
            memory.arena.data[offset : offset + array.nbytes] = _bytes(array)
        memory._homes.append((array, offset))
    return memory


def _pointer(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _bytes(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)
