"""Packed halves: `.f16x2` registers as pairs of float16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.simulate.site import Array, Compute, Reader


def unpacked(bits: Array) -> Array:
    """A uint32 array of any shape as float16 with one more axis of two, low half first."""
    return np.ascontiguousarray(bits).reshape(*bits.shape, 1).view(np.float16)


def packed(pairs: Array) -> Array:
    """The inverse of `unpacked`, for float16 or uint16."""
    joined: Array = np.ascontiguousarray(pairs).view(np.uint32)[..., 0]
    return joined


def on_pairs(function: Callable[..., Any], readers: list[Reader]) -> Compute:
    """`function` of float16 arrays applied to both halves of packed operands."""

    def compute(r: list[Array]) -> Array:
        return packed(function(*[unpacked(reader(r)) for reader in readers]))

    return compute
