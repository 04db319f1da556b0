"""Products of the tensor cores for inputs of any format, exact to the bit.

The algorithm is that of `tensor.py`, in float64 and int64: f16 products fit float32 and have that faster path.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from isa.numerics import Numerics, Rounding
from ptxgen.simulate.doubles import fma_f64
from ptxgen.simulate.rounding import Rounding as Direction
from ptxgen.simulate.rounding import add_f32, canonical_f16, fma_f32

Array: TypeAlias = NDArray[Any]

_NOWHERE = -100_000
_BIAS, _FIELD = 1023, np.int64(0x7FF)
_NAN_F32, _NAN_F16 = np.uint32(0x7FFFFFFF).view(np.float32), np.uint16(0x7FFF).view(np.float16)
_LEAST_C = {np.dtype(np.float32): -126, np.dtype(np.float16): -14}
_POSITIVE_ZERO = 0.0
_KEPT_13 = np.uint32(0xFFFFFC00)


@frozen(eq=False)
class Operand:
    """Values (float64, [k, ...]) and their exponents: of a subnormal the least of its format, of a zero below all."""

    values: Array
    exponents: Array


def operand(values: Array, least_exponent: int) -> Operand:
    """The operand of exact values in a format whose least normal exponent is given."""
    return Operand(values, _exponents(values, least_exponent))


def _exponents(values: Array, least: int) -> Array:
    exponents = ((values.view(np.int64) >> 52) & _FIELD) - _BIAS
    return np.where(values == 0, _NOWHERE, np.maximum(exponents, least))


def chained(a: Operand, b: Operand, c: Array, record: Numerics, to_f16: bool) -> Array:
    """c [rows, columns, n] + a [k, rows, n] * b [k, columns, n], blocks of the record in ascending k.

    `b` may be [k, rows, columns, n], other for each row: what the elements of a sparse A meet.
    `c` is float32 or float16; the result is float16 with `to_f16`, else float32.
    """
    for start in range(0, a.values.shape[0], record.block):
        block = slice(start, start + record.block)
        left = Operand(a.values[block, :, None], a.exponents[block, :, None])
        right = Operand(_by_row(b.values[block]), _by_row(b.exponents[block]))
        c = block_sum(left, right, c, record, to_f16)
    return c


def _by_row(b: Array) -> Array:
    """[k, columns, n] as one row of all; [k, rows, columns, n] as it is."""
    return b if b.ndim == 4 else b[:, None]


def block_sum(a: Operand, b: Operand, c: Array, record: Numerics, to_f16: bool) -> Array:
    """c + the sum over axis 0 of a * b as one hardware block does it; a and b broadcast to [L, ...], c is [...]."""
    products = a.values * b.values
    wide = c.astype(np.float64)
    own = _exponents(wide, _LEAST_C[c.dtype])
    largest = np.maximum.reduce(np.where(products == 0, _NOWHERE, a.exponents + b.exponents), axis=0)
    top = np.maximum(largest, own)
    top = np.where(top == _NOWHERE, 0, top)
    scale = ((record.fraction_bits - top + _BIAS) << 52).view(np.float64)
    finite = np.isfinite(products).all(axis=0) & np.isfinite(wide)
    terms = np.where(finite, products, 0.0) * scale
    total = np.add.reduce(terms.astype(np.int64), axis=0) + (np.where(finite, wide, 0.0) * scale).astype(np.int64)
    exact = total.astype(np.float64) * ((top - record.fraction_bits + _BIAS) << 52).view(np.float64)
    rounded = (exact.astype(np.float16) if to_f16 else _truncated(exact, record.f32)) + _POSITIVE_ZERO
    return rounded if finite.all() else _with_specials(rounded, products, wide, finite)


def _truncated(exact: Array, how: Rounding) -> Array:
    """float64 to float32 towards zero, subnormals included; infinite from 2**128 on."""
    nearest = exact.astype(np.float32)
    beyond = np.abs(nearest.astype(np.float64)) > np.abs(exact)
    cut = np.where(beyond, np.nextafter(nearest, np.float32(0)), nearest)
    cut = np.where(np.abs(exact) >= 2.0**128, np.copysign(np.float32(np.inf), exact).astype(np.float32), cut)
    if how is Rounding.TOWARDS_ZERO_13:
        cut = (cut.view(np.uint32) & _KEPT_13).view(np.float32)
    return cut


def _with_specials(rounded: Array, products: Array, c: Array, finite: Array) -> Array:
    special = np.add.reduce(np.where(np.isfinite(products), 0.0, products), axis=0)
    special = special + np.where(np.isfinite(c), 0.0, c)
    nan = _NAN_F16 if rounded.dtype == np.float16 else _NAN_F32
    infinite = np.where(np.isnan(special), nan, special.astype(rounded.dtype))
    return np.where(finite, rounded, infinite)


def emulated_bytes(a: Array, b: Array, c: Array, halves_record: Numerics, to_f16: bool) -> Array:
    """The fp8 product of depth 32 or 16 on sm_90, which ptxas unpacks to f16.

    Two products of half the depth from zero, rounded to the type of c: first the k with k % 4 < 2, then the rest; then
    c is added to nearest. So ptxas's code for it reads. `a` [depth, rows, n] and `b` [depth, columns, n] are float64,
    `c` float16 or float32.
    """
    depth = np.arange(a.shape[0])
    made = np.zeros(c.shape, c.dtype)
    for part in (depth % 4 < 2, depth % 4 >= 2):
        made = chained(operand(a[part], -14), operand(b[part], -14), made, halves_record, to_f16)
    total = (made.astype(np.float64) + c).astype(c.dtype)
    return np.where(np.isnan(total), _NAN_F16 if to_f16 else _NAN_F32, total)


def emulated_quads(a: Array, b: Array, c: Array, to_f16: bool) -> Array:
    """The f16 product of depth 4 on sm_80 and later, where ptxas's routine does it in f32.

    With f32 results a chain of fused multiply-adds from zero in ascending k, then c is added. With f16 ones the sums of
    the first and of the last two products, rounded, are added to c one after the other. So the routine of `row.col`
    reads; those of other layouts are taken to do the same. `a` [4, rows, n] and `b` [4, columns, n] are float32.
    """
    left, right = a[:, :, None], b[:, None]
    wide = c.astype(np.float32)
    if not to_f16:
        chain = np.zeros(wide.shape, np.float32)
        for one, other in zip(left, right, strict=True):
            chain = fma_f32(one, other, chain)
        return add_f32(wide, chain)
    for first in (0, 2):
        product = left[first] * right[first]
        pair = fma_f32(left[first + 1], right[first + 1], product)
        wide = add_f32(wide, pair)
    return canonical_f16(wide.astype(np.float16))


def chain_f64(a: Array, b: Array, c: Array, mode: Direction = Direction.NEAREST) -> Array:
    """c + a * b of float64, a chain of fused multiply-adds in ascending k."""
    for left, right in zip(a, b, strict=True):
        c = fma_f64(np.broadcast_to(left[:, None], c.shape), np.broadcast_to(right[None], c.shape), c, mode)
    return c


def product_of_integers(a: Array, b: Array, c: Array, saturated: bool) -> Array:
    """c (int32) + a * b of small integers as float64, exact; wraps, or is clamped to int32."""
    total = _matrix_product(a, b) + c
    whole: Array = (np.clip(total, -(1 << 31), (1 << 31) - 1) if saturated else total).astype(np.int32)
    return whole


def product_of_bits(a: Array, b: Array, c: Array, exclusive: bool) -> Array:
    """c (int32) + the number of ones of a and b, or of a xor b, over k; a and b are 0.0 or 1.0."""
    both = _matrix_product(a, b)
    if exclusive:
        both = a.sum(axis=0).astype(np.int64)[:, None] + b.sum(axis=0).astype(np.int64)[None] - 2 * both
    counted: Array = (both + c).astype(np.int32)
    return counted


def _matrix_product(a: Array, b: Array) -> Array:
    """[k, rows, n] times [k, columns, n], or [k, rows, columns, n], summed over k, as int64 [rows, columns, n]; exact
    below 2**53.
    """
    if b.ndim == 4:
        summed: Array = np.einsum("krn,krcn->rcn", a, b).astype(np.int64)
        return summed
    product: Array = np.matmul(a.transpose(2, 1, 0), b.transpose(2, 0, 1)).transpose(1, 2, 0).astype(np.int64)
    return product
