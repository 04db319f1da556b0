"""Metadata of sparse matrices: the columns of the kept elements, and the rows of B that meet them."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isa.metadata import Metadata

Array: TypeAlias = NDArray[Any]


def told(metadata: Array, of: Metadata, selector: int) -> Array:
    """The four bits of each chunk, [chunks, 16, warps], from the registers [warps, 32] of the warps."""
    lanes, bits = _holders(of, selector)
    taken: Array = (metadata[:, lanes] >> bits & np.uint32(0xF)).transpose(1, 2, 0)
    return taken


@cache
def _holders(of: Metadata, selector: int) -> tuple[Array, Array]:
    """Lane and first bit of each chunk, [chunks, 16]."""
    places = [[of.holder(row, chunk, 0, selector) for row in range(of.rows)] for chunk in range(of.chunks)]
    table = np.array(places)
    return table[..., 0], (table[..., 1] * of.index_bits).astype(np.uint32)


def columns(chunks: Array, of: Metadata) -> Array:
    """The column of each kept element, [kept, 16, warps]."""
    per_chunk = of.kept // of.chunks
    kept = np.arange(of.kept)
    found: Array = _column_table(of)[kept[:, None, None], np.repeat(chunks, per_chunk, axis=0)]
    return found


@cache
def _column_table(of: Metadata) -> Array:
    return np.array([[of.column(kept, bits) for bits in range(16)] for kept in range(of.kept)])


def meaningless(chunks: Array, of: Metadata, ordered: bool) -> Array:
    """Which warps have metadata that tells of nothing, [warps]."""
    wrong = np.array([not of.meaningful(bits, ordered) for bits in range(16)])
    return np.asarray(wrong[chunks].any(axis=(0, 1)))


def met(b: Array, kept: Array) -> Array:
    """The rows of B [K, columns, n] that the kept elements [kept, rows, n] meet: [kept, rows, columns, n]."""
    place = np.arange(b.shape[1])[None, None, :, None]
    taken: Array = b[kept[:, :, None], place, np.arange(b.shape[2])]
    return taken
