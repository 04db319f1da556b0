"""Float64 arithmetic in every rounding mode.

The nearest result and the sign of its error, from error-free transformations, give the directed ones. Where a
transformation itself would overflow or lose bits below the range, whole numbers decide. NaNs have the bits they have on
an H200: of several operands one comes through, made quiet, and which one depends on the operation.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptxgen.simulate.exactly import fma_where, quotient_where
from ptxgen.simulate.rounding import Rounding, odd_sum, two_product, two_sum

Array: TypeAlias = NDArray[Any]

_LARGE, _SMALL = 2.0**990, 2.0**-900
_QUIET, _INVALID = np.uint64(1 << 51), np.uint64(0xFFF8 << 48)


def with_nan_of(result: Array, *operands: Array) -> Array:
    """`result` (float64) with the bits of its NaNs settled.

    Each becomes the first operand that is NaN there, its sign and payload kept and its quiet bit set;
    0xFFF8000000000000 where no operand is.
    """
    nan = np.isnan(result)
    if not nan.any():
        return result
    bits = np.full(result.shape, _INVALID)
    for each in reversed(operands):
        bits = np.where(np.isnan(each), each.view(np.uint64) | _QUIET, bits)
    return np.where(nan, bits.view(np.float64), result)


def add_f64(a: Array, b: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """a + b, rounded once; of two NaNs that of `b`."""
    total = with_nan_of(a + b, b, a)
    if mode is Rounding.NEAREST:
        return total
    _, error = two_sum(a, b)
    huge = np.isinf(total) & np.isfinite(a) & np.isfinite(b)
    stepped = directed(total, np.where(huge, -total, np.where(np.isfinite(total), error, 0.0)), mode)
    return _zero_sum(stepped, a, b, mode)


def sub_f64(a: Array, b: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """a - b, rounded once; of two NaNs that of `b`, with its own sign."""
    return with_nan_of(add_f64(a, -b, mode), b, a)


def _zero_sum(total: Array, a: Array, b: Array, mode: Rounding) -> Array:
    """Downwards a sum of zero is negative unless both terms are +0."""
    if mode is not Rounding.DOWN:
        return total
    return np.where((total == 0) & (np.signbit(a) | np.signbit(b)), -0.0, total)


def mul_f64(a: Array, b: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """a * b, rounded once; of two NaNs that of `b`."""
    if mode is Rounding.NEAREST:
        return with_nan_of(a * b, b, a)
    product, error = two_product(a, b)
    product = with_nan_of(product, b, a)
    stepped = directed(product, np.where(np.isfinite(error), error, 0.0), mode)
    odd_ones = _hard_product(product, a, b)
    return fma_where(stepped, odd_ones, (a, b, np.zeros_like(a)), mode) if odd_ones.any() else stepped


def _hard_product(product: Array, a: Array, b: Array) -> Array:
    """Where the error of a product of finite factors is not surely a float64."""
    size = np.abs(product)
    hard = ((size > _LARGE) | (size < _SMALL)) & (a != 0) & (b != 0)
    hard |= (np.abs(a) > _LARGE) | (np.abs(b) > _LARGE)
    finite: Array = hard & np.isfinite(a) & np.isfinite(b)
    return finite


def fma_f64(a: Array, b: Array, c: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """a * b + c, rounded once.

    The error of the product and that of the sum are folded to odd before the last addition (Boldo and Melquiond). Of
    several NaNs that of `b` comes first, then `c`, then `a`.
    """
    product, low = two_product(a, b)
    total, error = two_sum(product, c)
    tail = odd_sum(error, low)
    plain = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, product + c)
    usable = np.isfinite(tail) & (tail != 0)
    if mode is Rounding.NEAREST:
        result = np.where(usable, total + tail, plain)
    else:
        result = _zero_sum(np.where(usable, add_f64(total, tail, mode), plain), product, c, mode)
    hard = _hard_product(product, a, b) & np.isfinite(c)
    hard |= (np.abs(c) > _LARGE) & np.isfinite(c) & np.isfinite(a) & np.isfinite(b)
    result = with_nan_of(result, b, c, a)
    return fma_where(result, hard, (a, b, c), mode) if hard.any() else result


def div_f64(a: Array, b: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """a / b, rounded once; of two NaNs that of `a`."""
    quotient = with_nan_of(a / b, a, b)
    if mode is Rounding.NEAREST:
        return quotient
    high, low = two_product(quotient, b)
    error = ((a - high) - low) * np.sign(b)
    stepped = directed(quotient, np.where(np.isfinite(error), error, 0.0), mode)
    sizes = [np.abs(each) for each in (quotient, a, b)]
    hard = np.logical_or.reduce([(each > _LARGE) | (each < _SMALL) for each in sizes])
    hard &= np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
    return quotient_where(stepped, hard, a, b, mode) if hard.any() else stepped


def sqrt_f64(a: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """The square root, rounded once; very small and very large arguments are scaled before the remainder is formed."""
    root = with_nan_of(np.sqrt(a), a)
    if mode is Rounding.NEAREST:
        return root
    factor = np.where(a < _SMALL, 2.0**64, 0.25)
    high, low = two_product(root * factor, root * factor)
    error = (a * factor * factor - high) - low
    return directed(root, np.where(np.isfinite(error), error, 0.0), mode)


def lesser_f64(a: Array, b: Array) -> Array:
    """The number that is not greater; a NaN gives way to a number, and of two NaNs that of `b` remains."""
    return with_nan_of(np.fmin(a, b), b)


def greater_f64(a: Array, b: Array) -> Array:
    """The number that is not less; a NaN gives way to a number, and of two NaNs that of `b` remains."""
    return with_nan_of(np.fmax(a, b), b)


def rcp_f64(a: Array, mode: Rounding = Rounding.NEAREST) -> Array:
    """1 / a, rounded once."""
    return div_f64(np.ones_like(a), a, mode)


def directed(nearest: Array, error: Array, mode: Rounding) -> Array:
    """The nearest result moved to its neighbour where the exact one, `nearest + error`, lies on the mode's side."""
    match mode:
        case Rounding.NEAREST:
            return nearest
        case Rounding.DOWN:
            down, up = error < 0, np.zeros(error.shape, np.bool_)
        case Rounding.UP:
            down, up = np.zeros(error.shape, np.bool_), error > 0
        case _:
            down, up = (error < 0) & (nearest > 0), (error > 0) & (nearest < 0)
    if not (down.any() or up.any()):
        return nearest
    moved = np.where(down, np.nextafter(nearest, -np.inf), np.where(up, np.nextafter(nearest, np.inf), nearest))
    stepped: Array = np.where((moved == 0) & (nearest != 0), np.copysign(0.0, nearest), moved)
    return stepped
