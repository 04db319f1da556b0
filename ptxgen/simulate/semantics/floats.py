"""Floating-point arithmetic. Approximate instructions give the correctly rounded value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.simulate import doubles, rounding
from ptxgen.simulate.formats import F16, FORMATS, Format, encoded
from ptxgen.simulate.rounding import Rounding
from ptxgen.simulate.semantics.packed import on_parts, packed, unpacked
from ptxgen.simulate.site import Array, Compute, Reader, Site

Function = Callable[..., Any]


def mode_of(site: Site) -> Rounding:
    """The rounding mode in the instruction's name, nearest where there is none."""
    return next((mode for mode in Rounding if site.has(mode.value)), Rounding.NEAREST)


def add(site: Site) -> Compute:
    """a + b."""
    return _arithmetic(site, rounding.add_f32, rounding.odd_sum, doubles.add_f64, 2)


def sub(site: Site) -> Compute:
    """a - b."""
    return _arithmetic(
        site,
        lambda a, b, mode: rounding.add_f32(a, -b, mode),
        lambda a, b: rounding.odd_sum(a, -b),
        doubles.sub_f64,
        2,
    )


def mul(site: Site) -> Compute:
    """a * b."""
    return _arithmetic(site, rounding.mul_f32, np.multiply, doubles.mul_f64, 2)


def fma(site: Site) -> Compute:
    """a * b + c rounded once."""
    if site.has("oob"):
        raise site.unsupported("which NaN counts as out of bounds is not recorded")
    return _arithmetic(site, rounding.fma_f32, lambda a, b, c: rounding.odd_sum(a * b, c), doubles.fma_f64, 3)


def div(site: Site) -> Compute:
    """a / b; the approximate forms give the correctly rounded quotient."""
    return _arithmetic(site, rounding.div_f32, rounding.odd_quotient, doubles.div_f64, 2)


def rcp(site: Site) -> Compute:
    """1 / a."""
    if site.type(0).name == "f64" and site.has("approx"):
        return _upper_word(site, np.reciprocal)
    return _arithmetic(
        site,
        lambda a, mode: rounding.div_f32(np.ones_like(a), a, mode),
        lambda a: rounding.odd_quotient(np.ones_like(a), a),
        doubles.rcp_f64,
        1,
    )


def sqrt(site: Site) -> Compute:
    """The square root."""
    return _arithmetic(site, rounding.sqrt_f32, None, doubles.sqrt_f64, 1)


def _upper_word(site: Site, function: Function) -> Compute:
    """An approximation of f64 from and to the upper words only; the lower word of the result is zero (manual)."""
    a = site.read(1, np.uint64)
    upper, half = np.uint64(0xFFFFFFFF << 32), np.uint64(1 << 31)
    sign, least = np.uint64(1 << 63), np.uint64(1 << 52)

    def flushed(bits: Array) -> Array:
        return np.where(bits & ~sign < least, bits & sign, bits)

    def compute(r: list[Array]) -> Array:
        value = function(flushed(a(r) & upper).view(np.float64))
        rounded = np.where(np.isfinite(value), value.view(np.uint64) + half, value.view(np.uint64)) & upper
        return np.where(np.isnan(value), np.uint64(0x7FFFFFFF << 32), flushed(rounded)).view(np.float64)

    return compute


def _arithmetic(site: Site, single: Function, narrow: Function | None, double: Function, count: int) -> Compute:
    """An operation of `count` operands at the instruction's type.

    `single` and `double` take the rounding mode last; `narrow` works on float64 arrays and gives what is exact or
    rounded to odd. It may be None where no result of f32 is below the normal numbers and no 16-bit form exists.
    """
    indices = range(1, count + 1)
    mode = mode_of(site)
    of = site.type(0)
    match of.name:
        case "f32":
            return _single(site, [single_reader(site, index) for index in indices], single, narrow, mode)
        case "f32x2":
            finished = _finished_single(site, single, narrow, mode)
            return on_parts(finished, [site.read(index, np.uint64) for index in indices], np.float32, np.uint64)
        case "f16" | "bf16" if narrow is not None:
            readers = [site.read(index, np.uint16) for index in indices]
            finished = _narrowed(site, narrow, FORMATS[of.name])
            return lambda r: finished(*[reader(r) for reader in readers])
        case "f16x2" | "bf16x2" if narrow is not None:
            readers = [site.read(index, np.uint32) for index in indices]
            return on_parts(_narrowed(site, narrow, FORMATS[of.name[:-2]]), readers, np.uint16)
        case "f64":
            readers = [site.read(index) for index in indices]
            return lambda r: double(*[reader(r) for reader in readers], mode)
        case other:
            raise site.unsupported(f"type .{other} with rounding .{mode.value}")


def single_reader(site: Site, index: int) -> Reader:
    """The reader of an f32 operand; an f16 or bf16 one is widened."""
    read = site.read(index)
    match site.type(index).name:
        case "f16":
            return lambda r: read(r).astype(np.float32)
        case "bf16":
            return lambda r: widened_bf16(read(r))
        case _:
            return read


def widened_bf16(bits: Array) -> Array:
    """bf16 bits as float32."""
    wide: Array = (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return wide


def _single(site: Site, readers: list[Reader], function: Function, narrow: Function | None, mode: Rounding) -> Compute:
    if site.has("ftz") or site.has("sat"):
        finished = _finished_single(site, function, narrow, mode)
        return lambda r: finished(*[reader(r) for reader in readers])
    match readers:
        case [a]:
            return lambda r: function(a(r), mode)
        case [a, b]:
            return lambda r: function(a(r), b(r), mode)
        case [a, b, c]:
            return lambda r: function(a(r), b(r), c(r), mode)
    raise site.unsupported(f"{len(readers)} operands")


def _finished_single(site: Site, function: Function, narrow: Function | None, mode: Rounding) -> Function:
    clamp = rounding.saturate if site.has("sat") else _same
    if not site.has("ftz"):
        return lambda *values: clamp(function(*values, mode))

    def finished(*values: Array) -> Array:
        given = [rounding.flush_f32(value) for value in values]
        result = function(*given, mode)
        if narrow is None:
            return clamp(rounding.flush_f32(result))
        return clamp(
            rounding.flush_rounded_f32(result, lambda: narrow(*[each.astype(np.float64) for each in given]), mode)
        )

    return finished


def _narrowed(site: Site, function: Function, of: Format) -> Function:
    """`function` on bits of a 16-bit format, rounded to nearest, with what the name says of subnormals and range."""
    flush, flush_rounded = (_flush(of), _flush_rounded(of)) if site.has("ftz") else (_same, _bits)
    after = _saturate(of) if site.has("sat") else _relu(of) if site.has("relu") else _same

    def compute(*bits: Array) -> Array:
        values = [_value(flush(each), of) for each in bits]
        result: Array = after(flush_rounded(function(*values), of))
        return result

    return compute


def _value(bits: Array, of: Format) -> Array:
    narrow = bits.view(np.float16) if of is F16 else widened_bf16(bits)
    return narrow.astype(np.float64)


def _bits(value: Array, of: Format) -> Array:
    if of is F16:
        return rounding.canonical_f16(value.astype(np.float16)).view(np.uint16)
    return encoded(value, of)


def _flush(of: Format) -> Function:
    magnitude, sign = of.dtype.type(of.sign - 1), of.dtype.type(of.sign)
    least = of.dtype.type(1 << of.fraction_bits)
    return lambda bits: np.where(bits & magnitude < least, bits & sign, bits)


def _flush_rounded(of: Format) -> Function:
    """The bits of a float64, exact or rounded to odd, as `.ftz` leaves them: see `rounding.flush_rounded_f32`."""
    flush, magnitude, sign = _flush(of), of.dtype.type(of.sign - 1), of.dtype.type(of.sign)
    least, binades = of.dtype.type(1 << of.fraction_bits), 16
    bound = of.dtype.type(1 + binades << of.fraction_bits)

    def flushed(value: Array, into: Format) -> Array:
        bits: Array = flush(_bits(value, into))
        doubtful = bits & magnitude == least
        if not doubtful.any():
            return bits
        unbounded = _bits(value * 2.0**binades, into) & magnitude
        return np.where(doubtful & (unbounded < bound), bits & sign, bits)

    return flushed


def _relu(of: Format) -> Function:
    sign = of.dtype.type(of.sign)
    return lambda bits: np.where(bits & sign != 0, of.dtype.type(0), bits)


def _saturate(of: Format) -> Function:
    one = of.dtype.type(-of.least_exponent + 1 << of.fraction_bits)
    sign, zero = of.dtype.type(of.sign), of.dtype.type(0)
    infinity = of.dtype.type(of.infinity)
    return lambda bits: np.where((bits & sign != 0) | (bits > infinity), zero, np.minimum(bits, one))


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
    if site.type(0).name == "f64":
        return _upper_word(site, lambda a: 1.0 / np.sqrt(a))
    return _transcendental(site, lambda a: 1.0 / np.sqrt(a))


def _transcendental(site: Site, function: Function) -> Compute:
    """A function evaluated in float64 and rounded to the type: correctly rounded but for about one value in 2**28."""

    def single(a: Array, mode: Rounding) -> Array:
        return rounding.canonical_f32(function(a.astype(np.float64)).astype(np.float32))

    return _arithmetic(site, single, function, lambda a, mode: function(a), 1)


def minimum(site: Site) -> Compute:
    """The least operand; a NaN gives way to a number unless `.NaN`, and -0 is less than +0."""
    return _chosen(site, doubles.lesser_f64 if site.type(0).name == "f64" else np.fmin, True)


def maximum(site: Site) -> Compute:
    """The greatest operand; a NaN gives way to a number unless `.NaN`, and +0 is greater than -0."""
    return _chosen(site, doubles.greater_f64 if site.type(0).name == "f64" else np.fmax, False)


def _chosen(site: Site, function: Function, least: bool) -> Compute:
    nan_wins, sign_crosses = site.has("NaN"), site.has("xorsign")
    size = np.abs if site.has("abs") else _same

    def choose(*values: Array) -> Array:
        sizes = [size(value) for value in values]
        chosen = sizes[0]
        for other in sizes[1:]:
            chosen = _of_two(function, chosen, other, least)
        if nan_wins:
            nan = np.logical_or.reduce(np.broadcast_arrays(*[np.isnan(value) for value in values]))
            chosen = np.where(nan, chosen.dtype.type(np.nan), chosen)
        if sign_crosses:
            crossed = np.signbit(values[0]) ^ np.signbit(values[1])
            chosen = np.copysign(chosen, np.where(crossed, -1, 1).astype(chosen.dtype))
        return _canonical(chosen)

    def single(*given: Any) -> Array:
        return choose(*given[:-1])

    return _arithmetic(site, single, choose, single, len(site.slots) - 1)


def _of_two(function: Function, a: Array, b: Array, least: bool) -> Array:
    chosen: Array = function(a, b)
    both_zero = (a == 0) & (b == 0)
    if both_zero.any():
        negative = (np.signbit(a) | np.signbit(b)) if least else (np.signbit(a) & np.signbit(b))
        zero = np.copysign(a.dtype.type(0), np.where(negative, -1, 1)).astype(a.dtype)
        chosen = np.where(both_zero, zero, chosen)
    return chosen


def _canonical(value: Array) -> Array:
    return rounding.canonical_f32(value) if value.dtype == np.float32 else value


def neg(site: Site) -> Compute:
    """The operand with its sign turned; a NaN becomes the canonical one, as on hardware; one of f64 keeps its sign."""
    return _signs(site, np.bitwise_xor, sign_only=True)


def absolute(site: Site) -> Compute:
    """The operand without its sign; of a NaN as `neg` has it."""
    return _signs(site, np.bitwise_and, sign_only=False)


def _signs(site: Site, function: Function, sign_only: bool) -> Compute:
    of = site.type(0)
    unsigned = np.dtype(f"u{of.bits // 8}")
    sign = sum(1 << (of.bits // of.lanes * (lane + 1) - 1) for lane in range(of.lanes))
    pattern = unsigned.type(sign if sign_only else ~sign & ((1 << of.bits) - 1))
    a = site.read(1, unsigned)
    name = of.name.removesuffix("x2")
    if name in ("f16", "bf16"):
        finish = _quiet(FORMATS[name], _flush(FORMATS[name]) if site.has("ftz") else _same)
        if of.lanes == 1:
            return lambda r: finish(function(a(r), pattern))
        return lambda r: packed(finish(unpacked(function(a(r), pattern), np.uint16)))
    flush = rounding.flush_f32 if site.has("ftz") else _same

    def compute(r: list[Array]) -> Array:
        bits = a(r)
        if of.name == "f32":
            flushed = flush(bits.view(np.float32)).view(np.uint32)
            return rounding.canonical_f32(function(flushed, pattern).view(np.float32))
        value = bits.view(np.float64)
        return doubles.with_nan_of(np.where(np.isnan(value), value, function(bits, pattern).view(np.float64)), value)

    return compute


def _quiet(of: Format, flush: Function) -> Function:
    """Subnormals as `flush` has them, and every NaN the canonical one."""
    magnitude, nan = of.dtype.type(of.sign - 1), of.dtype.type(of.nan)
    infinity = of.dtype.type(of.infinity)
    return lambda bits: np.where(bits & magnitude > infinity, nan, flush(bits))


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
