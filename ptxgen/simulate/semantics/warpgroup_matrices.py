"""Matrices in shared memory as `wgmma` reads them by a descriptor."""

from __future__ import annotations

from functools import cache

import numpy as np
from attrs import frozen

from isa.descriptors import InvalidDescriptor, SharedMatrix, Swizzle
from isa.fragments import Fragment
from ptxgen.simulate.asynchronous.operations import Issue
from ptxgen.simulate.asynchronous.runs import Run
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import LANES
from ptxgen.simulate.site import Array

ROWS = 16


@frozen(eq=False)
class SharedOperand:
    """An operand in shared memory: rows (of A, or columns of B) and bytes or elements along K; how a descriptor's
    fields place them. `transposed` is M- or N-major.
    """

    rows: int
    depth: int
    bits: int
    transposed: bool

    @property
    def row_bytes(self) -> int:
        """Bytes of a row along K: 32, or 64 of the dense B beside a sparse A."""
        return self.depth * self.bits // 8

    def places(self, matrix: SharedMatrix) -> Array:
        """The byte of each piece from the matrix's start before the swizzle: [rows, bytes / 16] for K-major, or [K,
        rows in pieces of 16 bytes] for the other; a piece is 16 bytes.
        """
        if self.transposed:
            return _across(self.rows, self.depth, matrix)
        return _along(self.rows, self.row_bytes, matrix)


def _along(rows: int, row_bytes: int, matrix: SharedMatrix) -> Array:
    """K-major: [rows, 2 or 4] pieces of 16 bytes along K."""
    row, piece = np.arange(rows)[:, None], np.arange(row_bytes // 16)[None]
    if matrix.swizzle is Swizzle.NONE:
        return row % 8 * 16 + row // 8 * matrix.stride_bytes + piece * matrix.leading_bytes
    return row % 8 * matrix.swizzle.span + row // 8 * matrix.stride_bytes + piece * 16


def _across(rows: int, depth: int, matrix: SharedMatrix) -> Array:
    """M- or N-major, elements of 2 bytes: [K, rows / 8] pieces of 8 elements along the rows."""
    k, piece = np.arange(depth)[:, None], np.arange(rows // 8)[None]
    if matrix.swizzle is Swizzle.NONE:
        return piece * matrix.stride_bytes + k % 8 * 16 + k // 8 * matrix.leading_bytes
    chunk = matrix.swizzle.span // 16
    return (
        piece % chunk * 16 + piece // chunk * matrix.leading_bytes
        + k % 8 * matrix.swizzle.span + k // 8 * matrix.stride_bytes
    )  # fmt: skip


@cache
def _pieces(of: SharedOperand, bits: int) -> tuple[Array, SharedMatrix]:
    """The addresses of the pieces of a matrix as its descriptor has them, in the CTA's shared memory."""
    matrix = SharedMatrix.of(bits)
    plain = matrix.start + of.places(matrix)
    if matrix.swizzle is Swizzle.NONE:
        return plain, matrix
    row = ((plain >> 7) - matrix.base_offset) % (matrix.swizzle.span // matrix.swizzle.unit)
    return plain ^ row * matrix.swizzle.unit, matrix


def elements(of: SharedOperand, content: Array) -> Array:
    """The bits of the elements as [K, rows] from the pieces' bytes [.., .., 16]."""
    if of.bits == 1:
        whole = np.unpackbits(content.reshape(of.rows, -1), axis=1, bitorder="little")
        return np.ascontiguousarray(whole.T)
    dtype = {8: np.uint8, 16: np.uint16, 32: np.uint32}[of.bits]
    flat = np.ascontiguousarray(content).view(dtype).reshape(content.shape[0], -1)
    return flat if of.transposed else np.ascontiguousarray(flat.T)


def parts_of(of: SharedOperand, run: Run, issues: list[Issue], *, whole: bool) -> list[tuple[Issue, Array]]:
    """The pieces of a matrix that each warp reads: of A its own rows, of B all."""
    if whole:
        return [(issues[-1], run.index)]
    places = run.index.reshape((of.depth, -1) if of.transposed else (of.rows, -1))
    if of.transposed:
        return [(issue, places[:, 2 * warp : 2 * warp + 2].ravel()) for warp, issue in enumerate(issues[:-1])]
    return [(issue, places[ROWS * warp :][:ROWS].ravel()) for warp, issue in enumerate(issues[:-1])]


def by_lane(values: Array) -> Array:
    """[values, warps, 32] as [32, values, warps]."""
    laid: Array = values.transpose(2, 0, 1)
    return laid


@cache
def warp_places(of: Fragment) -> tuple[Array, Array]:
    """Row and column of each value of a warp's lanes, [32, values], rows within the warp's 16."""
    places = [[of.position(lane, value) for value in range(of.values)] for lane in range(LANES)]
    table = np.array(places)
    return table[..., 0], table[..., 1]


def operand_run(batch: Batch, issue: Issue, of: SharedOperand, bits: int) -> Run | None:
    """The pieces of a matrix in shared memory; None, and a report, for a descriptor or a place that is none."""
    memory = batch.spaces["shared"]
    try:
        addresses, matrix = _pieces(of, bits)
    except InvalidDescriptor as error:
        what = f"has a descriptor that is none: {error}"
        batch.journal.fault("wgmma.descriptor", issue.site, lambda: what, thread=issue.thread)
        return None
    places = addresses.ravel() - memory.base
    outside = (places < 0) | (places > memory.size_bytes - 16)
    cta = issue.warp // batch.warps_per_cta
    index = places + cta * memory.stride
    if not outside.any():
        outside = memory.arena.shadow[index] == 0
    if outside.any():
        at = int(addresses.ravel()[int(outside.argmax())])
        what = f"reads {at:#x}, outside every allocation of shared memory, by the descriptor {matrix}"
        batch.journal.fault("memory.bounds", issue.site, lambda: what, thread=issue.thread, address=at)
        return None
    return Run(memory, index, 16, int(addresses.min()))
