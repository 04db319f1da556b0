"""What moves, multiplies and maps tiles."""

from __future__ import annotations

import re

from attrs import evolve

from ptxgen.tile.buffers import Region
from ptxgen.tile.distribution import Distribution, MatrixRows
from ptxgen.tile.leaves import Carrier, Copy, Eviction, Factor, Fill, Leaf, MatrixOrder, Multiply, MultiplyRow, Outside
from ptxgen.tile.reading.by_hand import written_by_hand
from ptxgen.tile.reading.cursor import DIMENSION, Cursor, Line
from ptxgen.tile.reading.expressions import ELEMENTS
from ptxgen.tile.reading.maps import mapped, reduced
from ptxgen.tile.reading.regions import Buffers, Scope, distributed, region
from ptxgen.tile.usual import EFFECTS, usual_outside, usual_rows

NAMED = re.compile(r"(\S+): ")
SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)\.")
ORDERS = {order.value: order for order in MatrixOrder}
EVICTIONS = {eviction.value: eviction for eviction in Eviction}
OUTSIDES = {word: outside for outside, word in EFFECTS.items()}


def leaf(line: Line, scope: Scope) -> Leaf | None:
    """The leaf that a line, with those below it, spells; None where it begins with none of their words."""
    buffers = scope.buffers
    cursor = line.cursor()
    found = NAMED.match(cursor.rest)
    if found:
        cursor.at += found.end()
    name = found.group(1) if found else None
    if cursor.took("copy"):
        made: Leaf = copy(cursor, buffers)
    elif cursor.took("fill"):
        made = fill(cursor, buffers)
    elif cursor.took("multiply"):
        made = multiply(cursor, buffers)
    elif cursor.took("map"):
        made = mapped(cursor, buffers)
    elif cursor.took("reduce"):
        made = reduced(cursor, buffers)
    elif cursor.took("by hand"):
        made = written_by_hand(cursor, scope)
    else:
        return None
    return evolve(made, op=name) if name is not None else made


def fill(cursor: Cursor, buffers: Buffers) -> Fill:
    """`fill C{0} with 0.0`."""
    cursor.line.alone()
    destination = region(cursor, buffers)
    cursor.take("with")
    value = cursor.number()
    cursor.end()
    return Fill(destination.buffer.name, destination, value, cursor.line.place)


def copy(cursor: Cursor, buffers: Buffers) -> Copy:
    """`copy X{n} <- Y{m}, 16x32 by 8 in cp.async, zero outside d0, d1, in blocks 0: 0 1; 1: 0 1, evict_first in L2`."""
    destination = region(cursor, buffers)
    cursor.take("<-")
    source = region(cursor, buffers)
    cursor.take(",")
    shape = cursor.box()
    cursor.take("by")
    vector = cursor.integer("elements of one access")
    carrier, transposed, matrices, ring = _carrier(cursor)
    guarded, outside = _outside(cursor, source, destination)
    masks = blocks(cursor)
    eviction = _eviction(cursor)
    cursor.end()
    held, reach = distributed(cursor.line, shape, (source, destination))
    made = Copy(
        destination.buffer.name, source, destination, held, vector, guarded, outside, cursor.line.place, carrier
    )
    made = evolve(made, ring=ring, masks=masks, eviction=eviction)
    return evolve(made, rows=_rows(cursor, made, reach, transposed, matrices)) if matrices else made


def _carrier(cursor: Cursor) -> tuple[Carrier, bool, int, str]:
    """What carries a copy, whether matrices are transposed, how many come at once, and the ring where bytes land."""
    if cursor.took("in cp.async"):
        return Carrier.LANE_COPY, False, 0, ""
    if cursor.took("in boxes"):
        return Carrier.TENSOR, False, 0, cursor.label("a ring") if cursor.took("on") else ""
    transposed = cursor.took("in transposed matrices of")
    if transposed or cursor.took("in matrices of"):
        return Carrier.MATRIX, transposed, cursor.integer("how many matrices at once"), ""
    return Carrier.ACCESS, False, 0, ""


def _eviction(cursor: Cursor) -> Eviction | None:
    if not cursor.took(","):
        return None
    found = cursor.chosen(EVICTIONS, "what the cache gives up first or last")
    cursor.take("in L2")
    return found


def _outside(cursor: Cursor, source: Region, destination: Region) -> tuple[tuple[int, ...], Outside]:
    for word, outside in OUTSIDES.items():
        if cursor.took(f", {word} outside"):
            return dimensions(cursor), outside
    return (), usual_outside(source.buffer.space, destination.buffer.space)


def dimensions(cursor: Cursor) -> tuple[int, ...]:
    """`d0, d1`, or `none`."""
    if cursor.took("none"):
        return ()
    found = [cursor.dimension()]
    while DIMENSION.match(cursor.rest.removeprefix(", ")) and cursor.took(","):
        found.append(cursor.dimension())
    return tuple(found)


def blocks(cursor: Cursor) -> tuple[int, ...]:
    """`, in blocks 0: 0 1; 1: none`: a mask for each rank; nothing where none are told."""
    if not cursor.took(", in blocks"):
        return ()
    masks: list[int] = []
    for _ in cursor.separated(";"):
        cursor.take(str(len(masks)), ":")
        mask = 0
        if not cursor.took("none"):
            mask = 1 << cursor.integer("the rank of a block")
            while cursor.rest[1:2].isdigit():
                mask |= 1 << cursor.integer("the rank of a block")
        masks.append(mask)
    return tuple(masks)


def _rows(cursor: Cursor, made: Copy, reach: Distribution | None, transposed: bool, matrices: int) -> MatrixRows:
    if reach is not None:
        return MatrixRows(reach, transposed, matrices)
    for rows in usual_rows(made):
        if (rows.transposed, rows.matrices) == (transposed, matrices):
            return rows
    raise cursor.failure(
        "no matrices move what the lanes hold", "another distribution, or a line below: reach values ..."
    )


def multiply(cursor: Cursor, buffers: Buffers) -> Multiply:
    """`multiply C{0} += A{n} * B{n}, 1x1x4 of wgmma m64n256k16.row.col f16 to f32`."""
    cursor.line.alone()
    c = _factor(cursor, buffers)
    fresh = cursor.took("=")
    if not fresh:
        cursor.take("+=")
    a = _factor(cursor, buffers)
    cursor.take("*")
    b = _factor(cursor, buffers)
    cursor.take(",")
    repeats = cursor.box("repeats along m, n and k")
    if len(repeats) != 3:
        raise cursor.failure(f"{len(repeats)} numbers of repeats", "three, along m, n and k")
    cursor.take("of")
    row = _row(cursor)
    cursor.end()
    name, line = c.region.buffer.name, cursor.line.place
    return Multiply(name, row, c, a, b, (repeats[0], repeats[1], repeats[2]), line, fresh)


def _factor(cursor: Cursor, buffers: Buffers) -> Factor:
    found = region(cursor, buffers)
    if not cursor.took("("):
        return Factor(found, 0, 1)
    row = cursor.dimension()
    cursor.take(",")
    column = cursor.dimension()
    cursor.take(")")
    return Factor(found, row, column)


def _row(cursor: Cursor) -> MultiplyRow:
    warpgroup = cursor.took("wgmma")
    shape = SHAPE.fullmatch(cursor.match(SHAPE, "a shape as m16n8k16.row.col"))
    assert shape is not None
    m, n, k = map(int, shape.groups())
    a_order = cursor.chosen(ORDERS, "the order of A")
    cursor.take(".")
    b_order = cursor.chosen(ORDERS, "the order of B")
    input_ = cursor.chosen(ELEMENTS, "an element type")
    b_input = cursor.chosen(ELEMENTS, "an element type") if cursor.took("by") else input_
    cursor.take("to")
    accumulate = cursor.chosen(ELEMENTS, "an element type")
    return MultiplyRow(m, n, k, input_, accumulate, a_order, b_order, warpgroup, b_input=b_input)
