"""Tiles and boxes of them, and who moves what in a box."""

from __future__ import annotations

from attrs import evolve, frozen

from ptxgen.tile.buffers import Buffer, Region, Space
from ptxgen.tile.distribution import Distribution
from ptxgen.tile.leaves import Code
from ptxgen.tile.reading.cursor import Cursor, Line
from ptxgen.tile.reading.expressions import tile
from ptxgen.tile.reading.quantities import distribution, listed

Buffers = dict[str, Buffer]


@frozen
class Scope:
    """What names stand for: buffers, and code that is written by hand."""

    buffers: Buffers
    codes: dict[str, Code]


def region(cursor: Cursor, buffers: Buffers) -> Region:
    """A tile, or a box in it or in an array from a corner: `X{n}`, `X{n}[0, 16]`, `X[i, 4]`."""
    found = tile(cursor, buffers, cursor.name("a buffer"))
    return evolve(found, origin=listed(cursor)) if cursor.sees("[") else found


def distributed(
    line: Line, shape: tuple[int, ...], sides: tuple[Region, ...]
) -> tuple[Distribution, Distribution | None]:
    """Who moves what, which the register side says where no line does; and which rows lanes point at."""
    own: Distribution | None = None
    reach: Distribution | None = None
    for below in line.below:
        below.alone()
        cursor = below.cursor()
        if own is None and cursor.took("as"):
            own = distribution(cursor, shape)
        else:
            cursor.take("reach")
            reach = distribution(cursor, shape)
    for side in sides:
        if own is None and side.buffer.space is Space.REGISTERS and side.buffer.distribution.shape == shape:
            own = side.buffer.distribution
    if own is None:
        raise line.cursor().failure("who moves what is not told", "a line below: as values ...; lanes ...; warps ...")
    return own, reach
