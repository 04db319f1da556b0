"""Elements as numpy arrays: values of formats that numpy lacks, and rounding to them.

Written for judges: numbers are taken apart by `frexp`, not by tables or bit patterns of a narrower format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ptxgen.compute import Element

Doubles = NDArray[np.float64]


@frozen
class Format:
    """A binary float: bits of the fraction, the least exponent, the largest finite number, and whether too large
    numbers become that instead of infinity."""

    fraction_bits: int
    least_exponent: int
    largest: float
    saturates: bool = False


FORMATS: Mapping[Element, Format] = {
    Element.F16: Format(10, -14, 65504.0),
    Element.BF16: Format(7, -126, float(2.0**128 - 2.0**120)),
    Element.TF32: Format(10, -126, float(2.0**128 - 2.0**117)),
    Element.F32: Format(23, -126, float(2.0**128 - 2.0**104)),
    Element.F64: Format(52, -1022, float(np.finfo(np.float64).max)),
    Element.E4M3: Format(3, -6, 448.0, saturates=True),
    Element.E5M2: Format(2, -14, 57344.0, saturates=True),
}
STORED: Mapping[Element, np.dtype[Any]] = {
    Element.F16: np.dtype(np.float16),
    Element.BF16: np.dtype(np.uint16),
    Element.TF32: np.dtype(np.float32),
    Element.F32: np.dtype(np.float32),
    Element.F64: np.dtype(np.float64),
    Element.E4M3: np.dtype(np.uint8),
    Element.E5M2: np.dtype(np.uint8),
    Element.S8: np.dtype(np.int8),
    Element.U8: np.dtype(np.uint8),
    Element.S32: np.dtype(np.int32),
}
_BITS_ALONE = (Element.BF16, Element.E4M3, Element.E5M2)


def values_of(array: NDArray[Any], element: Element) -> Doubles:
    """The values of an array of elements in float64: of formats that numpy lacks it may hold bits, or a type that adds
    them to numpy (ml_dtypes)."""
    if element not in _BITS_ALONE or array.dtype.kind not in "u":
        with np.errstate(invalid="ignore"):
            return array.astype(np.float64)
    found, bits = FORMATS[element], element.bits
    raw = array.astype(np.int64)
    fraction = raw & (1 << found.fraction_bits) - 1
    biased = (raw & (1 << bits - 1) - 1) >> found.fraction_bits
    whole = fraction + np.where(biased > 0, 1 << found.fraction_bits, 0)
    size = np.ldexp(whole.astype(np.float64), np.maximum(biased, 1) - 1 + found.least_exponent - found.fraction_bits)
    top = biased == (1 << bits - 1 - found.fraction_bits) - 1
    if element is Element.E4M3:
        size = np.where(top & (fraction == 7), np.nan, size)
    else:
        size = np.where(top, np.where(fraction == 0, np.inf, np.nan), size)
    return np.asarray(np.where(raw >> bits - 1, -size, size))


def rounded_to(values: Doubles, element: Element) -> Doubles:
    """Numbers rounded to nearest even as an element holds them, in float64."""
    if element.is_integer:
        limits = np.iinfo(STORED[element])
        return np.asarray(np.clip(np.rint(np.nan_to_num(values, nan=0.0)), limits.min, limits.max))
    found = FORMATS[element]
    if element is Element.F64:
        return values
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(values)
        step = np.maximum(exponent - 1, found.least_exponent) - found.fraction_bits
        near = np.ldexp(np.rint(np.ldexp(values, -step)), step)
        beyond = found.largest if found.saturates else np.inf
        near = np.where(np.abs(near) > found.largest, np.copysign(beyond, values), near)
    return np.asarray(np.where(np.isnan(values), np.nan, near))


def stored_as(values: Doubles, element: Element) -> NDArray[Any]:
    """Numbers rounded to an element as an array of it: of its bits where numpy lacks the format."""
    near = rounded_to(values, element)
    if element not in _BITS_ALONE:
        return near.astype(STORED[element])
    found = FORMATS[element]
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(near)
        low = np.where(near == 0, found.least_exponent, np.maximum(exponent - 1, found.least_exponent))
        whole = np.abs(np.ldexp(near, found.fraction_bits - low))
        finite = np.isfinite(near)
        whole = np.where(finite, whole, 0).astype(np.int64)
        code = whole + ((low - found.least_exponent).astype(np.int64) << found.fraction_bits)
    top = (1 << element.bits - 1) - 1
    infinite = top >> found.fraction_bits << found.fraction_bits
    code = np.where(np.isnan(near), top, np.where(np.isinf(near), infinite, code))
    sign = np.where(np.signbit(near) & ~np.isnan(near), 1 << element.bits - 1, 0)
    return np.asarray(code | sign).astype(STORED[element])
