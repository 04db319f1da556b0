"""Floating-point formats narrower than f32: their bits from exact values, in every rounding, and back."""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ptxgen.simulate.rounding import Rounding

Array: TypeAlias = NDArray[Any]

_EXPONENTS = np.int64(0x7FF)


class Overflow(Enum):
    """What a format has above its largest number."""

    INFINITY = "infinity"
    NAN = "NaN only"
    NOTHING = "neither infinity nor NaN"


@frozen(eq=False)
class Format:
    """A binary format: fraction bits, the exponent of its least normal number, the code of its largest one.

    `nan` is the code that instructions make for NaN; a format without NaN gives its largest number (manual, `cvt`).
    The sign stands above the magnitude's `bits - 1`.
    """

    name: str
    bits: int
    fraction_bits: int
    least_exponent: int
    largest: int
    nan: int
    overflow: Overflow
    dtype: np.dtype[Any] = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "dtype", np.dtype(f"u{max(1, -(-self.bits // 8))}") if self.bits != 19 else _WORD)

    @property
    def sign(self) -> int:
        """The code of the sign bit."""
        return 1 << (self.bits - 1)

    @property
    def infinity(self) -> int:
        """The code above the largest number, infinity where the format has one."""
        return self.largest + 1


_WORD = np.dtype(np.uint32)
F16 = Format("f16", 16, 10, -14, 0x7BFF, 0x7FFF, Overflow.INFINITY)
BF16 = Format("bf16", 16, 7, -126, 0x7F7F, 0x7FFF, Overflow.INFINITY)
TF32 = Format("tf32", 19, 10, -126, 0x3FBFF, 0x3FFFF, Overflow.INFINITY)
E4M3 = Format("e4m3", 8, 3, -6, 0x7E, 0x7F, Overflow.NAN)
E5M2 = Format("e5m2", 8, 2, -14, 0x7B, 0x7F, Overflow.INFINITY)
E2M3 = Format("e2m3", 6, 3, 0, 0x1F, 0x1F, Overflow.NOTHING)
E3M2 = Format("e3m2", 6, 2, -2, 0x1F, 0x1F, Overflow.NOTHING)
E2M1 = Format("e2m1", 4, 1, 0, 0x7, 0x7, Overflow.NOTHING)
FORMATS: dict[str, Format] = {each.name: each for each in (F16, BF16, TF32, E4M3, E5M2, E2M3, E3M2, E2M1)}


def encoded(value: Array, into: Format, mode: Rounding = Rounding.NEAREST, *, finite: bool = False) -> Array:
    """The bits of a float64 array that is exact or rounded to odd, as unsigned.

    `finite` gives the largest number in place of an overflow or an infinity. A format without infinity is always
    finite.
    """
    size = np.abs(value)
    negative = np.signbit(value)
    exponents = np.maximum(((value.view(np.int64) >> 52) & _EXPONENTS) - 1023, into.least_exponent)
    clipped = np.minimum(exponents, 1000)
    scaled = np.where(np.isfinite(size), size, 0.0) * ((into.fraction_bits - clipped + 1023) << 52).view(np.float64)
    whole = np.floor(scaled)
    rest = scaled - whole
    codes = whole.astype(np.int64) + _steps(whole, rest, negative, mode)
    codes += (clipped - into.least_exponent) << into.fraction_bits
    codes = _bounded(codes, np.isinf(value), negative, into, mode, finite)
    signed = codes | np.where(negative, np.int64(into.sign), np.int64(0))
    bits: Array = np.where(np.isnan(value), np.int64(into.nan), signed).astype(into.dtype)
    return bits


def _steps(whole: Array, rest: Array, negative: Array, mode: Rounding) -> Array:
    match mode:
        case Rounding.NEAREST:
            tie = rest == 0.5
            nearer: Array = (rest > 0.5) | (tie & (whole.astype(np.int64) & 1 == 1))
            return nearer
        case Rounding.UP:
            return (rest > 0) & ~negative
        case Rounding.DOWN:
            return (rest > 0) & negative
        case _:
            return np.zeros(rest.shape, np.bool_)


def _bounded(codes: Array, infinite: Array, negative: Array, into: Format, mode: Rounding, finite: bool) -> Array:
    beyond = codes > into.largest
    if not (beyond.any() or infinite.any()):
        return codes
    if finite or into.overflow is Overflow.NOTHING:
        return np.where(beyond | infinite, into.largest, codes)
    match mode:
        case Rounding.NEAREST:
            stays = np.zeros(codes.shape, np.bool_)
        case Rounding.UP:
            stays = negative
        case Rounding.DOWN:
            stays = ~negative
        case _:
            stays = np.ones(codes.shape, np.bool_)
    bounded = np.where(beyond, np.where(stays, into.largest, into.infinity), codes)
    return np.where(infinite, into.infinity, bounded)


def decoded(bits: Array, of: Format) -> Array:
    """The values of bits as float64; exact. Bits above the format's width are ignored."""
    wide = bits.astype(np.int64)
    codes = wide & (of.sign - 1)
    field_value = codes >> of.fraction_bits
    fraction = (codes & ((1 << of.fraction_bits) - 1)) | np.where(field_value > 0, 1 << of.fraction_bits, 0)
    exponents = np.maximum(field_value - 1, 0) + (of.least_exponent - of.fraction_bits)
    size = fraction.astype(np.float64) * ((exponents + 1023) << 52).view(np.float64)
    if of.overflow is Overflow.INFINITY:
        size = np.where(codes == of.infinity, np.inf, np.where(codes > of.infinity, np.nan, size))
    elif of.overflow is Overflow.NAN:
        size = np.where(codes > of.largest, np.nan, size)
    values: Array = np.where(wide & of.sign != 0, -size, size)
    return values
