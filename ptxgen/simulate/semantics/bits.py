"""Logic, shifts and bit fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.simulate.semantics.integers import binary, unary
from ptxgen.simulate.site import Array, Compute, Site


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
    """Any function of three bits, by its table as an immediate; perhaps whether it is not zero, joined with a truth."""
    word = next((each for each in ("or", "and") if site.has(each)), None)
    first = 1 if word is None else 2
    function = _of_three(site, first)
    if word is None:
        return function
    q, join = site.read(first + 4, np.bool_), np.logical_or if word == "or" else np.logical_and

    def with_truth(r: list[Array]) -> tuple[Array, Array]:
        value = function(r)
        return value, join(value != 0, q(r))

    return with_truth


def _of_three(site: Site, first: int) -> Compute:
    a, b, c = (site.read(first + each) for each in range(3))
    table = int(getattr(site.operands[first + 3], "value", -1))
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
    """Bits `start` to `start + length`, extended with the sign bit of the field for signed types.

    Place and length are bytes for 32-bit types and whole words for 64-bit ones, as ptxas expands those.
    """
    bits = site.type(1).bits
    unsigned = np.dtype(f"u{bits // 8}")
    a, start, length = site.read(1, unsigned), site.read(2, np.uint32), site.read(3, np.uint32)
    signed = site.type(1).kind.name == "SIGNED"
    low = _counted(bits)

    def compute(r: list[Array]) -> Array:
        value, first, count = a(r), start(r) & low, length(r) & low
        field = _shifted(np.right_shift, value, first, bits) & _mask(count, unsigned, bits)
        if not signed:
            return field
        behind = np.minimum(first, np.uint32(bits)) + np.minimum(count, np.uint32(bits))
        sign_at = np.minimum(behind - np.uint32(1), np.uint32(bits - 1))
        sign = np.where(count == 0, unsigned.type(0), (value >> sign_at.astype(unsigned)) & unsigned.type(1))
        return np.where(sign != 0, field | ~_mask(np.minimum(count, _left(first, bits)), unsigned, bits), field)

    return compute


def _counted(bits: int) -> np.uint32:
    """The bits that count in the place and the length of a field of a word of `bits` bits."""
    return np.uint32(0xFF if bits == 32 else 0xFFFFFFFF)


def _left(first: Array, bits: int) -> Array:
    return np.uint32(bits) - np.minimum(first, np.uint32(bits))


def _mask(count: Array, unsigned: np.dtype[Any], bits: int) -> Array:
    """The lowest `count` bits set, all for the width or more."""
    above = _shifted(np.left_shift, np.full(count.shape, ~unsigned.type(0)), count, bits)
    low: Array = ~above
    return low


def bfi(site: Site) -> Compute:
    """`b` with `length` bits of `a` inserted from `start`; place and length as in `bfe`."""
    bits = site.type(1).bits
    unsigned = np.dtype(f"u{bits // 8}")
    a, b = site.read(1, unsigned), site.read(2, unsigned)
    start, length = site.read(3, np.uint32), site.read(4, np.uint32)
    low = _counted(bits)

    def compute(r: list[Array]) -> Array:
        first, count = start(r) & low, length(r) & low
        mask = _shifted(np.left_shift, _mask(count, unsigned, bits), first, bits)
        return (b(r) & ~mask) | (_shifted(np.left_shift, a(r), first, bits) & mask)

    return compute


def bmsk(site: Site) -> Compute:
    """A mask of `b` ones from place `a`; `.wrap` takes both modulo 32, `.clamp` at most 32."""
    a, b = site.read(1, np.uint32), site.read(2, np.uint32)
    wrap, unsigned = site.has("wrap"), np.dtype(np.uint32)

    def compute(r: list[Array]) -> Array:
        start, count = a(r), b(r)
        if wrap:
            start, count = start & np.uint32(31), count & np.uint32(31)
        return _shifted(np.left_shift, _mask(count, unsigned, 32), start, 32)

    return compute


def szext(site: Site) -> Compute:
    """The low `b` bits extended with zeros or, for s32, their sign; `.wrap` takes b modulo 32, `.clamp` at most 32."""
    a, b = site.read(1, np.uint32), site.read(2, np.uint32)
    signed, wrap, unsigned = site.type(1).kind.name == "SIGNED", site.has("wrap"), np.dtype(np.uint32)

    def compute(r: list[Array]) -> Array:
        count = b(r) & np.uint32(31) if wrap else np.minimum(b(r), np.uint32(32))
        mask = _mask(count, unsigned, 32)
        field = a(r) & mask
        if not signed:
            return field
        top = np.where(count == 0, np.uint32(0), (field >> np.maximum(count, 1) - np.uint32(1)) & np.uint32(1))
        return np.where(top != 0, field | ~mask, field)

    return compute


def fns(site: Site) -> Compute:
    """The place of the n-th set bit of a mask from a base, upwards or (n negative) downwards; all ones where none is.

    With n zero the base itself if its bit is set (manual, `fns`). On an H200 a base beyond 31 finds nothing downwards
    either, and the least n gives 0 whatever the mask and the base.
    """
    mask, base, offset = site.read(1, np.uint32), site.read(2, np.uint32), site.read(3, np.int32)

    def compute(r: list[Array]) -> Array:
        truth = _bits(mask(r)).astype(np.bool_)
        start, count = base(r)[..., None].astype(np.int64), offset(r)[..., None].astype(np.int64)
        places = np.arange(32)
        up = truth & (places >= start) & (count >= 0)
        down = truth & (places <= start) & (start < 32) & (count < 0)
        rank_up = np.cumsum(up, axis=-1)
        rank_down = np.cumsum(down[..., ::-1], axis=-1)[..., ::-1]
        hit = (up & (rank_up == count) & (count > 0)) | (down & (rank_down == -count))
        hit |= truth & (places == start) & (count == 0)
        found = hit.argmax(axis=-1).astype(np.uint32)
        least = count[..., 0] == np.iinfo(np.int32).min
        return np.where(least, np.uint32(0), np.where(hit.any(axis=-1), found, ~np.uint32(0)))

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
