"""Integer arithmetic and logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.simulate.site import Array, Compute, Reader, Site, value_dtype


def add(site: Site) -> Compute:
    """Sum, wrapping; `.sat` clamps s32."""
    return _saturated(site, np.add) if site.has("sat") else binary(site, np.add)


def sub(site: Site) -> Compute:
    """Difference, wrapping; `.sat` clamps s32."""
    return _saturated(site, np.subtract) if site.has("sat") else binary(site, np.subtract)


def _saturated(site: Site, function: Callable[[Any, Any], Any]) -> Compute:
    a, b = site.read(1, np.int32), site.read(2, np.int32)
    return lambda r: np.clip(function(a(r).astype(np.int64), b(r)), -(1 << 31), (1 << 31) - 1).astype(np.int32)


def binary(site: Site, function: Callable[[Any, Any], Any]) -> Compute:
    """A function of two operands of the instruction's type."""
    a, b = site.read(1), site.read(2)
    return lambda r: function(a(r), b(r))


def unary(site: Site, function: Callable[[Any], Any]) -> Compute:
    """A function of one operand of the instruction's type."""
    a = site.read(1)
    return lambda r: function(a(r))


def mul(site: Site) -> Compute:
    """The low half, the high half or all of a product."""
    return _product(site)


def mad(site: Site) -> Compute:
    """A product's half or all of it, and a sum that wraps."""
    product, addend = _product(site), site.read(3)
    if site.has("sat"):
        low, high = -(1 << 31), (1 << 31) - 1
        return lambda r: np.clip(product(r).astype(np.int64) + addend(r), low, high).astype(np.int32)
    return lambda r: product(r) + addend(r)


def _product(site: Site) -> Compute:
    a, b = site.read(1), site.read(2)
    if site.has("wide"):
        double = value_dtype(site.type(0))
        return lambda r: a(r).astype(double) * b(r).astype(double)
    if site.has("hi"):
        return _high(site, a, b)
    return lambda r: a(r) * b(r)


def _high(site: Site, a: Reader, b: Reader) -> Compute:
    bits = site.type(1).bits
    signed = site.type(1).kind.name == "SIGNED"
    if bits == 64:
        return lambda r: _high_64(a(r), b(r), signed)
    double = (np.int64 if signed else np.uint64) if bits == 32 else (np.int32 if signed else np.uint32)
    narrow = np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
    return lambda r: ((a(r).astype(double) * b(r).astype(double)) >> bits).astype(narrow)


def _high_64(a: Array, b: Array, signed: bool) -> Array:
    x, y = a.view(np.uint64), b.view(np.uint64)
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    x0, x1, y0, y1 = x & low, x >> half, y & low, y >> half
    middle = x1 * y0 + ((x0 * y0) >> half)
    other = (middle & low) + x0 * y1
    high = x1 * y1 + (middle >> half) + (other >> half)
    if signed:
        high = high - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    product: Array = high.view(a.dtype)
    return product


def mul24(site: Site) -> Compute:
    """The low or high 32 bits of the 48-bit product of the low 24 bits."""
    a, b = _low_24(site, 1), _low_24(site, 2)
    shift = 16 if site.has("hi") else 0
    return lambda r: ((a(r) * b(r)) >> shift).astype(np.uint32)


def mad24(site: Site) -> Compute:
    """As `mul24`, and a sum that wraps."""
    product, addend = mul24(site), site.read(3, np.uint32)
    return lambda r: product(r) + addend(r)


def _low_24(site: Site, index: int) -> Reader:
    read = site.read(index, np.int32)
    if site.type(index).kind.name == "SIGNED":
        return lambda r: (read(r).astype(np.int64) << 40) >> 40
    return lambda r: read(r).astype(np.int64) & 0xFFFFFF


def sad(site: Site) -> Compute:
    """The absolute difference of two operands plus a third, wrapping."""
    a, b, c = site.read(1), site.read(2), site.read(3)
    return lambda r: c(r) + (np.maximum(a(r), b(r)) - np.minimum(a(r), b(r)))


def div(site: Site) -> Compute:
    """The quotient towards zero; by zero all ones (the manual leaves it open, hardware gives it)."""
    return binary(site, lambda a, b: _quotient(a, b)[0])


def rem(site: Site) -> Compute:
    """The remainder with the sign of the dividend; by zero all ones (the manual leaves it open, hardware gives it)."""
    return binary(site, lambda a, b: _quotient(a, b)[1])


def _quotient(a: Array, b: Array) -> tuple[Array, Array]:
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    zero = b == 0
    top = np.abs(a).view(unsigned) if a.dtype.kind == "i" else a
    bottom = np.abs(b).view(unsigned) if b.dtype.kind == "i" else b
    quotient = top // np.where(zero, unsigned.type(1), bottom)
    quotient = np.where((a < 0) != (b < 0), np.zeros_like(quotient) - quotient, quotient)
    quotient = np.where(zero, ~unsigned.type(0), quotient).view(a.dtype)
    ones = np.array(~unsigned.type(0)).view(a.dtype)
    return quotient, np.where(zero, ones, a - quotient * b)


def absolute(site: Site) -> Compute:
    """The absolute value; the least number stays."""
    return unary(site, np.abs)


def neg(site: Site) -> Compute:
    """The negative, wrapping."""
    return unary(site, np.negative)


def minimum(site: Site) -> Compute:
    """The lesser operand."""
    return binary(site, np.minimum)


def maximum(site: Site) -> Compute:
    """The greater operand."""
    return binary(site, np.maximum)
