"""Conversion between types."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isa.types import Kind, Type
from ptxgen.simulate import doubles, rounding
from ptxgen.simulate.formats import BF16, FORMATS, TF32, Format, decoded, encoded
from ptxgen.simulate.rounding import Rounding
from ptxgen.simulate.semantics.floats import mode_of, widened_bf16
from ptxgen.simulate.site import Array, Compute, Reader, Site, value_dtype

_WIDE_NAN = np.uint64(0x7FFFFFFFE0000000)
_INTEGRAL = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def cvt(site: Site) -> Compute:
    """A value of one type as another.

    NaN becomes the integer 0, or the least one where a side has 64 bits; from f64 to a narrower float it keeps its
    sign and upper bits, from bf16 or f32 to f32 all of them unless `.ftz`, from f16 to f64 it is made quiet, and
    from f32 to f64 with `.ftz` it is the canonical one of f32; `.ftz` leaves subnormal f32 that become f16 (as seen on
    hardware).
    """
    to, source = site.type(0), site.type(1)
    match (to.kind is Kind.FLOAT, source.kind is Kind.FLOAT):
        case (False, False):
            return _int_to_int(site, to)
        case (True, False):
            return _int_to_float(site, to)
        case (False, True):
            return _float_to_int(site, to, source)
        case _:
            return _float_to_float(site, to, source)


def _int_to_int(site: Site, to: Type) -> Compute:
    a, dtype = site.read(1), value_dtype(to)
    if not site.has("sat"):
        return lambda r: a(r).astype(dtype)
    info = np.iinfo(dtype)

    def clamped(r: list[Array]) -> Array:
        value = a(r)
        own = np.iinfo(value.dtype)
        low, high = max(int(info.min), int(own.min)), min(int(info.max), int(own.max))
        return np.clip(value, value.dtype.type(low), value.dtype.type(high)).astype(dtype)

    return clamped


def _int_to_float(site: Site, to: Type) -> Compute:
    a, mode = site.read(1), mode_of(site)
    clamp = rounding.saturate if site.has("sat") else None

    def convert(r: list[Array]) -> Array:
        value = a(r)
        match to.name:
            case "f64":
                converted = _double(value, mode)
            case "f32":
                converted = value.astype(np.float32) if mode is Rounding.NEAREST else _odd_int(value)
                converted = converted if mode is Rounding.NEAREST else rounding.f32_from_odd(converted, mode)
            case "bf16":
                converted = encoded(_odd_int(value), BF16, mode)
            case _:
                converted = rounding.f16_from_odd(_odd_int(value), mode)
        return converted if clamp is None else clamp(converted)

    return convert


def _double(value: Array, mode: Rounding) -> Array:
    """An integer array as float64; what a 64-bit integer loses decides a directed rounding."""
    nearest: Array = value.astype(np.float64)
    if mode is Rounding.NEAREST or value.dtype.itemsize < 8:
        return nearest
    return doubles.directed(*rounding.two_sum(*_halves(value)), mode)


def _halves(value: Array) -> tuple[Array, Array]:
    low = (value.view(np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.float64)
    return (value >> value.dtype.type(32)).astype(np.float64) * 2.0**32, low


def _odd_int(value: Array) -> Array:
    """An integer array as float64, exact or rounded to odd."""
    if value.dtype.itemsize < 8:
        return value.astype(np.float64)
    return rounding.odd_sum(*_halves(value))


def _float_to_int(site: Site, to: Type, source: Type) -> Compute:
    a, dtype = site.read(1), value_dtype(to)
    integral = next((function for word, function in _INTEGRAL.items() if site.has(word)), np.trunc)
    info = np.iinfo(dtype)
    flush = site.has("ftz") and source.name == "f32"
    of_nan = np.array(1 << to.bits - 1 if 64 in (to.bits, source.bits) else 0, f"u{to.bits // 8}").view(dtype)

    def convert(r: list[Array]) -> Array:
        value = _widened(a(r), source)
        value = rounding.flush_f32(value) if flush else value
        whole = integral(value.astype(np.float64))
        over, under = whole >= float(info.max), whole <= float(info.min)
        nan = np.isnan(whole)
        inside = np.where(over | under | nan, 0.0, whole).astype(dtype)
        result = np.where(over, dtype.type(info.max), np.where(under, dtype.type(info.min), inside))
        return np.where(nan, of_nan, result)

    return convert


def _float_to_float(site: Site, to: Type, source: Type) -> Compute:
    if site.has("rs") or "s2f6x2" in (to.name, source.name):
        raise site.unsupported("how it rounds is not recorded" if site.has("rs") else "the format s2f6")
    if to.lanes == 2:
        return _pair(site, to, source)
    a = site.read(1)
    if site.has("rna"):
        return _tf32_away(a, site.has("satfinite"))
    narrow = _narrow(site, to)
    integral = next((function for word, function in _INTEGRAL.items() if site.has(word)), None)
    flush_in = site.has("ftz") and source.name in ("f32", "bf16") and to.name != "f16"
    flush_out = site.has("ftz") and to.name == "f32"
    exact_nan = _nan_bits(site, to, source)

    def convert(r: list[Array]) -> Array:
        value = _widened(a(r), source)
        value = rounding.flush_f32(value) if flush_in else value
        value = integral(value) if integral is not None else value
        converted = narrow(value.astype(np.float64))
        if exact_nan is not None:
            converted = np.where(np.isnan(value), exact_nan(value).view(converted.dtype), converted)
        return rounding.flush_f32(converted) if flush_out else converted

    return convert


def _nan_bits(site: Site, to: Type, source: Type) -> Callable[[Array], Array] | None:
    """From values to the bits of their NaNs in the type `to`, where these are not its canonical one."""
    if site.has("sat"):
        return None
    match to.name, source.name:
        case "f32", "bf16" if not site.has("ftz"):
            return lambda value: value
        case "f32", "f32" if not site.has("ftz", *_INTEGRAL):
            return lambda value: value
        case "f64", "f16":
            return lambda value: doubles.with_nan_of(*[value.astype(np.float64)] * 2)
        case "f64", "f32" if site.has("ftz"):
            return lambda value: np.full(value.shape, _WIDE_NAN)
        case "f32", "f64":
            return lambda value: value.astype(np.float32)
        case ("f16" | "bf16") as name, "f64":
            of = FORMATS[name]
            return lambda value: _cut_nan(value.view(np.uint64), of)
        case _:
            return None


def _cut_nan(bits: Array, of: Format) -> Array:
    """The NaNs among f64 bits in a 16-bit format: sign and upper fraction bits kept, made quiet."""
    sign = (bits >> np.uint64(63)) << np.uint64(15)
    fraction = (bits >> np.uint64(52 - of.fraction_bits)) & np.uint64((1 << of.fraction_bits) - 1)
    quiet = np.uint64(of.infinity | 1 << of.fraction_bits - 1)
    cut: Array = (sign | fraction | quiet).astype(np.uint16)
    return cut


def _tf32_away(a: Reader, finite: bool) -> Compute:
    """`.rna`, by integers as ptxas expands it: half a step is added to what is finite, and the low bits are cut.

    So a NaN may become an infinity. With `finite` whatever has the highest exponent then goes one step down.
    """
    magnitude, infinity, kept = np.uint32(0x7FFFFFFF), np.uint32(0x7F800000), np.uint32(0xFFFFE000)
    half, step = np.uint32(0x1000), np.uint32(0x2000)

    def convert(r: list[Array]) -> Array:
        bits = a(r).view(np.uint32)
        cut: Array = np.where(bits & magnitude < infinity, bits + half, bits) & kept
        return np.where(cut & magnitude >= infinity, cut - step, cut) if finite else cut

    return convert


def _widened(value: Array, source: Type) -> Array:
    return widened_bf16(value) if source.name == "bf16" else value


def _narrow(site: Site, to: Type) -> Callable[[Array], Array]:
    """float64 values, exact, as one value of a type."""
    mode = Rounding.NEAREST if site.has(*_INTEGRAL) else mode_of(site)
    relu, sat, finite = site.has("relu"), site.has("sat"), site.has("satfinite")
    if to.name not in ("f64", "f32", "f16", "bf16", "tf32"):
        raise site.unsupported(f"to .{to.name}")

    def narrow(value: Array) -> Array:
        if relu:
            value = _rectified(value)
        if sat:
            value = rounding.saturate(value)
        match to.name:
            case "f64":
                return value
            case "f32":
                return rounding.f32_from_odd(value, mode)
            case "f16" if not finite:
                return rounding.f16_from_odd(value, mode)
            case "tf32":
                return encoded(value, TF32, mode, finite=finite) << np.uint32(13)
            case _:
                return encoded(value, FORMATS[to.name], mode, finite=finite)

    return narrow


def _rectified(value: Array) -> Array:
    return np.where(value > 0, value, np.where(np.isnan(value), value, 0.0))


def _pair(site: Site, to: Type, source: Type) -> Compute:
    """Two values into one register: of two f32 the first goes to the upper half, of a pair each stays in its half."""
    mode, relu, finite = mode_of(site), site.has("relu"), site.has("satfinite")
    values = _values(site, source)
    width, dtype = to.bits // 2, np.dtype(f"u{to.bits // 8}")
    encode = _encoder(to.name.removesuffix("x2"), mode, finite)

    def convert(r: list[Array]) -> Array:
        low, high = (encode(_rectified(value) if relu else value).astype(dtype) for value in values(r))
        both: Array = (high << dtype.type(width)) | low
        return both

    return convert


def _values(site: Site, source: Type) -> Callable[[list[Array]], tuple[Array, Array]]:
    """The (low, high) sources of a packing conversion as float64."""
    if source.name == "f32":
        high, low = site.read(1), site.read(2)
        return lambda r: (low(r).astype(np.float64), high(r).astype(np.float64))
    width = source.bits // 2
    read = site.read(1, np.dtype(f"u{source.bits // 8}"))
    element = source.name.removesuffix("x2")
    value = _of_scale if element == "ue8m0" else lambda bits: decoded(bits, FORMATS[element])

    def values(r: list[Array]) -> tuple[Array, Array]:
        bits = read(r)
        mask = bits.dtype.type((1 << width) - 1)
        return value(bits & mask), value(bits >> bits.dtype.type(width))

    return values


def _encoder(name: str, mode: Rounding, finite: bool) -> Callable[[Array], Array]:
    if name == "ue8m0":
        return lambda value: _scale(value, mode, finite)
    if name == "f16" and not finite:
        return lambda value: rounding.f16_from_odd(value, mode).view(np.uint16)
    return lambda value: encoded(value, FORMATS[name], mode, finite=finite)


def _of_scale(bits: Array) -> Array:
    """`ue8m0` bits as float64: a power of two, 255 a NaN."""
    return np.where(bits == 255, np.nan, ((bits.astype(np.int64) - 127 + 1023) << 52).view(np.float64))


def _scale(value: Array, mode: Rounding, finite: bool) -> Array:
    """The `ue8m0` code of a float64: its exponent, upwards that of the next power of two unless it is at most 2**-127.

    The sign is ignored; NaN and infinity give 255, infinity with `.satfinite` 254. Source: the host code of
    `cuda_fp8.hpp`.
    """
    size = np.abs(value)
    bits = size.view(np.int64)
    codes = np.maximum((bits >> 52) - 1023 + 127, 0)
    inexact = (bits & np.int64((1 << 52) - 1)) != 0
    if mode is Rounding.UP:
        codes += np.where(size < 2.0**-126, size > 2.0**-127, inexact)
    codes = np.minimum(codes, 254 if finite else 255)
    return np.where(np.isnan(value), np.int64(255), codes).astype(np.uint8)


def pack(site: Site) -> Compute:
    """Two s32 saturated to a narrower type, a above b, and above both the low bits of c where there is one."""
    word = str(site.instruction.form.words["dtype"])
    bits = int(word[1:])
    low, high = (0, (1 << bits) - 1) if word[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
    a, b = site.read(1, np.int32), site.read(2, np.int32)
    c = site.read(3, np.uint32) if len(site.slots) > 3 else None
    mask = np.uint32((1 << bits) - 1)

    def compute(r: list[Array]) -> Array:
        upper, lower = (np.clip(each(r), low, high).astype(np.uint32) & mask for each in (a, b))
        packed = (upper << np.uint32(bits)) | lower
        return packed if c is None else packed | (c(r) << np.uint32(2 * bits))

    return compute
