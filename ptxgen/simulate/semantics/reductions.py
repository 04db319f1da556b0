"""How copies combine what they bring with what is there: element by element, as atomics do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isa.types import type_named
from ptxgen.simulate.semantics.atomics import update_of
from ptxgen.simulate.site import Array


def combine(operation: str, element: str) -> Callable[[Array, Array], Array]:
    """From the bytes that are there and those that come (uint8, any shape of whole elements) to those that stay."""
    of = type_named(element)
    update, dtype = update_of(operation, of), np.dtype(f"u{of.bytes}")

    def combined(there: Array, come: Array) -> Array:
        old, new = (np.ascontiguousarray(each).view(dtype) for each in (there, come))
        return np.ascontiguousarray(update(old, new, new).astype(dtype)).view(np.uint8).reshape(there.shape)

    return combined
