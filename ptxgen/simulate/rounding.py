"""Floating point with one rounding: what the hardware does, from numpy's double precision.

Arrays of any shape; f32 and f16 values travel as numpy float32 and float16, NaNs become the canonical ones.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

CANONICAL_F32 = np.uint32(0x7FFFFFFF).view(np.float32)
CANONICAL_F16 = np.uint16(0x7FFF).view(np.float16)
_DROPPED = np.int64((1 << 29) - 1)
_HALF = np.int64(1 << 28)
_LEAST_NORMAL_F32, _SCALE = 2.0**-126, 2.0**64


class Rounding(Enum):
    """The rounding modes; the value is PTX's word."""

    NEAREST = "rn"
    ZERO = "rz"
    DOWN = "rm"
    UP = "rp"


def canonical_f32(value: Array) -> Array:
    """`value` (float32) with every NaN replaced by 0x7FFFFFFF."""
    nan = value != value
    return np.where(nan, CANONICAL_F32, value) if nan.any() else value


def canonical_f16(value: Array) -> Array:
    """`value` (float16) with every NaN replaced by 0x7FFF."""
    nan = np.isnan(value)
    return np.where(nan, CANONICAL_F16, value) if nan.any() else value


def odd_sum(a: Array, b: Array) -> Array:
    """a + b in float64 rounded to odd: exact, or the neighbour whose last bit is 1.

    Rounding that to any format of at most 51 bits gives the rounding of the exact sum (Boldo and Melquiond).
    The error term is Knuth's two-sum, exact while nothing overflows.
    """
    total = a + b
    part = total - a
    error = (a - (total - part)) + (b - part)
    inexact = (error != 0) & np.isfinite(total)
    if not inexact.any():
        return total
    return np.where(inexact, _to_odd(total, error), total)


def _to_odd(total: Array, error: Array) -> Array:
    beyond = (error < 0) != (total < 0)
    odd: Array = (total.view(np.int64) - beyond) | np.int64(1)
    return odd.view(np.float64)


def fma_f32(a: Array, b: Array, c: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """a * b + c of float32 arrays, rounded once.

    The product is exact in float64. Rounding the float64 sum again is wrong only where its dropped 29 bits are exactly
    half or the result is subnormal (or for a directed mode); only then the sum is repaired.
    """
    product = a.astype(np.float64) * b
    total = product + c
    if mode is Rounding.NEAREST:
        tie = (total.view(np.int64) & _DROPPED) == _HALF
        tie |= np.abs(total) < _LEAST_NORMAL_F32
        if not tie.any():
            return canonical_f32(total.astype(np.float32))
    return _directed_sum(product, c.astype(np.float64), mode)


def add_f32(a: Array, b: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """a + b of float32 arrays, rounded once."""
    if mode is Rounding.NEAREST:
        return canonical_f32(a + b)
    return _directed_sum(a.astype(np.float64), b.astype(np.float64), mode)


def _directed_sum(a: Array, b: Array, mode: Rounding) -> Array:
    """a + b of float64 arrays rounded to float32; downwards a sum of zero is negative unless both terms are +0."""
    total = odd_sum(a, b)
    if mode is Rounding.DOWN:
        total = np.where((total == 0) & (np.signbit(a) | np.signbit(b)), -0.0, total)
    return f32_from_odd(total, mode)


def mul_f32(a: Array, b: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """a * b of float32 arrays, rounded once; the float64 product is exact."""
    if mode is Rounding.NEAREST:
        return canonical_f32(a * b)
    return f32_from_odd(a.astype(np.float64) * b, mode)


def div_f32(a: Array, b: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """a / b of float32 arrays, rounded once; the remainder a - q*b is exact in float64."""
    if mode is Rounding.NEAREST:
        return canonical_f32(a / b)
    return f32_from_odd(odd_quotient(a.astype(np.float64), b.astype(np.float64)), mode)


def odd_quotient(a: Array, b: Array) -> Array:
    """a / b of float64 arrays with the values of float32 ones: exact, or rounded to odd."""
    quotient = a / b
    high, low = two_product(quotient, b)
    return _repaired(quotient, ((a - high) - low) * np.sign(b))


def sqrt_f32(a: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """The square root of a float32 array, rounded once."""
    if mode is Rounding.NEAREST:
        return canonical_f32(np.sqrt(a))
    wide = a.astype(np.float64)
    root = np.sqrt(wide)
    high, low = two_product(root, root)
    return f32_from_odd(_repaired(root, (wide - high) - low), mode)


def _repaired(value: Array, error: Array) -> Array:
    inexact = (error != 0) & np.isfinite(error) & np.isfinite(value)
    return np.where(inexact, _to_odd(value, error), value)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The product of float64 arrays as a rounded value and its exact error (Dekker, Veltkamp)."""
    product = a * b
    a_high, b_high = _upper_half(a), _upper_half(b)
    a_low, b_low = a - a_high, b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _upper_half(value: Array) -> Array:
    scaled = value * 134217729.0
    return scaled - (scaled - value)


def f32_from_odd(value: Array, mode: Rounding) -> Array:
    """A float64 array that is exact or rounded to odd, rounded to float32."""
    return canonical_f32(_directed(value, value.astype(np.float32), mode))


def f16_from_odd(value: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """A float64 array that is exact or rounded to odd, rounded to float16."""
    return canonical_f16(_directed(value, value.astype(np.float16), mode))


def _directed(value: Array, nearest: Array, mode: Rounding) -> Array:
    if mode is Rounding.NEAREST:
        return nearest
    back = nearest.astype(np.float64)
    down = nearest.dtype.type(-np.inf)
    up = nearest.dtype.type(np.inf)
    lower = np.where(back > value, np.nextafter(nearest, down), nearest)
    upper = np.where(back < value, np.nextafter(nearest, up), nearest)
    match mode:
        case Rounding.DOWN:
            chosen = lower
        case Rounding.UP:
            chosen = upper
        case _:
            chosen = np.where(np.signbit(value), upper, lower)
    signed: Array = np.copysign(chosen, value.astype(np.float32)).astype(nearest.dtype)
    return signed


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The sum of float64 arrays as a rounded value and its exact error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def flush_f32(value: Array) -> Array:
    """`value` (float32) with subnormals replaced by zeros of their sign: `.ftz`."""
    small = np.abs(value) < np.float32(_LEAST_NORMAL_F32)
    return np.where(small, np.copysign(np.float32(0), value), value) if small.any() else value


def flush_rounded_f32(rounded: Array, exact: Callable[[], Array], mode: Rounding) -> Array:
    """A result (float32) as `.ftz` leaves it: zero where 24 bits with any exponent would be below the normal numbers.

    So a value just below the least normal number that rounds up to it among the subnormals is zero (as an H200 has it).
    `exact` gives the float64 values, exact or rounded to odd, and is called only where some result is that number.
    """
    flushed = flush_f32(rounded)
    least = np.abs(flushed) == np.float32(_LEAST_NORMAL_F32)
    if not least.any():
        return flushed
    unbounded = np.abs(f32_from_odd(exact() * _SCALE, mode))
    return np.where(least & (unbounded < _LEAST_NORMAL_F32 * _SCALE), np.copysign(np.float32(0), flushed), flushed)


def saturate(value: Array) -> Array:
    """`value` clamped to [0, 1], NaN to +0: `.sat`."""
    one = value.dtype.type(1)
    zero = value.dtype.type(0)
    return np.where(value >= one, one, np.where(value > zero, value, zero))
