"""Packed registers as arrays of their elements, the low one first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.simulate.site import Array, Compute, Reader


def unpacked(bits: Array, element: Any = np.float16) -> Array:
    """An unsigned array of any shape as elements with one more axis, low first."""
    return np.ascontiguousarray(bits).reshape(*bits.shape, 1).view(element)


def packed(parts: Array, whole: Any = np.uint32) -> Array:
    """The inverse of `unpacked`."""
    joined: Array = np.ascontiguousarray(parts).view(whole)[..., 0]
    return joined


def on_parts(function: Callable[..., Any], readers: list[Reader], element: Any, whole: Any = np.uint32) -> Compute:
    """`function` of arrays of elements applied to all parts of packed operands; it keeps the element's width."""

    def compute(r: list[Array]) -> Array:
        return packed(function(*[unpacked(reader(r), element) for reader in readers]), whole)

    return compute
