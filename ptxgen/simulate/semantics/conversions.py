"""Conversion between types."""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.types import Kind, Type
from ptxgen.simulate import rounding
from ptxgen.simulate.rounding import Rounding
from ptxgen.simulate.semantics.floats import mode_of
from ptxgen.simulate.site import Array, Compute, Site, value_dtype

_INTEGRAL = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def cvt(site: Site) -> Compute:
    """A value of one type as another.

    NaN becomes the integer 0, or the least one where a side has 64 bits; from f64 to f32 it keeps its upper bits (as
    seen on hardware).
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
        if to.name == "f64":
            if mode is not Rounding.NEAREST and value.dtype.itemsize == 8:
                raise site.unsupported("64-bit integer to f64 with directed rounding")
            converted = value.astype(np.float64)
        elif to.name == "f32":
            converted = value.astype(np.float32) if mode is Rounding.NEAREST else _odd_int(value).astype(np.float64)
            converted = converted if mode is Rounding.NEAREST else rounding.f32_from_odd(converted, mode)
        else:
            converted = rounding.f16_from_odd(_odd_int(value), mode)
        return converted if clamp is None else clamp(converted)

    return convert


def _odd_int(value: Array) -> Array:
    """An integer array as float64, exact or rounded to odd."""
    if value.dtype.itemsize < 8:
        return value.astype(np.float64)
    low = (value.view(np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.float64)
    high = (value >> value.dtype.type(32)).astype(np.float64) * 2.0**32
    return rounding.odd_sum(high, low)


def _float_to_int(site: Site, to: Type, source: Type) -> Compute:
    a, dtype = site.read(1), value_dtype(to)
    integral = next((function for word, function in _INTEGRAL.items() if site.has(word)), np.trunc)
    info = np.iinfo(dtype)
    flush = site.has("ftz") and source.name == "f32"
    of_nan = np.array(1 << to.bits - 1 if 64 in (to.bits, source.bits) else 0, f"u{to.bits // 8}").view(dtype)

    def convert(r: list[Array]) -> Array:
        value = rounding.flush_f32(a(r)) if flush else a(r)
        whole = integral(value.astype(np.float64))
        over, under = whole >= float(info.max), whole <= float(info.min)
        nan = np.isnan(whole)
        inside = np.where(over | under | nan, 0.0, whole).astype(dtype)
        result = np.where(over, dtype.type(info.max), np.where(under, dtype.type(info.min), inside))
        return np.where(nan, of_nan, result)

    return convert


def _float_to_float(site: Site, to: Type, source: Type) -> Compute:
    if to.lanes == 2:
        return _packed(site, to)
    a = site.read(1)
    narrow = _narrow(site, to)
    integral = next((function for word, function in _INTEGRAL.items() if site.has(word)), None)
    flush_in = site.has("ftz") and source.name == "f32"
    flush_out = site.has("ftz") and to.name == "f32"

    def convert(r: list[Array]) -> Array:
        value = _widened(a(r), source)
        value = rounding.flush_f32(value) if flush_in else value
        value = integral(value) if integral is not None else value
        converted = narrow(value.astype(np.float64))
        if source.name == "f64" and to.name == "f32":
            converted = np.where(np.isnan(value), value.astype(np.float32), converted)
        return rounding.flush_f32(converted) if flush_out else converted

    return convert


def _widened(value: Array, source: Type) -> Array:
    if source.name == "bf16":
        return (value.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return value


def _narrow(site: Site, to: Type) -> Any:
    mode = Rounding.NEAREST if site.has(*_INTEGRAL) else mode_of(site)
    relu, sat = site.has("relu"), site.has("sat")

    def narrow(value: Array) -> Array:
        if relu:
            value = np.where(value > 0, value, np.where(np.isnan(value), value, 0.0))
        if sat:
            value = rounding.saturate(value)
        match to.name:
            case "f64":
                return value
            case "f32":
                return rounding.f32_from_odd(value, mode)
            case "f16":
                return rounding.f16_from_odd(value, mode)
            case "bf16":
                return _bf16(value, mode)
            case "tf32" if site.has("rna"):
                return _tf32(value)
            case other:
                raise site.unsupported(f"to .{other}")

    if to.name not in ("f64", "f32", "f16", "bf16") and not (to.name == "tf32" and site.has("rna")):
        raise site.unsupported(f"to .{to.name}")
    return narrow


def _bf16(value: Array, mode: Rounding) -> Array:
    """float64 values that are exact in float32, as bits of bfloat16."""
    if mode not in (Rounding.NEAREST, Rounding.ZERO):
        mode = Rounding.NEAREST
    bits = value.astype(np.float32).view(np.uint32)
    if mode is Rounding.NEAREST:
        rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    else:
        rounded = bits >> np.uint32(16)
    return np.where(np.isnan(value), np.uint16(0x7FFF), rounded.astype(np.uint16))


def _tf32(value: Array) -> Array:
    """float64 values that are exact in float32, rounded to 10 fraction bits, ties away from zero, as float32 bits."""
    bits = value.astype(np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    return np.where(np.isnan(value), np.uint32(0x7FFFFFFF), np.where(np.isinf(value), bits, rounded))


def _packed(site: Site, to: Type) -> Compute:
    """Two f32 sources into one register, the first in the upper half."""
    if to.name not in ("f16x2", "bf16x2") or len(site.slots) != 3:
        raise site.unsupported(f"to .{to.name}")
    high, low = site.read(1), site.read(2)
    mode, relu = mode_of(site), site.has("relu")

    def half(value: Array) -> Array:
        wide = value.astype(np.float64)
        wide = np.where(wide > 0, wide, np.where(np.isnan(wide), wide, 0.0)) if relu else wide
        bits = rounding.f16_from_odd(wide, mode).view(np.uint16) if to.name == "f16x2" else _bf16(wide, mode)
        return bits.astype(np.uint32)

    return lambda r: (half(high(r)) << np.uint32(16)) | half(low(r))
