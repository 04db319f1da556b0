"""A tensor core in integers: the recorded algorithm, written once more without the simulator.

An element is an integer times a power of two, so are products and accumulators; a block adds integers.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any, assert_never

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from isa.numerics import Rounding, numerics
from isa.targets import target as target_named
from ptxgen.compute import Element
from ptxgen.derive.signature import Blocks, Exact, Fused, SumOrder, Terms, Unpacked, Unsettled
from ptxgen.errors import UnsupportedError
from ptxgen.testing.formats import FORMATS, values_of

Floats = NDArray[Any]
Integers = NDArray[np.int64]
Doubles = NDArray[np.float64]

NOTHING = -(1 << 20)
LARGEST_SHIFT = 62
FRACTION_BITS = 23
SUM_TYPES: dict[Element, np.dtype[Any]] = {
    Element.F16: np.dtype(np.float16),
    Element.F32: np.dtype(np.float32),
    Element.F64: np.dtype(np.float64),
    Element.S32: np.dtype(np.int32),
}


@frozen(eq=False)
class Parts:
    """Finite numbers as `whole` * 2**(`exponent` - FRACTION_BITS): |whole| < 2**(FRACTION_BITS + 1), the exponent never
    below the format's least. Elements that are not finite have whole 0."""

    whole: Integers
    exponent: Integers


def parts_of(values: Doubles, element: Element) -> Parts:
    """The parts of numbers that an element of at most 24 bits of precision holds."""
    finite = np.isfinite(values)
    kept = np.where(finite, values, 0.0)
    _, above = np.frexp(kept)
    exponent = np.maximum(np.where(kept == 0, NOTHING, above - 1), FORMATS[element].least_exponent).astype(np.int64)
    whole = np.ldexp(kept, (FRACTION_BITS - exponent).astype(np.int32)).astype(np.int64)
    return Parts(whole, exponent)


def multiplied_values(values: Doubles, element: Element) -> Doubles:
    """What a tensor core sees of an operand: tf32 are cut to 10 bits of fraction, towards zero."""
    if element is not Element.TF32:
        return values
    with np.errstate(invalid="ignore"):
        fraction, exponent = np.frexp(values)
        cut_off = np.ldexp(np.trunc(np.ldexp(fraction, 11)), exponent - 11)
    return np.asarray(np.where(np.isfinite(values), cut_off, values))


def chained_product(a: Floats, b: Floats, accumulate: Element, target: str) -> Floats:
    """a @ b for f16 a of [..., M, K] and b of [..., K, N] as Volta's instruction chains it on `target`, from +0."""
    record = numerics(target_named(target), "mma", "m8n8k4", "f16")
    rounding = record.f16 if accumulate is Element.F16 else record.f32
    assert rounding is not None
    order = SumOrder("", (Element.F16, Element.F16), accumulate, Blocks(record.block, record.fraction_bits, rounding))
    return ordered_product(values_of(a, Element.F16), values_of(b, Element.F16), order)


def ordered_product(a: Doubles, b: Doubles, order: SumOrder) -> Floats:
    """a @ b for values a of [..., M, K] and b of [..., K, N], summed in an order; of the type of its sums, or float32
    (float64) where chains are promoted or parts joined. UnsupportedError where nobody knows what the
    instruction does, or the launch decides where sums are cut."""
    if order.cut is not None:
        raise UnsupportedError(f"the order of the sum is that of a launch: {order}")
    left = multiplied_values(a, order.inputs[0])
    right = multiplied_values(b, order.inputs[1])
    if order.slab is None:
        return in_chains(left, right, order)
    number = np.arange(a.shape[-1]) // order.slab % order.parts
    parts = (in_chains(left[..., number == p], right[..., number == p, :], order) for p in range(order.parts))
    wide = np.float64 if order.chain is Element.F64 else np.float32
    return reduce(add, (part.astype(wide) for part in parts))


def in_chains(left: Doubles, right: Doubles, order: SumOrder) -> Floats:
    """One part of a sum: one chain, or chains that are each added to a total in f32."""
    if order.promoted is None:
        return chain(left, right, order)
    shape = (*np.broadcast_shapes(left.shape[:-2], right.shape[:-2]), left.shape[-2], right.shape[-1])
    total = np.zeros(shape, np.float32)
    for k in range(0, left.shape[-1], order.promoted):
        part = slice(k, k + order.promoted)
        total = total + chain(left[..., part], right[..., part, :], order).astype(np.float32)
    return total


def chain(a: Doubles, b: Doubles, order: SumOrder) -> Floats:
    """One chain in ascending k, from +0; k is padded with zeros to whole blocks."""
    terms = order.terms
    depth = steps_of(terms)
    missing = -a.shape[-1] % depth
    left = np.concatenate([a, np.zeros((*a.shape[:-1], missing))], axis=-1)
    right = np.concatenate([b, np.zeros((*b.shape[:-2], missing, b.shape[-1]))], axis=-2)
    shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    held: Floats = np.zeros(shape, SUM_TYPES[order.chain])
    for k in range(0, left.shape[-1], depth):
        held = joined(left[..., k : k + depth], right[..., k : k + depth, :], held, terms, order)
    return held


def steps_of(terms: Terms) -> int:
    """How many terms are joined at once."""
    match terms:
        case Blocks(length):
            return length
        case Unpacked(depth):
            return depth
        case Fused() | Exact():
            return 1
        case Unsettled():
            raise UnsupportedError(f"nobody can tell the sum {terms}")
        case _:
            assert_never(terms)


def joined(a: Doubles, b: Doubles, c: Floats, terms: Terms, order: SumOrder) -> Floats:
    """c + a @ b for the terms that are joined at once."""
    match terms:
        case Blocks():
            return block(a, b, c, terms, order.inputs)
        case Unpacked(depth, blocks):
            place = np.arange(depth)
            made = np.zeros_like(c)
            for part in (place % 4 < 2, place % 4 >= 2):
                made = block(a[..., part], b[..., part, :], made, blocks, (Element.F16, Element.F16))
            return np.asarray((made.astype(np.float64) + c.astype(np.float64)).astype(c.dtype))
        case Fused():
            return fused(a, b, c)
        case Exact():
            return np.asarray(c + (a @ b).astype(np.int64).astype(np.int32))
        case Unsettled():
            raise UnsupportedError(f"nobody can tell the sum {terms}")
        case _:
            assert_never(terms)


def fused(a: Doubles, b: Doubles, c: Floats) -> Floats:
    """One fused multiply-add of float64: product and sums as exact pairs (Dekker, Knuth), the least of them rounded to
    odd (Boldo and Melquiond, Emulation of FMA and correctly rounded sums)."""
    x, y, z = np.broadcast_arrays(a, b, c)
    high = x * y
    middle, least = _two_sum(z, _product_rest(x, y, high))
    total, rest = _two_sum(high, middle)
    return np.asarray(total + _to_odd(*_two_sum(least, rest)))


def _product_rest(x: Doubles, y: Doubles, product: Doubles) -> Doubles:
    def halves(value: Doubles) -> tuple[Doubles, Doubles]:
        scaled = value * (2.0**27 + 1)
        upper = scaled - (scaled - value)
        return upper, value - upper

    (a, b), (c, d) = halves(x), halves(y)
    return np.asarray(((a * c - product) + a * d + b * c) + b * d)


def _two_sum(x: Doubles, y: Doubles) -> tuple[Doubles, Doubles]:
    total = x + y
    other = total - x
    return total, (x - (total - other)) + (y - other)


def _to_odd(upper: Doubles, lower: Doubles) -> Doubles:
    """upper + lower rounded to odd: where something is lost, the neighbour with an odd last bit."""
    even = (upper.view(np.int64) & 1) == 0
    towards = np.where((lower > 0) == (upper > 0), 1, -1)
    return np.where((lower != 0) & even, (upper.view(np.int64) + towards).view(np.float64), upper)


def block(a: Doubles, b: Doubles, c: Floats, terms: Blocks, inputs: tuple[Element, Element]) -> Floats:
    """c + a @ b for one hardware block: every term cut below the largest exponent of those that are not zero, added
    exactly, rounded once."""
    held = Element.F16 if c.dtype == np.float16 else Element.F32
    left, right, own = parts_of(a, inputs[0]), parts_of(b, inputs[1]), parts_of(c.astype(np.float64), held)
    whole = np.moveaxis(left.whole, -1, 0)[..., None] * np.moveaxis(right.whole, -2, 0)[..., None, :]
    exponent = np.moveaxis(left.exponent, -1, 0)[..., None] + np.moveaxis(right.exponent, -2, 0)[..., None, :]
    top = np.where(whole != 0, exponent, NOTHING).max(axis=0)
    top = np.maximum(top, np.where(own.whole != 0, own.exponent, NOTHING))
    bits = terms.fraction_bits
    total = cut(whole, top - exponent + 2 * FRACTION_BITS - bits).sum(axis=0)
    total = total + cut(own.whole, top - own.exponent + FRACTION_BITS - bits)
    result = rounded_once(total, np.where(total == 0, 0, top) - bits, c.dtype, terms.rounding)
    return with_specials(result, a, b, c)


def cut(whole: Integers, shift: Integers) -> Integers:
    """`whole` * 2**-shift without its fraction, towards zero."""
    size = np.abs(whole)
    down, up = np.clip(shift, 0, LARGEST_SHIFT), np.clip(-shift, 0, LARGEST_SHIFT)
    moved = np.where(shift >= 0, size >> down, size << np.where(size == 0, 0, up))
    return np.asarray(np.where(whole < 0, -moved, moved))


def rounded_once(total: Integers, exponent: Integers, kind: np.dtype[Any], rounding: Rounding) -> Floats:
    """`total` * 2**exponent as float16 to nearest even, or as float32 towards zero; too large is infinity, too
    small the positive zero."""
    exact = np.ldexp(total.astype(np.float64), exponent.astype(np.int32))
    match rounding:
        case Rounding.NEAREST_EVEN:
            return np.asarray(exact.astype(kind) + kind.type(0))
        case Rounding.TOWARDS_ZERO_13:
            fraction, above = np.frexp(exact)
            exact = np.ldexp(np.trunc(np.ldexp(fraction, 14)), above - 14)
        case Rounding.TOWARDS_ZERO:
            pass
        case _:
            assert_never(rounding)
    near = exact.astype(np.float32)
    beyond = (np.abs(near.astype(np.float64)) > np.abs(exact)) & (np.abs(exact) < 2.0**128)
    return np.asarray(np.where(beyond, np.nextafter(near, np.float32(0)), near) + np.float32(0))


def with_specials(result: Floats, a: Doubles, b: Doubles, c: Floats) -> Floats:
    """NaN (canonical) or infinity where a term is not finite; the sum of those terms alone decides which."""
    if np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(c).all():
        return result
    columns, rows = np.moveaxis(a, -1, 0)[..., None], np.moveaxis(b, -2, 0)[..., None, :]
    with np.errstate(invalid="ignore"):
        terms = np.concatenate([columns * rows, c[None].astype(np.float64)])
        special = np.where(np.isfinite(terms), 0.0, terms).sum(axis=0)
    nan = np.uint16(0x7FFF).view(np.float16) if c.dtype == np.float16 else np.uint32(0x7FFFFFFF).view(np.float32)
    result = np.where(np.isinf(special), special.astype(c.dtype), result)
    return np.asarray(np.where(np.isnan(special), nan, result))
