"""What stands before the roles: parameters, facts, the grid, buffers, rings, tensor maps and workspaces."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from ptxgen.compute import Element
from ptxgen.tile.buffers import Buffer, GlobalPlacement, Space
from ptxgen.tile.grid import Grid, GridDim, Raster, Segmented, WorkList
from ptxgen.tile.program import Fact, Parameter, ParameterKind, Ring, TensorBox, Workspace
from ptxgen.tile.quotient import Quotient
from ptxgen.tile.reading.cursor import Cursor, Line
from ptxgen.tile.reading.expressions import ELEMENTS
from ptxgen.tile.reading.quantities import affine, distribution, layout, listed, quotient

KINDS = {kind.value: kind for kind in ParameterKind}
SPACES = {space.value: space for space in Space}


def parameter(line: Line) -> Parameter:
    """`A  pointer  f16, aligned 16 bytes, written`."""
    line.alone()
    cursor = line.cursor()
    name, kind = cursor.name("a parameter's name"), cursor.chosen(KINDS, "a kind of parameter")
    element: Element | None = None
    alignment, written = 1, False
    if kind in (ParameterKind.POINTER, ParameterKind.WORKSPACE):
        element = cursor.chosen(ELEMENTS, "an element type")
        if cursor.took(", aligned"):
            alignment = cursor.integer("bytes")
            cursor.take("bytes")
        written = cursor.took(", written")
    cursor.end()
    return Parameter(name, kind, element, alignment, written, line=line.place)


def fact(line: Line) -> Fact:
    """`K % 8 == 0`."""
    line.alone()
    cursor = line.cursor()
    value = affine(cursor)
    cursor.take("%")
    modulus = cursor.integer("a modulus")
    cursor.take("==", "0")
    cursor.end()
    return Fact(value, modulus, line=line.place)


def grid(lines: Iterable[Line], heading: Line) -> Grid:
    """A line for each tile index, then the order of the blocks, then who walks them."""
    dims: list[GridDim] = []
    raster: Raster | None = None
    work_list: WorkList | None = None
    parts = 1
    segments: Segmented | None = None
    tickets = ""
    for line in lines:
        line.alone()
        cursor = line.cursor()
        if cursor.took("last dim fastest"):
            raster = Raster()
        elif cursor.took("all tiles of a part before those of the next one,"):
            parts = cursor.integer("a number of parts")
            cursor.take("parts")
        elif cursor.took("bands of"):
            raster = Raster(cursor.integer("tiles of a band"))
            cursor.take("tiles, walked column by column")
        elif cursor.took("squares of"):
            raster = _along_a_curve(cursor)
        elif cursor.took("group "):
            segments = _segments(cursor)
        elif cursor.took("walked by"):
            work_list = _work_list(cursor, clusters=any(dim.cluster > 1 for dim in dims))
        elif cursor.took("numbered as they begin, by tickets of"):
            tickets = cursor.name("the workspace of a counter")
        elif cursor.sees("streamed:"):
            work_list = _streamed(cursor, work_list)
        else:
            dims.append(_grid_dim(cursor))
        cursor.end()
    if raster is None:
        raise heading.cursor().failure(
            "the grid has no order", "'last dim fastest' or 'bands of 8 tiles, ...' below it"
        )
    return Grid(tuple(dims), raster, work_list, parts, segments=segments, tickets=tickets)


def _segments(cursor: Cursor) -> Segmented:
    group = cursor.name("the tile index that numbers groups")
    cursor.take("from")
    first = cursor.name("what a group's first index is called")
    cursor.take("to")
    end = cursor.name("what a group's end is called")
    cursor.take("of")
    rows = affine(cursor)
    cursor.take(", by")
    return Segmented(cursor.name("the array of the ends"), group, first, end, rows)


def _along_a_curve(cursor: Cursor) -> Raster:
    side = cursor.integer("tiles of a square's side")
    if side < 1 or side & side - 1:
        raise cursor.failure(f"squares of {side} by {side} tiles", "a power of two, which curves go through")
    cursor.take("by", str(side), "tiles along a curve, every second band of them backwards")
    return Raster(side, curve=True)


def _work_list(cursor: Cursor, *, clusters: bool) -> WorkList:
    workers = None
    if not cursor.took("as many blocks as run at once"):
        workers = cursor.integer("a number of blocks, or 'as many blocks as run at once'")
        if workers < 1:
            raise cursor.failure(f"{workers} blocks", "one at least")
        cursor.take("blocks")
    cursor.take(": of W clusters number w takes clusters of" if clusters else ": of W number w takes")
    cursor.take("tiles w, w + W, ...")
    return WorkList(workers, line=cursor.line.place)


def _streamed(cursor: Cursor, walked: WorkList | None) -> WorkList:
    """`streamed: tiles of floor((K + 15)/16) slabs, ...`, below the line that tells who walks them."""
    if walked is None:
        raise cursor.failure("no blocks that stay share these tiles", "a line 'walked by N blocks: ...' before")
    cursor.take("streamed: tiles of")
    slabs = quotient(cursor)
    cursor.take("slabs, those of T mod W and one whole round shared evenly")
    return evolve(walked, slabs=slabs, line=cursor.line.place)


def _grid_dim(cursor: Cursor) -> GridDim:
    variable = cursor.name("a tile index, or the order of the blocks")
    cursor.take("=", "0", "..")
    last = quotient(cursor)
    if last.divisor == 1:
        count = Quotient(last.numerator + 1, 1)
    else:
        cursor.take("-", "1")
        count = last
    cluster = cursor.integer("blocks of a cluster") if cursor.took(", clusters of") else 1
    return GridDim(variable, count, cluster)


def buffer(line: Line) -> Buffer:
    """Name, space, element and extent of a buffer; below it the line of its layout or distribution."""
    cursor = line.cursor()
    name, array = cursor.name("a buffer's name"), cursor.name("the array that it holds tiles of")
    cursor.take("in")
    space, element = cursor.chosen(SPACES, "where it lives"), cursor.chosen(ELEMENTS, "an element type")
    if space is Space.GLOBAL:
        line.alone()
        extents = listed(cursor)
        cursor.take("strides")
        strides = listed(cursor)
        placed = GlobalPlacement(extents, strides, listed(cursor) if cursor.took("below") else ())
        cursor.end()
        return Buffer(name, array, element, space, (), 1, placed)
    shape = cursor.box()
    cursor.take("x")
    depth = cursor.integer("how many slots")
    cursor.take(",")
    cursor.integer()
    alias = ""
    if space is Space.SHARED:
        cursor.take("bytes")
        alias = cursor.name("the buffer below") if cursor.took(", over") else ""
    else:
        cursor.take("values a lane")
    cursor.end()
    if len(line.below) != 1:
        raise cursor.failure(f"{name} lacks its layout", "one line below it: offsets, or values, lanes and warps")
    inner = line.below[0].cursor()
    held = layout(inner, shape) if space is Space.SHARED else distribution(inner, shape)
    return Buffer(name, array, element, space, shape, depth, held, alias)


def ring(line: Line) -> Ring:
    """`A.shared x 4: full by 1 arrival and 16384 bytes, empty by 2`; `2 or 4` where blocks of a cluster differ."""
    line.alone()
    cursor = line.cursor()
    name = cursor.label("a ring's name")
    cursor.take("x")
    depth = cursor.integer("how many slots")
    cursor.take(": full by 1 arrival and")
    byte_count = cursor.integer("the bytes of a filling")
    cursor.take("bytes, empty by")
    counts = [cursor.integer("arrivals") for _ in cursor.separated("or")]
    cursor.end()
    by_rank = tuple(counts) if len(counts) > 1 else ()
    return evolve(Ring(name, depth, byte_count, counts[0], by_rank), line=line.place)


def tensor_box(line: Line) -> TensorBox:
    """`A_shared_map for A.shared: A in boxes of 64x128 over d1, d0, swizzled over 128 bytes`, and behind it
    `, to the end of the group along d0`, `, 256 bytes at once to L2` and `, fetched early` where that is so."""
    line.alone()
    cursor = line.cursor()
    name = cursor.name("a tensor map's name")
    cursor.take("for")
    op = cursor.name("the op that goes by it")
    cursor.take(":")
    array = cursor.name("an array")
    cursor.take("in boxes of")
    extents = cursor.box()
    cursor.take("over")
    order: list[int] = []
    while not cursor.took("swizzled over"):
        order.append(cursor.dimension())
        cursor.take(",")
    span = cursor.integer("bytes")
    cursor.take("bytes")
    bounded = cursor.dimension() if cursor.took(", to the end of the group along") else None
    early = cursor.took(", fetched early")
    promotion = 0
    if not early and cursor.took(","):
        promotion = cursor.integer("how many bytes come to L2 at once")
        cursor.take("bytes at once to L2")
        early = cursor.took(", fetched early")
    cursor.end()
    return TensorBox(name, op, array, tuple(order), extents, span, promotion, early, bounded, line=line.place)


def workspace(line: Line) -> Workspace:
    """`AB_sums: 4096 of f32 a tile`, or `a launch`, and behind it `, zero before and after` where it is."""
    line.alone()
    cursor = line.cursor()
    name = cursor.name("the name of a workspace")
    cursor.take(":")
    elements = cursor.integer("elements of a tile")
    cursor.take("of")
    element = cursor.chosen(ELEMENTS, "an element type")
    single = cursor.took("a launch")
    if not single:
        cursor.take("a", "tile")
    zeroed = cursor.took(", zero before and after")
    cursor.end()
    return Workspace(name, element, elements, zeroed, single, line=line.place)
