"""Floating-point arithmetic. Approximate instructions give the correctly rounded value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.simulate import rounding
from ptxgen.simulate.rounding import Rounding
from ptxgen.simulate.semantics.packed import on_pairs, packed, unpacked
from ptxgen.simulate.site import Array, Compute, Reader, Site

Function = Callable[..., Any]


def mode_of(site: Site) -> Rounding:
    """The rounding mode in the instruction's name, nearest where there is none."""
    return next((mode for mode in Rounding if site.has(mode.value)), Rounding.NEAREST)


def add(site: Site) -> Compute:
    """a + b."""
    return _arithmetic(site, rounding.add_f32, _half_sum, np.add, 2)


def sub(site: Site) -> Compute:
    """a - b."""
    return _arithmetic(
        site,
        lambda a, b, mode: rounding.add_f32(a, -b, mode),
        lambda a, b: _half_sum(a, -b),
        np.subtract,
        2,
    )


def mul(site: Site) -> Compute:
    """a * b."""
    return _arithmetic(site, rounding.mul_f32, _half_product, np.multiply, 2)


def fma(site: Site) -> Compute:
    """a * b + c rounded once."""
    return _arithmetic(site, rounding.fma_f32, rounding.fma_f16, rounding.fma_f64, 3)


def div(site: Site) -> Compute:
    """a / b; the approximate forms give the correctly rounded quotient."""
    return _arithmetic(site, rounding.div_f32, None, np.divide, 2)


def rcp(site: Site) -> Compute:
    """1 / a."""
    return _arithmetic(site, lambda a, mode: rounding.div_f32(np.ones_like(a), a, mode), None, np.reciprocal, 1)


def sqrt(site: Site) -> Compute:
    """The square root."""
    return _arithmetic(site, rounding.sqrt_f32, None, np.sqrt, 1)


def _half_sum(a: Array, b: Array) -> Array:
    return rounding.f16_from_odd(a.astype(np.float64) + b.astype(np.float64))


def _half_product(a: Array, b: Array) -> Array:
    return rounding.f16_from_odd(a.astype(np.float64) * b.astype(np.float64))


def _arithmetic(site: Site, single: Function, half: Function | None, double: Function, count: int) -> Compute:
    """An operation of `count` operands at the instruction's type; `single` takes the rounding mode last."""
    indices = range(1, count + 1)
    mode = mode_of(site)
    match site.type(0).name:
        case "f32":
            return _single(site, [site.read(index) for index in indices], single, mode)
        case "f16" if half is not None:
            return _half(site, [site.read(index) for index in indices], half)
        case "f16x2" if half is not None:
            return on_pairs(_finished_half(site, half), [site.read(index, np.uint32) for index in indices])
        case "f64" if mode is Rounding.NEAREST:
            readers = [site.read(index) for index in indices]
            return lambda r: double(*[reader(r) for reader in readers])
        case other:
            raise site.unsupported(f"type .{other} with rounding .{mode.value}")


def _single(site: Site, readers: list[Reader], function: Function, mode: Rounding) -> Compute:
    if site.has("ftz") or site.has("sat"):
        finish = _finish(site)
        flush = rounding.flush_f32 if site.has("ftz") else _same
        return lambda r: finish(function(*[flush(reader(r)) for reader in readers], mode))
    match readers:
        case [a]:
            return lambda r: function(a(r), mode)
        case [a, b]:
            return lambda r: function(a(r), b(r), mode)
        case [a, b, c]:
            return lambda r: function(a(r), b(r), c(r), mode)
    raise site.unsupported(f"{len(readers)} operands")


def _half(site: Site, readers: list[Reader], function: Function) -> Compute:
    finished = _finished_half(site, function)
    return lambda r: finished(*[reader(r) for reader in readers])


def _finished_half(site: Site, function: Function) -> Function:
    flush = _flush_half if site.has("ftz") else _same
    after: Function = rounding.saturate if site.has("sat") else _relu if site.has("relu") else _same
    return lambda *values: after(flush(function(*[flush(value) for value in values])))


def _relu(value: Array) -> Array:
    return np.where(value > 0, value, np.where(np.isnan(value), value, value.dtype.type(0)))


def _flush_half(value: Array) -> Array:
    small = np.abs(value) < np.float16(2.0**-14)
    return np.where(small, np.copysign(np.float16(0), value), value)


def _finish(site: Site) -> Function:
    flush = rounding.flush_f32 if site.has("ftz") else _same
    clamp = rounding.saturate if site.has("sat") else _same
    return lambda value: clamp(flush(value))


def _same(value: Array) -> Array:
    return value


def ex2(site: Site) -> Compute:
    """2 to the power of a."""
    return _transcendental(site, np.exp2)


def lg2(site: Site) -> Compute:
    """The logarithm to base 2."""
    return _transcendental(site, np.log2)


def sin(site: Site) -> Compute:
    """The sine of an angle in radians."""
    return _transcendental(site, np.sin)


def cos(site: Site) -> Compute:
    """The cosine of an angle in radians."""
    return _transcendental(site, np.cos)


def tanh(site: Site) -> Compute:
    """The hyperbolic tangent."""
    return _transcendental(site, np.tanh)


def rsqrt(site: Site) -> Compute:
    """One over the square root."""
    return _transcendental(site, lambda a: 1.0 / np.sqrt(a))


def _transcendental(site: Site, function: Function) -> Compute:
    """A function evaluated in float64 and rounded to the type: correctly rounded but for about one value in 2**28."""

    def single(a: Array, mode: Rounding) -> Array:
        return rounding.canonical_f32(function(a.astype(np.float64)).astype(np.float32))

    def half(a: Array) -> Array:
        return rounding.canonical_f16(function(a.astype(np.float64)).astype(np.float16))

    return _arithmetic(site, single, half, function, 1)


def minimum(site: Site) -> Compute:
    """The lesser operand; a NaN gives way to a number, and -0 is less than +0."""
    return _chosen(site, np.fmin, True)


def maximum(site: Site) -> Compute:
    """The greater operand; a NaN gives way to a number, and +0 is greater than -0."""
    return _chosen(site, np.fmax, False)


def _chosen(site: Site, function: Function, least: bool) -> Compute:
    nan_wins = site.has("NaN")

    def choose(a: Array, b: Array) -> Array:
        chosen = function(a, b)
        both_zero = (a == 0) & (b == 0)
        if both_zero.any():
            negative = (np.signbit(a) | np.signbit(b)) if least else (np.signbit(a) & np.signbit(b))
            zero = np.copysign(a.dtype.type(0), np.where(negative, -1, 1)).astype(a.dtype)
            chosen = np.where(both_zero, zero, chosen)
        if nan_wins:
            chosen = np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), chosen)
        return _canonical(chosen)

    return _arithmetic(site, lambda a, b, mode: choose(a, b), choose, choose, 2)


def _canonical(value: Array) -> Array:
    if value.dtype == np.float32:
        return rounding.canonical_f32(value)
    return rounding.canonical_f16(value) if value.dtype == np.float16 else value


def neg(site: Site) -> Compute:
    """The operand with its sign turned; a NaN becomes the canonical one, as on hardware; one of f64 stays."""
    return _signs(site, np.bitwise_xor, sign_only=True)


def absolute(site: Site) -> Compute:
    """The operand without its sign."""
    return _signs(site, np.bitwise_and, sign_only=False)


def _signs(site: Site, function: Function, sign_only: bool) -> Compute:
    of = site.type(0)
    unsigned = np.dtype(f"u{of.bits // 8}")
    sign = sum(1 << (of.bits // of.lanes * (lane + 1) - 1) for lane in range(of.lanes))
    pattern = unsigned.type(sign if sign_only else ~sign & ((1 << of.bits) - 1))
    a = site.read(1, unsigned)
    flush = rounding.flush_f32 if site.has("ftz") else _same

    def compute(r: list[Array]) -> Array:
        bits = a(r)
        match of.name:
            case "f32":
                flushed = flush(bits.view(np.float32)).view(np.uint32)
                return rounding.canonical_f32(function(flushed, pattern).view(np.float32))
            case "f16":
                return rounding.canonical_f16(function(bits, pattern).view(np.float16))
            case "f16x2":
                return packed(rounding.canonical_f16(unpacked(function(bits, pattern))))
            case _:
                value = bits.view(np.float64)
                return np.where(np.isnan(value), value, function(bits, pattern).view(np.float64))

    return compute


def copysign(site: Site) -> Compute:
    """The second operand with the sign of the first."""
    a, b = site.read(1), site.read(2)
    return lambda r: np.copysign(b(r), a(r))


def testp(site: Site) -> Compute:
    """Whether a number is of a class; hardware counts zeros as normal."""
    a = site.read(1)
    name = next(word for word in _CLASSES if site.has(word))
    function = _CLASSES[name]
    return lambda r: function(a(r))


def _subnormal(a: Array) -> Array:
    small: Array = (a != 0) & (np.abs(a) < np.finfo(a.dtype).smallest_normal)
    return small


_CLASSES: dict[str, Function] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "notanumber": np.isnan,
    "number": lambda a: ~np.isnan(a),
    "subnormal": _subnormal,
    "normal": lambda a: np.isfinite(a) & ~_subnormal(a),
}
