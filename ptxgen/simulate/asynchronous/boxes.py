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
_NAN = 0x7FF7


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


def misfit(described: TensorMap, start: Sequence[int], *, stored: bool) -> str:
    """What an H200 ends the context for, in words: a box that does not begin at a multiple of 16 bytes of a row, or
    that is stored from a place before the first one; "" for any other."""
    byte = start[0] * described.element_bytes
    if described.interleave is Interleave.NONE and byte % UNIT_BYTES:
        return f"begins at coordinate {start[0]}, byte {byte} of a row, which is no multiple of {UNIT_BYTES}"
    if stored and described.im2col is None and min(start) < 0:
        return f"is stored from {tuple(start)}, and no coordinate of a store may be negative"
    return ""


def tile(described: TensorMap, start: Sequence[int], *, stored: bool = False) -> Box:
    """The box from a coordinate, the contiguous dimension first. What is `stored` goes in units of 16 bytes: one that
    begins inside a row is written whole, though the tensor ends in it (seen of an H200)."""
    indices = [
        first + step * np.arange(count, dtype=np.int64)
        for first, step, count in zip(start, described.steps, described.box_elements, strict=True)
    ]
    return _box(described, indices, stored)


def rows(described: TensorMap, column: int, chosen: Sequence[int]) -> Box:
    """The rows chosen of a tensor of two dimensions, from a column on."""
    width = column + np.arange(described.box[0], dtype=np.int64)
    return _box(described, [width, np.array(chosen, np.int64)])


def _box(described: TensorMap, indices: list[Array], stored: bool = False) -> Box:
    """The product of the indices of each dimension."""
    step = described.first_stride
    if stored and step < UNIT_BYTES:
        unit = UNIT_BYTES
    else:
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
    """The channels of consecutive pixels of the bounding box from a coordinate (channel, width, ..., image; width, ...,
    slice, image of an interleaved tensor), each moved by the offsets of the spatial dimensions.
    """
    form = described.im2col
    if form is None:
        raise UnsupportedError("an im2col copy of a tiled map")
    interleaved = described.interleave is not Interleave.NONE
    last, spatial = described.rank - 1, described.rank - 2
    axes = (*range(spatial), last) if interleaved else (*range(1, last), last)
    moved = _walk(described, form, start, axes) + np.array([*offsets, 0], np.int64)
    here: Array = np.logical_and.reduce((moved >= 0) & (moved < np.array(described.dims)[list(axes)]), axis=1)
    strides = np.array((described.first_stride, *described.strides), np.int64)
    if interleaved:
        unit, inner, fixed, step = described.first_stride, np.array([start[spatial]]), spatial, int(strides[spatial])
    else:
        step, fixed = described.element_bytes, 0
        channels = start[0] + described.steps[0] * np.arange(described.box_elements[0], dtype=np.int64)
        unit = step if described.steps[0] > 1 else _unit(described, start[0], len(channels))
        inner = channels[:: unit // step]
    whole = (moved @ strides[list(axes)])[:, None] + inner[None] * step
    inside = here[:, None] & ((inner >= 0) & (inner < described.dims[fixed]))[None]
    return Box(whole.ravel(), inside.ravel(), unit)


def _walk(described: TensorMap, form: Im2col, start: Sequence[int], axes: Sequence[int]) -> Array:
    """The coordinates (width, ..., image) of the pixels, [pixels, rank - 1]; `axes` are their dimensions."""
    *spatial, images = axes
    at = [start[axis] for axis in axes]
    found = np.empty((form.pixels, len(axes)), np.int64)
    for pixel in range(form.pixels):
        found[pixel] = at
        for place, axis in enumerate(spatial):
            at[place] += described.steps[axis]
            if at[place] <= described.dims[axis] - 1 + form.upper[place]:
                break
            at[place] = form.lower[place]
        else:
            at[-1] += described.steps[images]
    return found


def filled(described: TensorMap, box: Box) -> Array:
    """The content of a box with nothing of the tensor in it, [units, width]: zeros, or NaNs."""
    halves = np.full(box.bytes // 2, _NAN if described.nan_fill else 0, np.uint16)
    return halves.view(np.uint8).reshape(-1, box.width)


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
