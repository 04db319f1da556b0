"""Float64 by whole numbers, one value at a time: for the few that error-free transformations do not cover."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptxgen.simulate.rounding import Rounding

Array: TypeAlias = NDArray[Any]

_FRACTION_BITS, _LEAST_EXPONENT = 52, -1022
_LARGEST = (2 - Fraction(1, 1 << _FRACTION_BITS)) * (1 << 1023)


def nearest_f64(exact: Fraction, mode: Rounding) -> float:
    """The float64 of a fraction that is not zero; overflow as the mode says."""
    size = abs(exact)
    exponent = max(size.numerator.bit_length() - size.denominator.bit_length(), _LEAST_EXPONENT)
    if exponent > _LEAST_EXPONENT and size < _power(exponent):
        exponent -= 1
    unit = _power(max(exponent, _LEAST_EXPONENT) - _FRACTION_BITS)
    low, rest = divmod(size, unit)
    away = mode is Rounding.UP if exact > 0 else mode is Rounding.DOWN
    if mode is Rounding.NEAREST:
        up = rest * 2 > unit or (rest * 2 == unit and low % 2 == 1)
    else:
        up = away and rest > 0
    result = (low + up) * unit
    if result > _LARGEST:
        result_float = math.inf if mode is Rounding.NEAREST or away else float(_LARGEST)
    else:
        result_float = float(result)
    return math.copysign(result_float, 1 if exact > 0 else -1)


def _power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def fma_where(result: Array, odd_ones: Array, terms: tuple[Array, Array, Array], mode: Rounding) -> Array:
    """`result` with a * b + c, computed from whole numbers, at the places where `odd_ones` holds (all terms finite).

    An exact sum of zero keeps what is there.
    """
    made = np.array(np.broadcast_to(result, odd_ones.shape))
    a, b, c = (np.broadcast_to(each, odd_ones.shape)[odd_ones].tolist() for each in terms)
    found = made[odd_ones]
    for place, (x, y, z) in enumerate(zip(a, b, c, strict=True)):
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if exact:
            found[place] = nearest_f64(exact, mode)
    made[odd_ones] = found
    return made


def quotient_where(result: Array, odd_ones: Array, a: Array, b: Array, mode: Rounding) -> Array:
    """`result` with a / b, computed from whole numbers, where `odd_ones` holds (both finite and not zero)."""
    made = np.array(np.broadcast_to(result, odd_ones.shape))
    tops, bottoms = (np.broadcast_to(each, odd_ones.shape)[odd_ones].tolist() for each in (a, b))
    made[odd_ones] = [nearest_f64(Fraction(x) / Fraction(y), mode) for x, y in zip(tops, bottoms, strict=True)]
    return made
