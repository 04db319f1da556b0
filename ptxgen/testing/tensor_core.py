"""A tensor core in integers: the recorded algorithm, written once more without the simulator.

An element of f16 is an integer times a power of two, so are products and accumulators; a block adds integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from isa.numerics import numerics
from isa.targets import target as target_named
from ptxgen.compute import Element

Floats = NDArray[Any]
Integers = NDArray[np.int64]

NOTHING = -(1 << 20)
LARGEST_SHIFT = 62


@frozen(eq=False)
class Parts:
    """Finite numbers as `whole` * 2**(`exponent` - `bits`): |whole| < 2**(bits+1), the exponent never below the
    format's least. Elements that are not finite have whole 0 and are told by `special`."""

    whole: Integers
    exponent: Integers
    bits: int
    special: Floats


def parts_of(values: Floats) -> Parts:
    """The parts of a float16 or float32 array."""
    half = values.dtype == np.float16
    bits, bias, unsigned = (10, 15, np.uint16) if half else (23, 127, np.uint32)
    raw = values.view(unsigned).astype(np.int64)
    biased = (raw >> bits) & (2 * bias + 1)
    fraction = raw & ((1 << bits) - 1)
    finite = biased != 2 * bias + 1
    whole = np.where(finite, fraction + np.where(biased > 0, 1 << bits, 0), 0)
    whole = np.where(raw >> (15 if half else 31), -whole, whole)
    exponent = np.maximum(biased, 1) - bias
    return Parts(whole, exponent, bits, np.where(finite, 0.0, values.astype(np.float64)))


def chained_product(a: NDArray[np.float16], b: NDArray[np.float16], accumulate: Element, target: str) -> Floats:
    """a @ b for a of [..., M, K] and b of [..., K, N] as the tensor cores of `target` chain it in ascending k, from +0.

    The result is float32 or float16, as `accumulate` says. K is padded with zeros to whole blocks.
    """
    record = numerics(target_named(target), "mma", "m8n8k4", "f16")
    missing = -a.shape[-1] % record.block
    left = np.concatenate([a, np.zeros((*a.shape[:-1], missing), np.float16)], axis=-1)
    right = np.concatenate([b, np.zeros((*b.shape[:-2], missing, b.shape[-1]), np.float16)], axis=-2)
    shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    held: Floats = np.zeros(shape, np.float16 if accumulate is Element.F16 else np.float32)
    for k in range(0, left.shape[-1], record.block):
        held = block(left[..., k : k + record.block], right[..., k : k + record.block, :], held, record.fraction_bits)
    return held


def block(a: Floats, b: Floats, c: Floats, fraction_bits: int) -> Floats:
    """c + a @ b for one hardware block: every term cut at `fraction_bits` below the largest exponent of those that are
    not zero, added exactly, rounded once (f32 towards zero, f16 to nearest even)."""
    left, right, own = parts_of(a), parts_of(b), parts_of(c)
    whole = np.moveaxis(left.whole, -1, 0)[..., None] * np.moveaxis(right.whole, -2, 0)[..., None, :]
    exponent = np.moveaxis(left.exponent, -1, 0)[..., None] + np.moveaxis(right.exponent, -2, 0)[..., None, :]
    top = np.where(whole != 0, exponent, NOTHING).max(axis=0)
    top = np.maximum(top, np.where(own.whole != 0, own.exponent, NOTHING))
    total = cut(whole, top - exponent + left.bits + right.bits - fraction_bits).sum(axis=0)
    total = total + cut(own.whole, top - own.exponent + own.bits - fraction_bits)
    result = rounded_once(total, np.where(total == 0, 0, top) - fraction_bits, c.dtype)
    return with_specials(result, a, b, c)


def cut(whole: Integers, shift: Integers) -> Integers:
    """`whole` * 2**-shift without its fraction, towards zero."""
    size = np.abs(whole)
    down, up = np.clip(shift, 0, LARGEST_SHIFT), np.clip(-shift, 0, LARGEST_SHIFT)
    moved = np.where(shift >= 0, size >> down, size << np.where(size == 0, 0, up))
    return np.asarray(np.where(whole < 0, -moved, moved))


def rounded_once(total: Integers, exponent: Integers, kind: np.dtype[Any]) -> Floats:
    """`total` * 2**exponent as float16 to nearest even, or as float32 towards zero; too large is infinity, too small
    the positive zero."""
    exact = np.ldexp(total.astype(np.float64), exponent.astype(np.int32))
    if kind == np.float16:
        return exact.astype(np.float16) + np.float16(0)
    near = exact.astype(np.float32)
    beyond = (np.abs(near.astype(np.float64)) > np.abs(exact)) & (np.abs(exact) < 2.0**128)
    return np.asarray(np.where(beyond, np.nextafter(near, np.float32(0)), near) + np.float32(0))


def with_specials(result: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """NaN (canonical) or infinity where a term is not finite; the sum of those terms alone decides which."""
    if np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(c).all():
        return result
    columns, rows = np.moveaxis(a, -1, 0)[..., None], np.moveaxis(b, -2, 0)[..., None, :]
    with np.errstate(invalid="ignore"):
        terms = np.concatenate([columns.astype(np.float64) * rows.astype(np.float64), c[None].astype(np.float64)])
        special = np.where(np.isfinite(terms), 0.0, terms).sum(axis=0)
    nan = np.uint16(0x7FFF).view(np.float16) if c.dtype == np.float16 else np.uint32(0x7FFFFFFF).view(np.float32)
    result = np.where(np.isinf(special), special.astype(c.dtype), result)
    return np.asarray(np.where(np.isnan(special), nan, result))
