"""Comparison and selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.simulate.rounding import flush_f32
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


def set_(site: Site) -> Compute:
    """All ones (or 1.0 for a float type) where the comparison holds, else zero."""
    compared = _compared(site, 1, 1)
    of = site.type(0)
    if of.name == "f16x2":
        return lambda r: packed(np.where(compared(r), np.float16(1), np.float16(0)))
    if of.name == "f32":
        return lambda r: np.where(compared(r), np.float32(1), np.float32(0))
    if of.name == "f16":
        return lambda r: np.where(compared(r), np.float16(1), np.float16(0))
    return lambda r: np.where(compared(r), ~np.uint32(0), np.uint32(0))


def _compared(site: Site, first: int, results: int) -> Compute:
    of = site.type(first)
    pairs = of.lanes == 2
    a, b = (site.read(first + each, np.uint32) if pairs else site.read(first + each) for each in (0, 1))
    compare = _comparison(site)
    flush = site.has("ftz") and of.name == "f32"
    join = next((_JOINS[word] for word in _JOINS if site.has(word)), None)
    other = site.read(first + 2, np.bool_) if join is not None else None

    def operand(value: Array) -> Array:
        return unpacked(value) if pairs else flush_f32(value) if flush else value

    def compute(r: list[Array]) -> Any:
        truth = compare(operand(a(r)), operand(b(r)))
        opposite = ~truth
        if join is not None and other is not None:
            truth, opposite = join(truth, other(r)), join(opposite, other(r))
        if results < 2 or (pairs and not site.slots[0].type):
            return truth
        return (truth[..., 0], truth[..., 1]) if pairs else (truth, opposite)

    return compute


def _comparison(site: Site) -> Callable[[Any, Any], Any]:
    if site.has("num"):
        return lambda a, b: ~(np.isnan(a) | np.isnan(b))
    if site.has("nan"):
        return lambda a, b: np.isnan(a) | np.isnan(b)
    for word, base in _UNORDERED.items():
        if site.has(word):
            ordered = _ORDERED[base]
            return lambda a, b: ordered(a, b) | np.isnan(a) | np.isnan(b)
    if site.has("ne") and site.type(1).kind.name == "FLOAT":
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
