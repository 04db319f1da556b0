"""Which elements of a sparse A are kept, as the metadata of `mma.sp` and `wgmma.mma_async.sp` tells.

A row falls into chunks with four bits of metadata each: two indices of two bits, the lower one of the first kept
element. Source: manual, "Sparse matrix storage"; which lane holds what as CUTLASS lays metadata out and as ptxas takes
it apart where it has to.
"""

from __future__ import annotations

from functools import cache

from attrs import frozen

from isa.types import type_named

BITS_PER_CHUNK = 4


@frozen
class Sparsity:
    """The metadata of a matrix of 16 rows.

    `depth` elements of a row, `chunk` of them told by four bits, half of which are kept. `rows_per_lane` is 2 where a
    lane holds 16 bits of a row and 16 of the row eight below, else 1: 32 bits of one row. `lanes` of each four hold it.
    """

    depth: int
    chunk: int
    rows_per_lane: int
    lanes: int

    @property
    def chunks(self) -> int:
        """Chunks of a row."""
        return self.depth // self.chunk

    @property
    def kept(self) -> int:
        """Elements of a row that are kept."""
        return self.depth // 2

    def holder(self, row: int, chunk: int, selector: int) -> tuple[int, int]:
        """The lane, and its bit from which four tell of a chunk; 0 <= row < 16."""
        per_lane = 32 // self.rows_per_lane // BITS_PER_CHUNK
        part, place = divmod(chunk, per_lane)
        bit = BITS_PER_CHUNK * place
        if self.rows_per_lane == 2:
            bit += 16 * (row // 8)
        else:
            part = 2 * part + row // 8
        return 4 * (row % 8) + self.lanes * selector + part, bit

    def column(self, kept: int, bits: int) -> int:
        """The column of the kept element number `kept` of a row, whose chunk has these four bits of metadata."""
        per_chunk = self.chunk // 2
        chunk, place = divmod(kept, per_chunk)
        first, second = bits & 3, bits >> 2
        match self.chunk:
            case 2:
                return 2 * chunk + first // 2
            case 4:
                return 4 * chunk + (second if place else first)
            case _:
                return 8 * chunk + 2 * (second if place // 2 else first) + place % 2

    def meaningful(self, bits: int, ordered: bool) -> bool:
        """Whether four bits tell of two different places, in rising order where that is demanded."""
        first, second = bits & 3, bits >> 2
        if self.chunk == 2:
            return bits in (0b0100, 0b1110)
        return first < second if ordered else first != second


_CHUNKS = {32: 2, 16: 4, 8: 4, 4: 8}


@cache
def sparsity(depth: int, element: str) -> Sparsity:
    """The metadata of an A with `depth` columns of type `element`."""
    bits = type_named(element).bits
    chunk = _CHUNKS[bits]
    rows_per_lane = 2 if bits >= 16 else 1
    return Sparsity(depth, chunk, rows_per_lane, 16 * (depth // chunk) * BITS_PER_CHUNK // 32 // 8)
