"""Exact rounding with fractions: the outside judge of floating-point results."""

import math
import struct
from fractions import Fraction


def rounded(
    value: Fraction, mantissa_bits: int, least_exponent: int, greatest: int, mode: str = "rn"
) -> Fraction | float:
    """`value` rounded to a format with `mantissa_bits` fraction bits, normal exponents from `least_exponent` to
    `greatest`.

    Overflow gives an infinity where the mode says so, else the largest number.
    """
    if value == 0:
        return value
    exponent = max(
        math.floor(math.log2(abs(value))) if 2**-900 < abs(value) < 2**900 else _log2(abs(value)), least_exponent
    )
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while exponent > least_exponent and abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (exponent - mantissa_bits)
    scaled = value / unit
    low = math.floor(scaled)
    match mode:
        case "rn":
            rest = scaled - low
            whole = low + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1))
        case "rz":
            whole = math.trunc(scaled)
        case "rm":
            whole = low
        case _:
            whole = math.ceil(scaled)
    result = whole * unit
    largest = (2 - Fraction(1, 2**mantissa_bits)) * Fraction(2) ** greatest
    if abs(result) > largest:
        away = mode == "rn" or (mode == "rp" and value > 0) or (mode == "rm" and value < 0)
        return math.copysign(math.inf, 1 if value > 0 else -1) if away else largest * (1 if value > 0 else -1)
    return result if result else math.copysign(0.0, 1 if value > 0 else -1)


def _log2(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


def single(value: Fraction, mode: str = "rn") -> float:
    """The float32 nearest a fraction (or in the direction of the mode), as a Python float."""
    return float(rounded(value, 23, -126, 127, mode))


def half(value: Fraction, mode: str = "rn") -> float:
    """The float16 of a fraction, as a Python float."""
    return float(rounded(value, 10, -14, 15, mode))


def double(value: Fraction, mode: str = "rn") -> float:
    """The float64 of a fraction."""
    return float(rounded(value, 52, -1022, 1023, mode))


def single_bits(value: float) -> int:
    """The bits of a float32."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])
