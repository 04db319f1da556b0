"""What a text leaves out: what holds of a copy that does not say otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.tile.buffers import Space
from ptxgen.tile.distribution import MatrixRows, matrix_rows
from ptxgen.tile.leaves import Copy, Outside

EFFECTS = {Outside.NEVER: "nothing", Outside.ZERO: "zero", Outside.ANY: "any value"}


def usual_outside(source: Space, destination: Space) -> Outside:
    """What holds outside the array of a copy that is not guarded, unless it says otherwise."""
    if destination is Space.GLOBAL or source is Space.REGISTERS:
        return Outside.NEVER
    return Outside.ZERO if source is Space.GLOBAL else Outside.ANY


def usual_rows(copy: Copy) -> Iterator[MatrixRows]:
    """The rows by which matrices move what a copy distributes, along each dimension of the tile."""
    width = copy.source.buffer.element.byte_count
    for contiguous in range(copy.distribution.rank):
        for most in (4, 2, 1):
            found = matrix_rows(copy.distribution, width, contiguous, most)
            if found is not None:
                yield found
