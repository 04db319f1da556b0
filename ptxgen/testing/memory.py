"""Arrays as memory: from a value for each index to flat elements at the array's strides, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ptxgen.compute import Array, Element
from ptxgen.errors import LaunchError

NUMPY_TYPES: Mapping[Element, type[np.generic]] = {
    Element.F16: np.float16,
    Element.F32: np.float32,
    Element.S32: np.int32,
}


def memory_of(array: Array, values: NDArray[Any] | None, sizes: Mapping[str, int]) -> NDArray[Any]:
    """The flat memory of `array`, in its own type and as long as its last element needs. Elements hold `values`, whose
    shape equals the extents; gaps between rows, and all of an array without values, hold NaN (s32: the smallest)."""
    shape, strides = shape_and_strides(array, sizes)
    length = 0 if 0 in shape else 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    kind = NUMPY_TYPES[array.element]
    memory = np.full(length, np.iinfo(np.int32).min if array.element is Element.S32 else np.nan, kind)
    if values is not None:
        if values.shape != shape:
            raise LaunchError(f"array {array.name} has extents {shape}, got values of shape {values.shape}")
        window(memory, shape, strides)[...] = values
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
