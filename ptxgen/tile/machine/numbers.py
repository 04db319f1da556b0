"""Elements as numpy holds them: formats that numpy lacks as their bits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ptxgen.compute import Element

Numbers = NDArray[np.generic]
Floats = NDArray[np.floating]

NUMPY_TYPES: Mapping[Element, type[np.generic]] = {
    Element.F16: np.float16,
    Element.BF16: np.uint16,
    Element.TF32: np.float32,
    Element.F32: np.float32,
    Element.F64: np.float64,
    Element.E4M3: np.uint8,
    Element.E5M2: np.uint8,
    Element.S8: np.int8,
    Element.U8: np.uint8,
    Element.S32: np.int32,
}
_NAN = {Element.BF16: 0x7FFF, Element.E4M3: 0x7F, Element.E5M2: 0x7F}
_LARGEST = {Element.E4M3: 0x7E, Element.E5M2: 0x7B}


@cache
def _magnitudes(element: Element) -> NDArray[np.float64]:
    """The values of the codes of an 8-bit float without their sign, ascending with the code."""
    codes = np.arange(_LARGEST[element] + 1)
    fraction_bits, bias = (3, 7) if element is Element.E4M3 else (2, 15)
    exponent, fraction = codes >> fraction_bits, codes & ((1 << fraction_bits) - 1)
    whole = fraction + np.where(exponent > 0, 1 << fraction_bits, 0)
    return np.asarray(np.ldexp(whole.astype(np.float64), np.maximum(exponent, 1) - bias - fraction_bits), np.float64)


def widened(values: Numbers, element: Element) -> Floats:
    """Elements as float32, or float64 where they are f64."""
    match element:
        case Element.BF16:
            return np.asarray((values.astype(np.uint32) << 16).view(np.float32))
        case Element.E5M2:
            return np.asarray((values.astype(np.uint16) << 8).view(np.float16), np.float32)
        case Element.E4M3:
            code = values.astype(np.int64) & 0x7F
            size = _magnitudes(element)[np.minimum(code, _LARGEST[element])]
            signed = np.where(values.astype(np.int64) & 0x80, -size, size)
            return np.asarray(np.where(code == _NAN[element], np.nan, signed), np.float32)
        case Element.F64:
            return np.asarray(values, np.float64)
        case _:
            return np.asarray(values, np.float32)


def narrowed(values: Floats, element: Element) -> Numbers:
    """Numbers as elements, to nearest even; integers and the 8-bit floats saturate."""
    match element:
        case Element.BF16:
            bits = values.astype(np.float32).view(np.uint32).astype(np.int64)
            near = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
            return np.asarray(np.where(np.isnan(values), _NAN[element], near), np.uint16)
        case Element.E4M3 | Element.E5M2:
            return _narrow_byte(values, element)
        case Element.S8 | Element.U8 | Element.S32:
            limits = np.iinfo(np.dtype(NUMPY_TYPES[element]))
            near = np.clip(np.rint(np.where(np.isnan(values), 0.0, values).astype(np.float64)), limits.min, limits.max)
            return np.asarray(near).astype(NUMPY_TYPES[element])
        case _:
            return np.asarray(values).astype(NUMPY_TYPES[element])


def _narrow_byte(values: Floats, element: Element) -> Numbers:
    known = _magnitudes(element)
    size = np.minimum(np.abs(np.where(np.isnan(values), 0.0, values)).astype(np.float64), known[-1])
    below = np.searchsorted(known, size, side="right") - 1
    above = np.minimum(below + 1, len(known) - 1)
    middle = (known[below] + known[above]) / 2
    code = np.where((size > middle) | ((size == middle) & (below % 2 == 1)), above, below)
    code = code | np.where(np.signbit(values), 0x80, 0)
    return np.asarray(np.where(np.isnan(values), _NAN[element], code), np.uint8)


def poison(element: Element) -> Numbers:
    """A value that shows where it is used although nobody may: NaN, the smallest or the largest integer."""
    if element in _NAN:
        return np.asarray(_NAN[element], NUMPY_TYPES[element])
    kind = np.dtype(NUMPY_TYPES[element])
    if element.is_integer:
        return np.asarray(np.iinfo(kind).max if kind.kind == "u" else np.iinfo(kind).min, kind)
    return np.asarray(np.nan, kind)
