"""Approximate instructions: what their results may be, and results drawn from that."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isa.accuracy import accuracies
from isa.types import Type
from ptxgen.simulate.formats import FORMATS, Format, decoded, encoded
from ptxgen.simulate.semantics.packed import packed, unpacked
from ptxgen.simulate.site import Compute, Site

Array: TypeAlias = NDArray[Any]

_LEAST_EXPONENT = {"f32": -126, "f16": -14, "bf16": -126}
_FRACTION_BITS = {"f32": 23, "f16": 10, "bf16": 7}


def tolerance(name: str, last_operand: Array, exact: Array, element: str) -> Array:
    """How far a result may be from the exact one (float64 arrays of one shape) for an instruction by its full name.

    `element` is the type of the results: f32, f16 or bf16. Infinite where the manual promises nothing; 0 for an
    instruction that is not approximate. Source: `isa.accuracy`.
    """
    bounds = accuracies(name)
    if bounds is None:
        return np.zeros(exact.shape)
    size, magnitude = np.abs(exact), np.abs(last_operand)
    allowed = np.full(exact.shape, np.inf)
    for bound in bounds:
        inside = (magnitude >= bound.least) & (magnitude <= bound.most)
        here = bound.ulps * spacing(exact, element) + bound.relative * size + bound.absolute
        allowed = np.where(inside, np.minimum(allowed, here), allowed)
    return allowed


def spacing(values: Array, element: str) -> Array:
    """The unit in the last place of a type at float64 values."""
    exponents = np.maximum(np.frexp(np.abs(values))[1] - 1, _LEAST_EXPONENT[element])
    units: Array = np.ldexp(1.0, exponents - _FRACTION_BITS[element])
    return units


def drawn(site: Site, compute: Compute, chance: np.random.Generator) -> Compute:
    """The instruction with results drawn at random from what the manual allows; `compute` gives the nearest ones."""
    name, of = site.instruction.form.name, site.type(0)
    bounds = accuracies(name)
    if not bounds:
        return compute
    element = of.name.removesuffix("x2")
    last = site.read(len(site.slots) - 1)

    def varied(r: list[Array]) -> Array:
        nearest, operand = compute(r), last(r)
        values, given = _values(nearest, of), _values(operand, of)
        ulp = spacing(values, element)
        room = np.maximum(tolerance(name, given, values, element) - ulp, 0.0)
        moved = values + np.where(np.isfinite(room), room, 0.0) * chance.uniform(-1, 1, values.shape)
        keep = ~np.isfinite(values) | (values == 0)
        return _bits(np.where(keep, values, moved), of, nearest)

    return varied


def _format(of: Type) -> Format | None:
    return FORMATS.get(of.name.removesuffix("x2"))


def _values(bits: Array, of: Type) -> Array:
    """Results or operands as float64, pairs on one more axis."""
    form = _format(of)
    if form is None:
        return bits.astype(np.float64)
    whole = bits.view(f"u{bits.itemsize}") if bits.dtype.kind == "f" else bits
    return decoded(unpacked(whole, np.uint16) if of.lanes == 2 else whole, form)


def _bits(values: Array, of: Type, like: Array) -> Array:
    """float64 values as an instruction of the type gives them; what is no number stays as it was."""
    form = _format(of)
    if form is None:
        made = values.astype(np.float32)
        return np.where(np.isfinite(values), made, like)
    rounded = encoded(values, form)
    return packed(rounded, np.uint32) if of.lanes == 2 else rounded
