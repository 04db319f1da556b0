"""What tensor copies make of elements: as they come from a tensor, and as they are combined with those in it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isa.tensor_maps import Element
from ptxgen.errors import UnsupportedError
from ptxgen.simulate.formats import TF32, encoded
from ptxgen.simulate.rounding import flush_f32
from ptxgen.simulate.semantics.reductions import combine
from ptxgen.simulate.site import Array

_TF32_SHIFT = 13


def loaded(element: Element, taken: Array) -> Array:
    """The bytes (uint8, any shape of whole elements) that stand in shared memory for those of a tensor."""
    if not element.tf32:
        return taken
    rounded = encoded(_floats(taken).astype(np.float64), TF32) << np.uint32(_TF32_SHIFT)
    return np.ascontiguousarray(rounded.astype(np.uint32)).view(np.uint8).reshape(taken.shape)


def combine_elements(operation: str, element: Element) -> Callable[[Array, Array], Array]:
    """As `combine`, by the arithmetic of a tensor's elements; UnsupportedError for what is known of no GPU."""
    if element.sums_as != element.name and operation != "add":
        raise UnsupportedError(f"the operation .{operation} on tensors of {element}")
    combined = combine(operation, element.sums_as)
    if not element.flushes:
        return combined
    return lambda there, come: _flushed(combined(_flushed(there), _flushed(come)))


def _floats(content: Array) -> Array:
    return np.ascontiguousarray(content).view(np.float32)


def _flushed(content: Array) -> Array:
    return np.ascontiguousarray(flush_f32(_floats(content))).view(np.uint8).reshape(content.shape)
