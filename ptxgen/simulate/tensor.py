"""Tensor cores, exact to the bit: one algorithm, told apart by a record of three numbers.

A block of L products and the accumulator is aligned to its largest exponent, each term truncated to F bits below it,
and the integers added; the result is rounded once. Exponents and scales are bit operations; nothing is ever rounded on
the way.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

_ZERO_EXPONENT = -60
_LEAST_PRODUCT = -28
_LEAST_SCALED = -100
_POSITIVE_ZERO = 0.0
_KEPT_24 = np.int64(-1 << 29)
_NAN_F32 = np.uint32(0x7FFFFFFF).view(np.float32)
_NAN_F16 = np.uint16(0x7FFF).view(np.float16)


@frozen(eq=False)
class Halves:
    """An operand of a tensor core prepared for many products: values (float32), exponents (int8), all finite or not."""

    values: Array
    exponents: Array
    finite: bool


def halves(values: Array) -> Halves:
    """The prepared operand of a float16 array of any shape.

    A subnormal keeps the least exponent, -14; a zero has an exponent below all sums of two others.
    """
    wide = values.astype(np.float32)
    biased = (wide.view(np.int32) >> 23) & 0xFF
    exponents = np.maximum(biased - 127, -14)
    exponents[biased == 0] = _ZERO_EXPONENT
    return Halves(wide, exponents.astype(np.int8), bool((biased != 255).all()))


def dot(a: Halves, b: Halves, c: Array, fraction_bits: int, to_f16: bool) -> Array:
    """c + the sum over axis 0 of a * b as one hardware block does it.

    `a` and `b` broadcast to [L, ...], `c` is float32 or float16 of shape [...]; the result has that shape, float32
    truncated or float16 rounded to nearest even. Source: the algorithm of Fasi et al. and Khattak and Mikaitis, as
    recorded on V100, A100, Ada and H200.
    """
    products = a.values * b.values
    largest = np.maximum.reduce(a.exponents + b.exponents, axis=0).astype(np.int32)
    wide = c.astype(np.float32) if c.dtype == np.float16 else c
    own = ((wide.view(np.int32) >> 23) & 0xFF) - 127
    if c.dtype == np.float16:
        own = np.where(wide == 0, _LEAST_SCALED, np.maximum(own, -14))
    top = np.maximum(np.maximum(largest, own), _LEAST_SCALED)
    result = _rounded(_aligned_sum(products, wide, top, fraction_bits), top, fraction_bits, to_f16)
    lone = largest < _LEAST_PRODUCT
    if lone.any():
        result = _where_only_c(result, lone, wide, to_f16)
    if not (a.finite and b.finite) or int(own.max()) == 128:
        result = _with_specials(result, products, wide, to_f16)
    return result


def _aligned_sum(products: Array, c: Array, top: Array, fraction_bits: int) -> Array:
    """The sum of the terms, each truncated to an integer in units of 2**(top - F)."""
    wide = np.int32 if fraction_bits <= 24 and products.shape[0] <= 8 else np.int64
    scale = ((fraction_bits + 127 - top) << 23).view(np.float32)
    products = products * scale
    total: Array = np.add.reduce(products.astype(wide), axis=0, dtype=wide)
    total += (c * scale).astype(wide)
    return total


def _rounded(total: Array, top: Array, fraction_bits: int, to_f16: bool) -> Array:
    exact = total.astype(np.float64)
    if to_f16:
        unit = (((top - fraction_bits).astype(np.int64) + 1023) << 52).view(np.float64)
        return (exact * unit).astype(np.float16) + _POSITIVE_ZERO
    exact.view(np.int64)[...] &= _KEPT_24
    unit = ((top - fraction_bits + 127) << 23).view(np.float32)
    result: Array = exact.astype(np.float32) * unit + _POSITIVE_ZERO
    return result


def _where_only_c(result: Array, lone: Array, c: Array, to_f16: bool) -> Array:
    alone = c.astype(np.float16) if to_f16 else c
    keep = lone & (alone != 0)
    return np.where(keep, alone, result)


def _with_specials(result: Array, products: Array, c: Array, to_f16: bool) -> Array:
    """NaN is canonical, and where no NaN is, an infinity stays one."""
    special = np.add.reduce(np.where(np.isfinite(products), np.float32(0), products), axis=0)
    special = special + np.where(np.isfinite(c), np.float32(0), c)
    nan, infinity = (_NAN_F16, special.astype(np.float16)) if to_f16 else (_NAN_F32, special)
    return np.where(np.isnan(special), nan, np.where(np.isinf(special), infinity, result))
