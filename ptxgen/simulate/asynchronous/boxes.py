"""Boxes of tensors: which elements a tensor copy takes, where they lie, and how they stand in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from isa.descriptors import Swizzle
from isa.tensor_maps import ELEMENTS, Im2col, Interleave, TensorMap
from ptxgen.errors import UnsupportedError

Array: TypeAlias = NDArray[Any]

UNIT_BYTES = 16
_NANS = {"f16": (np.uint16, 0x7FFF), "bf16": (np.uint16, 0x7FFF), "f32": (np.uint32, 0x7FFFFFFF),
         "f64": (np.uint64, 0x7FFFFFFFFFFFFFFF)}  # fmt: skip


@frozen(eq=False)
class Box:
    """The units of a box in the order in which they stand in shared memory without a swizzle: `offsets` are bytes from
    the tensor's start, `inside` tells which lie in the tensor; each unit has `width` bytes.
    """

    offsets: Array
    inside: Array
    width: int

    @property
    def bytes(self) -> int:
        """Bytes of the box, what lies outside the tensor included."""
        return int(self.offsets.size) * self.width


def refuse_unsupported(described: TensorMap) -> None:
    """UnsupportedError for maps whose copies are not simulated."""
    if ELEMENTS[described.element].packed:
        raise UnsupportedError(f"tensor copies of {described.element}, which stand packed")
    if described.nan_fill and described.element not in _NANS:
        raise UnsupportedError(f"tensor copies of {described.element} filled with NaN")
    if described.im2col and described.interleave is not Interleave.NONE:
        raise UnsupportedError("im2col copies of interleaved tensors")


def tile(described: TensorMap, start: Sequence[int]) -> Box:
    """The box from a coordinate, the contiguous dimension first."""
    indices = [
        first + step * np.arange(count, dtype=np.int64)
        for first, step, count in zip(start, described.steps, described.box_elements, strict=True)
    ]
    return _box(described, indices)


def rows(described: TensorMap, column: int, chosen: Sequence[int]) -> Box:
    """The rows chosen of a tensor of two dimensions, from a column on."""
    width = column + np.arange(described.box[0], dtype=np.int64)
    return _box(described, [width, np.array(chosen, np.int64)])


def _box(described: TensorMap, indices: list[Array]) -> Box:
    """The product of the indices of each dimension."""
    step = described.first_stride
    unit = step if described.steps[0] > 1 else _unit(described, int(indices[0][0]), len(indices[0]))
    inner = indices[0][:: unit // step]
    offsets = inner * step
    inside = (inner >= 0) & (inner < described.dims[0])
    for index, stride, extent in zip(indices[1:], described.strides, described.dims[1:], strict=True):
        offsets = (index * stride)[:, None] + offsets.ravel()[None]
        inside = ((index >= 0) & (index < extent))[:, None] & inside.ravel()[None]
    return Box(offsets.ravel(), inside.ravel(), unit)


def _unit(described: TensorMap, first: int, count: int) -> int:
    """The bytes of the largest pieces of a row that are wholly inside the tensor or wholly outside; or a slice."""
    element = described.element_bytes
    if described.interleave is not Interleave.NONE:
        return described.first_stride
    return gcd(UNIT_BYTES, first * element, count * element, described.dims[0] * element)


def pixels(described: TensorMap, start: Sequence[int], offsets: Sequence[int]) -> Box:
    """The channels of consecutive pixels of the bounding box from a coordinate (channel, width, ..., image), each moved
    by the offsets of the spatial dimensions.
    """
    form = described.im2col
    if form is None:
        raise UnsupportedError("an im2col copy of a tiled map")
    coordinates = _walk(described, form, start)
    element = described.element_bytes
    channels = start[0] + described.steps[0] * np.arange(described.box_elements[0], dtype=np.int64)
    unit = element if described.steps[0] > 1 else _unit(described, start[0], len(channels))
    inner = channels[:: unit // element]
    moved = coordinates + np.array([*offsets, 0], np.int64)
    extents = np.array(described.dims[1:], np.int64)
    here: Array = np.logical_and.reduce((moved >= 0) & (moved < extents), axis=1)
    places = moved @ np.array(described.strides, np.int64)
    whole = places[:, None] + inner[None] * element
    inside = here[:, None] & ((inner >= 0) & (inner < described.dims[0]))[None]
    return Box(whole.ravel(), inside.ravel(), unit)


def _walk(described: TensorMap, form: Im2col, start: Sequence[int]) -> Array:
    """The coordinates (width, ..., image) of the pixels, [pixels, rank - 1]."""
    at = list(start[1:])
    spatial = described.rank - 2
    found = np.empty((form.pixels, spatial + 1), np.int64)
    for pixel in range(form.pixels):
        found[pixel] = at
        for axis in range(spatial):
            at[axis] += described.steps[axis + 1]
            if at[axis] <= described.dims[axis + 1] - 1 + form.upper[axis]:
                break
            at[axis] = form.lower[axis]
        else:
            at[spatial] += described.steps[spatial + 1]
    return found


def filled(described: TensorMap, box: Box) -> Array:
    """The content of a box with nothing of the tensor in it, [units, width]: zeros, or NaNs."""
    if not described.nan_fill:
        return np.zeros((box.offsets.size, box.width), np.uint8)
    dtype, bits = _NANS[described.element]
    return np.full(box.bytes // np.dtype(dtype).itemsize, bits, dtype).view(np.uint8).reshape(-1, box.width)


def grain(swizzle: Swizzle) -> int:
    """The bytes that stay together."""
    return UNIT_BYTES // 2 if swizzle is Swizzle.BYTES_128_BY_32_FLIPPED else UNIT_BYTES


def swizzled(swizzle: Swizzle, address: int, size: int) -> Array:
    """For each grain of `size` bytes from an address of shared memory, in which place among them it stands."""
    step = grain(swizzle)
    plain = address + np.arange(0, size, step)
    if swizzle is Swizzle.NONE:
        return (plain - address) // step
    row = (plain >> 7) % (swizzle.span // swizzle.unit)
    flipped = row % 2 * step if step < UNIT_BYTES else 0
    places: Array = ((plain ^ row * swizzle.unit ^ flipped) - address) // step
    return places
