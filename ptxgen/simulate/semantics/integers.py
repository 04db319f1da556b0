"""Integer arithmetic and logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.simulate.semantics.packed import on_parts, unpacked
from ptxgen.simulate.site import Array, Compute, Reader, Site, value_dtype


def add(site: Site) -> Compute:
    """Sum, wrapping; `.sat` clamps to the range of the type."""
    return _saturated(site, np.add) if site.has("sat") else binary(site, np.add)


def sub(site: Site) -> Compute:
    """Difference, wrapping; `.sat` clamps to the range of the type."""
    return _saturated(site, np.subtract) if site.has("sat") else binary(site, np.subtract)


def _saturated(site: Site, function: Callable[[Any, Any], Any]) -> Compute:
    def clamped(a: Array, b: Array) -> Array:
        info = np.iinfo(a.dtype)
        exact = function(a.astype(np.int64), b.astype(np.int64))
        inside: Array = np.clip(exact, int(info.min), int(info.max)).astype(a.dtype)
        return inside

    return binary(site, clamped)


_PARTS: dict[str, Any] = {"u16x2": np.uint16, "s16x2": np.int16, "u8x4": np.uint8, "s8x4": np.int8}


def _elementwise(site: Site, function: Callable[..., Any], count: int) -> Compute:
    """A function of `count` operands of the instruction's type, part by part for packed ones."""
    part = _PARTS.get(site.type(1).name)
    if part is not None:
        return on_parts(function, [site.read(index, np.uint32) for index in range(1, count + 1)], part)
    if count == 1:
        a = site.read(1)
        return lambda r: function(a(r))
    a, b = site.read(1), site.read(2)
    return lambda r: function(a(r), b(r))


def binary(site: Site, function: Callable[[Any, Any], Any]) -> Compute:
    """A function of two operands of the instruction's type, part by part for packed ones."""
    return _elementwise(site, function, 2)


def unary(site: Site, function: Callable[[Any], Any]) -> Compute:
    """A function of one operand of the instruction's type, part by part for packed ones."""
    return _elementwise(site, function, 1)


def mul(site: Site) -> Compute:
    """The low half, the high half or all of a product."""
    return _product(site)


def mad(site: Site) -> Compute:
    """A product's half or all of it, and a sum that wraps."""
    product, addend = _product(site), site.read(3)
    if site.has("sat"):
        return lambda r: _clamped_sum(product(r), addend(r))
    return lambda r: product(r) + addend(r)


def _clamped_sum(a: Array, b: Array) -> Array:
    return np.clip(a.astype(np.int64) + b, -(1 << 31), (1 << 31) - 1).astype(np.int32)


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
    """As `mul24`, and a sum that wraps or, with `.sat`, is clamped to s32."""
    product, addend = mul24(site), site.read(3, np.uint32)
    if site.has("sat"):
        return lambda r: _clamped_sum(product(r).view(np.int32), addend(r).view(np.int32))
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
    """The lesser operand; `.relu` gives at least zero."""
    return _extreme(site, np.minimum)


def maximum(site: Site) -> Compute:
    """The greater operand; `.relu` gives at least zero."""
    return _extreme(site, np.maximum)


def _extreme(site: Site, function: Callable[[Any, Any], Any]) -> Compute:
    if not site.has("relu"):
        return binary(site, function)
    return binary(site, lambda a, b: np.maximum(function(a, b), a.dtype.type(0)))


def dp4a(site: Site) -> Compute:
    """The sum of four products of bytes, and of c, wrapping."""
    a, b, c = _bytes(site, 1, "atype"), _bytes(site, 2, "btype"), site.read(3, np.uint32)
    return lambda r: c(r) + (a(r) * b(r)).sum(axis=-1).astype(np.uint32)


def dp2a(site: Site) -> Compute:
    """The sum of the products of a's halves with the two low or high bytes of b, and of c, wrapping."""
    halves = np.int16 if site.instruction.form.words["atype"] == "s32" else np.uint16
    a, b, c = site.read(1, np.uint32), _bytes(site, 2, "btype"), site.read(3, np.uint32)
    first = 2 if site.has("hi") else 0
    return lambda r: (
        c(r) + (unpacked(a(r), halves).astype(np.int64) * b(r)[..., first : first + 2]).sum(axis=-1).astype(np.uint32)
    )


def _bytes(site: Site, index: int, slot: str) -> Reader:
    part = np.int8 if site.instruction.form.words[slot] == "s32" else np.uint8
    read = site.read(index, np.uint32)
    return lambda r: unpacked(read(r), part).astype(np.int64)


def clmad(site: Site) -> Compute:
    """The low or high half of the carry-less product of 64-bit words, exclusive or c."""
    a, b, c = (site.read(index, np.uint64) for index in (1, 2, 3))
    high, zero, one = site.has("hi"), np.uint64(0), np.uint64(1)

    def compute(r: list[Array]) -> Array:
        x, y, result = a(r), b(r), c(r)
        for bit in range(1 if high else 0, 64):
            shifted = x >> np.uint64(64 - bit) if high else x << np.uint64(bit)
            result = result ^ np.where((y >> np.uint64(bit)) & one != zero, shifted, zero)
        return result

    return compute
