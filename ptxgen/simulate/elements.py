"""The elements in the registers of a matrix operand, as bits and as values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isa.types import type_named
from ptxgen.simulate.formats import FORMATS, decoded

Array: TypeAlias = NDArray[Any]

_WHOLE = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def elements_of(element: str) -> Callable[[Array], Array]:
    """From registers of any shape to the bits of their elements, on one more axis, the low one first."""
    bits = type_named(element).bits
    if bits >= 8:
        return lambda registers: np.ascontiguousarray(registers)[..., None].view(_WHOLE[bits])
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    mask = np.uint32((1 << bits) - 1)
    return lambda registers: ((registers[..., None] >> shifts) & mask).astype(np.uint8)


def values_of(element: str) -> Callable[[Array], Array]:
    """From the bits of elements to float64 values, exact; tf32 takes the upper 19 bits of a word."""
    of = type_named(element)
    match element:
        case "f64":
            return lambda bits: bits.view(np.float64)
        case "tf32":
            return lambda bits: (bits & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
        case "f16":
            return lambda bits: bits.view(np.float16).astype(np.float64)
        case "bf16":
            return lambda bits: (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
        case "s8":
            return lambda bits: bits.view(np.int8).astype(np.float64)
        case "s4":
            return lambda bits: (bits.astype(np.int8) ^ np.int8(8)).astype(np.float64) - 8.0
        case _ if element in FORMATS:
            return lambda bits: decoded(bits, FORMATS[element])
        case _ if of.integer or element == "b1":
            return lambda bits: bits.astype(np.float64)
    raise LookupError(f"no matrix operand has elements of type .{element}")
