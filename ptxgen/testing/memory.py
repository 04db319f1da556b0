"""Arrays as memory: from a value for each index to flat elements at the array's strides, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ptxgen.compute import Array
from ptxgen.errors import LaunchError
from ptxgen.testing.formats import STORED, stored_as


def memory_of(array: Array, values: NDArray[Any] | None, sizes: Mapping[str, int]) -> NDArray[Any]:
    """The flat memory of `array`, in its own type and as long as its last element needs. Elements hold `values`, whose
    shape equals the extents; gaps between rows, and all of an array without values, hold NaN (integers: the smallest).
    Formats that numpy lacks are kept as their bits."""
    shape, strides = shape_and_strides(array, sizes)
    length = 0 if 0 in shape else 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    kind, element = STORED[array.element], array.element
    nothing = np.full(length, np.iinfo(kind).min if element.is_integer else np.nan, np.float64)
    memory = stored_as(nothing, element)
    if values is not None:
        if values.shape != shape:
            raise LaunchError(f"array {array.name} has extents {shape}, got values of shape {values.shape}")
        window(memory, shape, strides)[...] = values.view(kind) if values.dtype.itemsize == kind.itemsize else values
    return memory


def values_in(array: Array, memory: NDArray[Any], sizes: Mapping[str, int]) -> NDArray[Any]:
    """The elements of `array` in its flat memory, by index: shape equal to the extents."""
    return window(memory, *shape_and_strides(array, sizes)).copy()


def shape_and_strides(array: Array, sizes: Mapping[str, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Extents and strides in elements."""
    shape = tuple(extent.evaluate(sizes) for extent in array.extents)
    return shape, tuple(stride.evaluate(sizes) for stride in array.strides)


def window(memory: NDArray[Any], shape: tuple[int, ...], strides: tuple[int, ...]) -> NDArray[Any]:
    """`memory` seen with these strides in elements."""
    return as_strided(memory, shape, tuple(stride * memory.itemsize for stride in strides))
