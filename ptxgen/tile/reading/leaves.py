"""What moves, multiplies and maps tiles."""

from __future__ import annotations

import re

from attrs import evolve, frozen

from isa.mechanisms import AT_ISSUE, Completion, Group, GroupKind, IssuedBy, Mechanism, Proxy
from ptxgen.compute import ReductionOp
from ptxgen.tile.distribution import Distribution, MatrixRows
from ptxgen.tile.nodes import (
    Buffer,
    Carrier,
    Code,
    Copy,
    Factor,
    Fill,
    HandWritten,
    Iteration,
    Leaf,
    Map,
    MapOperand,
    MatrixOrder,
    Multiply,
    MultiplyRow,
    Outside,
    Reduce,
    Region,
    Space,
)
from ptxgen.tile.printer import EFFECTS, usual_outside, usual_rows
from ptxgen.tile.reading.cursor import DIMENSION, Cursor, Line
from ptxgen.tile.reading.expressions import ELEMENTS, Elements, expression, tile
from ptxgen.tile.reading.quantities import distribution, listed

Buffers = dict[str, Buffer]
NAMED = re.compile(r"(\S+): ")
SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)\.")
ORDERS = {order.value: order for order in MatrixOrder}
OUTSIDES = {word: outside for outside, word in EFFECTS.items()}
JOINS = {join.label: join for join in ReductionOp}


@frozen
class Scope:
    """What names stand for: buffers, and code that is written by hand."""

    buffers: Buffers
    codes: dict[str, Code]


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


def region(cursor: Cursor, buffers: Buffers) -> Region:
    """A tile, or a box in it or in an array from a corner: `X{n}`, `X{n}[0, 16]`, `X[i, 4]`."""
    found = tile(cursor, buffers, cursor.name("a buffer"))
    return evolve(found, origin=listed(cursor)) if cursor.sees("[") else found


def fill(cursor: Cursor, buffers: Buffers) -> Fill:
    """`fill C{0} with 0.0`."""
    cursor.line.alone()
    destination = region(cursor, buffers)
    cursor.take("with")
    value = cursor.number()
    cursor.end()
    return Fill(destination.buffer.name, destination, value, cursor.line.place)


def copy(cursor: Cursor, buffers: Buffers) -> Copy:
    """`copy X{n} <- Y{m}, 16x32 by 8 in cp.async, zero outside d0, d1, in blocks 0: 0 1; 1: 0 1`."""
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
    cursor.end()
    held, reach = _distribution(cursor.line, shape, (source, destination))
    made = Copy(
        destination.buffer.name, source, destination, held, vector, guarded, outside, cursor.line.place, carrier
    )
    made = evolve(made, ring=ring, masks=masks)
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


def _distribution(
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


def mapped(cursor: Cursor, buffers: Buffers) -> Map:
    """`map X{0}[i, j] = expression`, below it the iteration."""
    below, dims = _iterated(cursor)
    elements = Elements(buffers, dims)
    target, target_dims = elements.element(cursor, cursor.name("a buffer"))
    cursor.take("=")
    value = expression(cursor, elements)
    cursor.end()
    iteration, operands = _iteration(cursor.line, below, dims, elements, target)
    outside = Outside.ANY
    if below.took(","):
        outside = below.chosen(OUTSIDES, "what holds outside")
        below.take("outside")
    below.end()
    name = target.buffer.name
    return Map(name, iteration, target, target_dims, value, operands, cursor.line.place, outside)


def reduced(cursor: Cursor, buffers: Buffers) -> Reduce:
    """`reduce X{0}[i] = max(X{0}[i], expression)`, below it the iteration."""
    below, dims = _iterated(cursor)
    elements = Elements(buffers, dims)
    target, target_dims = elements.element(cursor, cursor.name("a buffer"))
    cursor.take("=")
    join = cursor.chosen(JOINS, "how to join")
    cursor.take("(")
    if elements.element(cursor, cursor.name("a buffer")) != (target, target_dims):
        raise cursor.failure("what is joined with is not what is filled", "the same element as before '='")
    cursor.take(",")
    value = expression(cursor, elements)
    cursor.take(")")
    cursor.end()
    if None in target_dims:
        raise cursor.failure("each index of the target is that of a dim", "the names of dims of the iteration")
    iteration, operands = _iteration(cursor.line, below, dims, elements, target)
    below.end()
    places = tuple(place for place in target_dims if place is not None)
    return Reduce(target.buffer.name, join, iteration, target, places, value, operands, cursor.line.place)


ISSUERS = {f"by each {by.value}": by for by in (IssuedBy.LANE, IssuedBy.WARP)}
COMPLETIONS: dict[str, Completion] = {
    "complete at issue": AT_ISSUE,
    "complete in groups of cp.async": Group(GroupKind.CP_ASYNC, IssuedBy.LANE),
}


def written_by_hand(cursor: Cursor, scope: Scope) -> HandWritten:
    """`by hand NAME, 16x32, reads X{0}; writes Y{0}; by each lane, complete at issue`, below it who holds what."""
    name = cursor.name("the name of code")
    if name not in scope.codes:
        raise cursor.failure(f"no code is called {name!r}", f"one of {', '.join(scope.codes) or 'none'}")
    cursor.take(",")
    shape = cursor.box()
    cursor.take(",", "reads")
    reads = _regions(cursor, scope.buffers)
    cursor.take(";", "writes")
    writes = _regions(cursor, scope.buffers)
    cursor.take(";")
    issuer = cursor.chosen(ISSUERS, "who issues it")
    cursor.take(",")
    completes = cursor.chosen(COMPLETIONS, "when it is complete")
    cursor.end()
    held, _ = _distribution(cursor.line, shape, ())
    proxies = [
        Proxy.GENERIC if any(r.buffer.space is not Space.REGISTERS for r in found) else None
        for found in (reads, writes)
    ]
    mechanism = Mechanism(proxies[0], proxies[1], issuer, completes)
    return HandWritten("", scope.codes[name], reads, writes, held, mechanism, cursor.line.place)


def _regions(cursor: Cursor, buffers: Buffers) -> tuple[Region, ...]:
    return () if cursor.took("nothing") else tuple(region(cursor, buffers) for _ in cursor.separated())


def _iterated(cursor: Cursor) -> tuple[Cursor, tuple[str, ...]]:
    """The line below, behind the dims of the iteration."""
    if not cursor.line.below:
        raise cursor.failure("the iteration is not told", "a line below: over i, j in 16x32 from [...] below [...]")
    below = cursor.line.below[0].cursor()
    below.take("over")
    return below, tuple(below.name("a dim") for _ in below.separated())


def _iteration(
    line: Line, below: Cursor, dims: tuple[str, ...], elements: Elements, target: Region
) -> tuple[Iteration, tuple[MapOperand, ...]]:
    below.take("in")
    shape = below.box()
    below.take("from")
    origin = listed(below)
    below.take("below")
    extents = listed(below)
    guarded = _guarded(below, dims)
    operands = tuple(MapOperand(region, places, _vector(below, region.buffer)) for region, places in elements.found)
    if len(line.below) == 2:
        line.below[1].alone()
        cursor = line.below[1].cursor()
        cursor.take("as")
        held = distribution(cursor, shape)
    elif len(line.below) == 1 and target.buffer.space is Space.REGISTERS and target.buffer.shape == shape:
        held = target.buffer.distribution
    else:
        raise below.failure("who computes what is not told", "one line more: as values ...; lanes ...; warps ...")
    return Iteration(dims, origin, extents, held, guarded), operands


def _guarded(below: Cursor, dims: tuple[str, ...]) -> tuple[int, ...]:
    found: list[int] = []
    if below.took(", guarded"):
        for dim in _several(below, dims):
            found.append(dims.index(dim))
    return tuple(found)


def _several(below: Cursor, dims: tuple[str, ...]) -> list[str]:
    """Names of dims with commas between; what follows the last one may begin with a comma too."""
    found = [below.chosen({dim: dim for dim in dims}, "a dim of the iteration")]
    while any(below.sees(f", {dim}") and not below.sees(f", {dim} by") for dim in dims):
        below.take(",")
        found.append(below.chosen({dim: dim for dim in dims}, "a dim of the iteration"))
    return found


def _vector(below: Cursor, buffer: Buffer) -> int:
    if buffer.space is Space.REGISTERS and not below.sees(f", {buffer.name} by"):
        return 1
    below.take(f", {buffer.name} by")
    return below.integer("elements of one access")
