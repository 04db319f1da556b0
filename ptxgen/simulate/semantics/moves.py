"""Moves, packing, and addresses between spaces."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxgen.simulate.memory import (
    CONST_WINDOW,
    GLOBAL_BASE,
    LOCAL_WINDOW,
    PARAMETER_WINDOW,
    RANK_SHIFT,
    SHARED_WINDOW,
    WINDOW_BYTES,
)
from ptxgen.simulate.semantics.packed import packed, unpacked
from ptxgen.simulate.site import Array, Compute, Site, storage_dtype

_WINDOWS = {
    "shared": SHARED_WINDOW,
    "local": LOCAL_WINDOW,
    "const": CONST_WINDOW,
    "global": 0,
    "param": PARAMETER_WINDOW,
}


def mov(site: Site) -> Compute:
    """A copy; or a register packed from, or unpacked into, the parts of a vector."""
    target, source = site.operands
    if isinstance(source, tuple):
        return _pack(site, len(source))
    if isinstance(target, tuple):
        return _unpack(site, len(target))
    return site.read(1, storage_dtype(site.type(0)))


def _pack(site: Site, count: int) -> Compute:
    whole = storage_dtype(site.type(0))
    part_bits = whole.itemsize * 8 // count
    parts = site.vector(1, np.dtype(f"u{part_bits // 8}"))
    if whole.itemsize == 16:
        return lambda r: packed(np.stack(np.broadcast_arrays(*[part(r) for part in parts]), axis=-1), whole)

    def compute(r: list[Array]) -> Array:
        result = parts[0](r).astype(whole)
        for place, part in enumerate(parts[1:], 1):
            result = result | (part(r).astype(whole) << whole.type(place * part_bits))
        return result

    return compute


def _unpack(site: Site, count: int) -> Compute:
    whole = storage_dtype(site.type(1))
    part_bits = whole.itemsize * 8 // count
    part = np.dtype(f"u{part_bits // 8}")
    source = site.read(1, whole)
    if whole.itemsize == 16:
        return lambda r: tuple(np.moveaxis(unpacked(source(r), part), -1, 0))

    def compute(r: list[Array]) -> Any:
        value = source(r)
        parts = [(value >> whole.type(place * part_bits)).astype(part) for place in range(count)]
        return tuple(parts) if count > 1 else parts[0]

    return compute


def _space(site: Site) -> str | None:
    named = str(site.instruction.form.words["space"]).partition("::")[0]
    return named if named in _WINDOWS else None


def cvta(site: Site) -> Compute:
    """An address of a space as a generic one, or back with `.to`."""
    space = _space(site)
    if space is None:
        raise site.unsupported("this space")
    dtype = storage_dtype(site.type(0))
    source = site.read(1, dtype)
    window = _WINDOWS[space] if dtype.itemsize == 8 else 0
    if window == 0:
        return source
    if site.has("to"):
        return lambda r: source(r) - dtype.type(window)
    return lambda r: source(r) + dtype.type(window)


def isspacep(site: Site) -> Compute:
    """Whether a generic address lies in a space."""
    space = _space(site)
    if space is None:
        raise site.unsupported("this space")
    a = site.read(1, np.uint64)
    if space == "global":
        lowest = min(window for window in _WINDOWS.values() if window)
        return lambda r: (a(r) < np.uint64(lowest)) | (a(r) >= np.uint64(GLOBAL_BASE))
    window = np.uint64(_WINDOWS[space])
    if space == "shared" and not site.has("shared::cluster") and site.bank.rank_place is not None:
        rank = site.bank.rank_place
        return lambda r: (((a(r) - window) >> RANK_SHIFT) << RANK_SHIFT) == r[rank].view(np.uint64)
    return lambda r: (a(r) - window) < np.uint64(WINDOW_BYTES)
