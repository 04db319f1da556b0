"""Python numbers as immediates."""

from __future__ import annotations

import struct
from numbers import Integral, Real

from isa.types import Kind, Type, f32, f64
from ptxgen.ir import Float, Int


class UnfitNumber(ValueError):
    """A number that an immediate of the type cannot hold."""


def immediate(number: Real, type_: Type | None) -> Int | Float:
    """A number as an immediate of a type; of an integer of any size where the type is None.

    An int stays exact (and becomes a float where the type is f32 or f64); a float is rounded to the nearest of f32 or
    f64, or to the bits of f16, bf16 and their packed pairs (both halves alike). UnfitNumber where that is impossible.
    """
    if isinstance(number, Integral) and (type_ is None or type_.kind is not Kind.FLOAT):
        return Int(int(number))
    if type_ is None or type_.integer or type_.kind is Kind.PREDICATE:
        raise UnfitNumber(f"the float {number!r} cannot be an integer immediate")
    if type_.kind is Kind.BITS:
        if type_.bits not in (32, 64):
            raise UnfitNumber(
                f"the float {number!r} has no immediate of {type_.bits} bits; give the bits as an integer"
            )
        return float_immediate(float(number), f32 if type_.bits == 32 else f64)
    if type_ is f32 or type_ is f64:
        return float_immediate(float(number), type_)
    if isinstance(number, Integral):
        return Int(int(number))
    return Int(half_bits(float(number), type_))


def float_immediate(number: float, type_: Type) -> Float:
    """A float as an immediate of f32 or f64, rounded to nearest; UnfitNumber where a finite number is too large."""
    wide = type_.bits == 64
    try:
        packed = struct.pack("<d" if wide else "<f", number)
    except OverflowError:
        raise UnfitNumber(f"{number!r} is too large for {type_.name}") from None
    return Float(int.from_bytes(packed, "little"), type_)


def half_bits(number: float, type_: Type) -> int:
    """The bits of a float as f16, bf16, f16x2 or bf16x2 (both halves alike), rounded to nearest even."""
    if type_.name.startswith("bf16"):
        wide = _odd_f32_bits(number)
        bits = wide >> 16 | 0x40 if number != number else wide + 0x7FFF + (wide >> 16 & 1) >> 16
    elif type_.name.startswith("f16"):
        try:
            bits = int.from_bytes(struct.pack("<e", number), "little")
        except OverflowError:
            raise UnfitNumber(f"{number!r} is too large for {type_.name}") from None
    else:
        raise UnfitNumber(f"the float {number!r} has no immediate of type {type_.name}; give the bits as an integer")
    return bits << 16 | bits if type_.lanes == 2 else bits


def _odd_f32_bits(number: float) -> int:
    """The f32 bits of a number rounded to odd, so that rounding them once more is as if rounded once."""
    bits = float_immediate(number, f32).bits
    nearest: float = struct.unpack("<f", bits.to_bytes(4, "little"))[0]
    if nearest == number or number != number:
        return bits
    return (bits - 1 if abs(nearest) > abs(number) else bits) | 1
