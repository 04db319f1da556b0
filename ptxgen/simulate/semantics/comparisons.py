"""Comparison and selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isa.types import Kind, Type
from ptxgen.simulate.rounding import flush_f32
from ptxgen.simulate.semantics.floats import widened_bf16
from ptxgen.simulate.semantics.packed import packed, unpacked
from ptxgen.simulate.site import Array, Compute, Site

_ORDERED: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip
_UNORDERED = {"equ": "eq", "neu": "ne", "ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}
_JOINS: dict[str, Callable[[Any, Any], Any]] = {
    "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor,
}  # fmt: skip


def setp(site: Site) -> Compute:
    """A truth value (and its opposite), perhaps joined with another."""
    written = sum(slot.written for slot in site.slots)
    return _compared(site, written, written)


_ONES: dict[str, Any] = {"f16": np.uint16(0x3C00), "bf16": np.uint16(0x3F80), "f32": np.uint32(0x3F800000)}


def set_(site: Site) -> Compute:
    """All ones (or 1.0 for a float type) where the comparison holds, else zero; of pairs, half by half."""
    compared = _compared(site, 1, 1)
    of = site.type(0)
    source_lanes = site.type(1).lanes
    unsigned = np.dtype(f"u{of.bits // 8 // source_lanes}")
    one = _ONES.get(of.name.removesuffix("x2"), ~unsigned.type(0))
    if source_lanes == 2:
        return lambda r: packed(np.where(compared(r), one, unsigned.type(0)))
    return lambda r: np.where(compared(r), one, unsigned.type(0))


def _operand(site: Site, index: int) -> Compute:
    """A source as the values that are compared, pairs with one more axis."""
    of = site.type(index)
    flush = flush_f32 if site.has("ftz") else None
    match of.name:
        case "f16x2":
            bits = site.read(index, np.uint32)
            return lambda r: unpacked(bits(r))
        case "bf16x2":
            bits = site.read(index, np.uint32)
            return lambda r: widened_bf16(unpacked(bits(r), np.uint16))
        case "bf16":
            bits = site.read(index, np.uint16)
            return lambda r: widened_bf16(bits(r))
        case "f32" if flush is not None:
            value = site.read(index)
            return lambda r: flush(value(r))
        case _:
            return site.read(index)


def _compared(site: Site, first: int, results: int) -> Compute:
    of = site.type(first)
    halves = of.name in ("f16", "f16x2") and site.has("ftz")
    a, b = (_operand(site, first + each) for each in (0, 1))
    compare = _comparison(site, of)
    join = next((_JOINS[word] for word in _JOINS if site.has(word)), None)
    other = site.read(first + 2, np.bool_) if join is not None else None

    def compute(r: list[Array]) -> Any:
        x, y = a(r), b(r)
        truth = compare(_flushed(x), _flushed(y)) if halves else compare(x, y)
        opposite = ~truth
        if join is not None and other is not None:
            joined = other(r)[..., None] if of.lanes == 2 else other(r)
            truth, opposite = join(truth, joined), join(opposite, joined)
        if results < 2:
            return truth
        return (truth[..., 0], truth[..., 1]) if of.lanes == 2 else (truth, opposite)

    return compute


def _flushed(value: Array) -> Array:
    small = np.abs(value) < np.float16(2.0**-14)
    return np.where(small, np.copysign(np.float16(0), value), value)


def _comparison(site: Site, of: Type) -> Callable[[Any, Any], Any]:
    if site.has("num"):
        return lambda a, b: ~(np.isnan(a) | np.isnan(b))
    if site.has("nan"):
        return lambda a, b: np.isnan(a) | np.isnan(b)
    for word, base in _UNORDERED.items():
        if site.has(word):
            ordered = _ORDERED[base]
            return lambda a, b: ordered(a, b) | np.isnan(a) | np.isnan(b)
    if site.has("ne") and of.kind is Kind.FLOAT:
        return lambda a, b: (a != b) & ~np.isnan(a) & ~np.isnan(b)
    return next(function for word, function in _ORDERED.items() if site.has(word))


def selp(site: Site) -> Compute:
    """The first source where the predicate holds, else the second."""
    unsigned = np.dtype(f"u{site.type(1).bits // 8}")
    a, b, p = site.read(1, unsigned), site.read(2, unsigned), site.read(3, np.bool_)
    return lambda r: np.where(p(r), a(r), b(r))


def slct(site: Site) -> Compute:
    """The first source where the third is at least zero, else the second; NaN takes the second."""
    unsigned = np.dtype(f"u{site.type(1).bits // 8}")
    a, b, c = site.read(1, unsigned), site.read(2, unsigned), site.read(3)
    if site.has("ftz"):
        return lambda r: np.where(flush_f32(c(r)) >= 0, a(r), b(r))
    return lambda r: np.where(c(r) >= 0, a(r), b(r))
