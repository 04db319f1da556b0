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


def shl(site: Site) -> Compute:
    """Left shift; amounts of the width or more give zero."""
    a, amount = site.read(1), site.read(2, np.uint32)
    bits = site.type(1).bits
    return lambda r: _shifted(np.left_shift, a(r), amount(r), bits)


def shr(site: Site) -> Compute:
    """Right shift, arithmetic for signed types; larger amounts act as the width."""
    a, amount = site.read(1), site.read(2, np.uint32)
    bits = site.type(1).bits
    if site.type(1).kind.name == "SIGNED":
        return lambda r: a(r) >> np.minimum(amount(r), np.uint32(bits - 1)).astype(a(r).dtype)
    return lambda r: _shifted(np.right_shift, a(r), amount(r), bits)


def _shifted(function: Callable[[Any, Any], Any], a: Array, amount: Array, bits: int) -> Array:
    shifted: Array = function(a, np.minimum(amount, np.uint32(bits - 1)).astype(a.dtype))
    return np.where(amount >= bits, a.dtype.type(0), shifted)


def shf(site: Site) -> Compute:
    """Shift of the pair (a low, b high): `.l` gives the upper word of a left shift, `.r` the lower of a right one."""
    a, b, amount = site.read(1, np.uint32), site.read(2, np.uint32), site.read(3, np.uint32)
    left, wrap = site.has("l"), site.has("wrap")

    def compute(r: list[Array]) -> Array:
        count = (amount(r) & np.uint32(31)) if wrap else np.minimum(amount(r), np.uint32(32))
        pair = (b(r).astype(np.uint64) << np.uint64(32)) | a(r)
        if left:
            return _upper(pair, count)
        return (pair >> count.astype(np.uint64)).astype(np.uint32)

    return compute


def _upper(pair: Array, count: Array) -> Array:
    word: Array = (pair >> (np.uint64(32) - count.astype(np.uint64))).astype(np.uint32)
    return word


def lop3(site: Site) -> Compute:
    """Any function of three bits, by its table as an immediate."""
    a, b, c = site.read(1), site.read(2), site.read(3)
    table = int(getattr(site.operands[4], "value", -1))
    if not 0 <= table < 256:
        raise site.unsupported("the table must be an immediate")
    terms = [index for index in range(8) if table >> index & 1]

    def compute(r: list[Array]) -> Array:
        x, y, z = a(r), b(r), c(r)
        result = (x ^ x) & (y ^ y) & (z ^ z)
        for term in terms:
            result = result | ((x if term & 4 else ~x) & (y if term & 2 else ~y) & (z if term & 1 else ~z))
        return result

    return compute


def cnot(site: Site) -> Compute:
    """One where the operand is zero, else zero."""
    return unary(site, lambda a: (a == 0).astype(a.dtype))


def popc(site: Site) -> Compute:
    """The number of set bits."""
    return unary(site, lambda a: _population(a).astype(np.uint32))


def _population(a: Array) -> Array:
    counted: Array = np.bitwise_count(a) if hasattr(np, "bitwise_count") else _bits(a).sum(axis=-1)
    return counted


def _bits(a: Array) -> Array:
    """The bits of an unsigned array on one more axis, least first."""
    width = a.dtype.itemsize * 8
    shifted: Array = a[..., None] >> np.arange(width, dtype=a.dtype)
    bits: Array = np.bitwise_and(shifted, a.dtype.type(1))
    return bits


def clz(site: Site) -> Compute:
    """The number of leading zeros, the width for zero."""
    bits = site.type(1).bits
    return unary(site, lambda a: np.uint32(bits) - _length(a))


def _length(a: Array) -> Array:
    """The number of bits up to the highest set one, 0 for zero."""
    spread = a
    shift = 1
    while shift < a.dtype.itemsize * 8:
        spread = spread | (spread >> a.dtype.type(shift))
        shift *= 2
    return _population(spread).astype(np.uint32)


def brev(site: Site) -> Compute:
    """The bits in reverse order."""
    bits = site.type(1).bits
    weights = np.arange(bits)[::-1]
    return unary(site, lambda a: (_bits(a) << weights.astype(a.dtype)).sum(axis=-1, dtype=a.dtype))


def bfind(site: Site) -> Compute:
    """The place of the most significant bit that differs from the sign, all ones where none does; `.shiftamt` from
    above.
    """
    bits = site.type(1).bits
    from_above = site.has("shiftamt")
    unsigned = np.dtype(f"u{bits // 8}")

    def find(a: Array) -> Array:
        flipped = np.where(a < 0, ~a, a).view(unsigned)
        place = _length(flipped) - np.uint32(1)
        none = flipped == 0
        return np.where(none, ~np.uint32(0), np.uint32(bits - 1) - place if from_above else place)

    return unary(site, find)


def bfe(site: Site) -> Compute:
    """Bits `start` to `start + length`, extended with the sign bit of the field for signed types."""
    bits = site.type(1).bits
    unsigned = np.dtype(f"u{bits // 8}")
    a, start, length = site.read(1, unsigned), site.read(2, np.uint32), site.read(3, np.uint32)
    signed = site.type(1).kind.name == "SIGNED"
    low = np.uint32(0xFF)

    def compute(r: list[Array]) -> Array:
        value, first, count = a(r), start(r) & low, length(r) & low
        field = _shifted(np.right_shift, value, first, bits) & _mask(count, unsigned, bits)
        if not signed:
            return field
        sign_at = np.minimum(first + count - np.uint32(1), np.uint32(bits - 1))
        sign = np.where(count == 0, unsigned.type(0), (value >> sign_at.astype(unsigned)) & unsigned.type(1))
        return np.where(sign != 0, field | ~_mask(np.minimum(count, _left(first, bits)), unsigned, bits), field)

    return compute


def _left(first: Array, bits: int) -> Array:
    return np.uint32(bits) - np.minimum(first, np.uint32(bits))


def _mask(count: Array, unsigned: np.dtype[Any], bits: int) -> Array:
    """The lowest `count` bits set, all for the width or more."""
    above = _shifted(np.left_shift, np.full(count.shape, ~unsigned.type(0)), count, bits)
    low: Array = ~above
    return low


def bfi(site: Site) -> Compute:
    """`b` with `length` bits of `a` inserted from `start`."""
    bits = site.type(1).bits
    unsigned = np.dtype(f"u{bits // 8}")
    a, b = site.read(1, unsigned), site.read(2, unsigned)
    start, length = site.read(3, np.uint32), site.read(4, np.uint32)
    low = np.uint32(0xFF)

    def compute(r: list[Array]) -> Array:
        first, count = start(r) & low, length(r) & low
        mask = _shifted(np.left_shift, _mask(count, unsigned, bits), first, bits)
        return (b(r) & ~mask) | (_shifted(np.left_shift, a(r), first, bits) & mask)

    return compute


_PERMUTATIONS = {
    "f4e": ((3, 2, 1, 0), (4, 3, 2, 1), (5, 4, 3, 2), (6, 5, 4, 3)),
    "b4e": ((5, 6, 7, 0), (6, 7, 0, 1), (7, 0, 1, 2), (0, 1, 2, 3)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((3, 2, 1, 0), (3, 2, 1, 1), (3, 2, 2, 2), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (1, 1, 1, 0), (2, 2, 1, 0), (3, 2, 1, 0)),
    "rc16": ((1, 0, 1, 0), (3, 2, 3, 2), (1, 0, 1, 0), (3, 2, 3, 2)),
}


def prmt(site: Site) -> Compute:
    """Four bytes picked from the pair (a low, b high), each perhaps as its sign; or one of the fixed modes."""
    a, b, selector = site.read(1, np.uint32), site.read(2, np.uint32), site.read(3, np.uint32)
    mode = next((word for word in _PERMUTATIONS if site.has(word)), None)

    def compute(r: list[Array]) -> Array:
        pair = (b(r).astype(np.uint64) << np.uint64(32)) | a(r)
        control = selector(r)
        result = np.zeros(np.broadcast_shapes(pair.shape, control.shape), np.uint32)
        for byte in range(4):
            if mode is None:
                pick, sign = _picked(control, byte)
            else:
                table = np.array([_PERMUTATIONS[mode][which][3 - byte] for which in range(4)], np.uint32)
                pick, sign = table[control & np.uint32(3)], np.zeros_like(control)
            value = ((pair >> (pick.astype(np.uint64) * np.uint64(8))) & np.uint64(0xFF)).astype(np.uint32)
            value = np.where(sign != 0, (value >> np.uint32(7)) * np.uint32(0xFF), value)
            result = result | (value << np.uint32(8 * byte))
        return result

    return compute


def _picked(control: Array, byte: int) -> tuple[Array, Array]:
    nibble = control >> np.uint32(4 * byte)
    return nibble & np.uint32(7), nibble & np.uint32(8)


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


def and_(site: Site) -> Compute:
    """Bitwise and, of words or predicates."""
    return binary(site, np.bitwise_and)


def or_(site: Site) -> Compute:
    """Bitwise or, of words or predicates."""
    return binary(site, np.bitwise_or)


def xor(site: Site) -> Compute:
    """Bitwise exclusive or, of words or predicates."""
    return binary(site, np.bitwise_xor)


def not_(site: Site) -> Compute:
    """Bitwise complement, of words or predicates."""
    return unary(site, np.invert)
