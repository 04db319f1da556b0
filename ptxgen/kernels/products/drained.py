"""On what depends that results leave through shared memory as a tiling asks, whatever the arrays are."""

from __future__ import annotations

from ptxgen.compute import Element
from ptxgen.kernels.products.alignment import UNIT_BYTES
from ptxgen.kernels.products.case import Case, Condition, stated
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.drain import (
    LEAST_SPAN,
    SPANS,
    fitting,
    fitting_rows,
    placed,
    room_beside,
    row_bytes,
    spans_boxes,
)
from ptxgen.kernels.products.epilogue import Residual
from ptxgen.kernels.products.rings import ring_bytes
from ptxgen.kernels.products.split import slices_tiles
from ptxgen.kernels.products.tiling import GROUP_ROWS, MatmulTiling
from ptxgen.tile import is_power

LEAST_DRAINED_ROWS = 8
WARP_LANES = 32


def _pieces(case: Case) -> int:
    """The extent of the pieces that results are asked to leave in: columns by warpgroups, else rows."""
    tiling = case.tiling
    return tiling.piece_columns(tiling.drain) if case.by_groups else min(tiling.drain, tiling.warp_tile[0])


def _finds_room(case: Case) -> bool:
    """Whether pieces of all results have a place in shared memory."""
    spec, tiling, (of_a, both) = case.spec, case.tiling, ring_bytes(case.spec, case.tiling)
    room = room_beside(case.target, both)
    if not case.by_groups:
        lent = 0 if tiling.boxed and tiling.workers else of_a
        rows = tiling.warp_tile[0]
        for element in case.spec.results:
            row = row_bytes((tiling.i, tiling.j), rows, element)
            own = fitting_rows(_pieces(case), row, max(room, lent))
            if not own:
                return False
            room -= 0 if own * row <= lent else own * row
        return True
    rows, columns, brought = tiling.i, _pieces(case), _brought(spec, tiling)
    boxed, depth = _boxed(spec), tiling.drain_depth * tiling.units
    if tiling.workers is not None or brought:
        columns = fitting(columns, rows, room, depth=depth, leaving=boxed, brought=brought)
    room -= sum(count * rows * columns * element.byte_count for element, count in brought)
    wanted = [depth * rows * columns * element.byte_count for element in boxed]
    return None not in placed(wanted, room, of_a if tiling.workers is None else 0)


def _piece_rows(case: Case) -> int:
    """The rows of a block in the pieces of all its warps."""
    return _pieces(case) * (case.tiling.i // case.tiling.warp_tile[0])


def _is_shared_out(case: Case, element: Element) -> bool:
    """Whether each thread has 16 bytes of a piece, or a whole row of it where that is less."""
    row = case.tiling.j * element.byte_count
    return _piece_rows(case) * row >= min(row, UNIT_BYTES) * WARP_LANES * case.tiling.warps


def _boxed(spec: MatmulSpec) -> list[Element]:
    """The results that tensor copies can store."""
    return [element for element in spec.results if element in SPANS]


def _brought(spec: MatmulSpec, tiling: MatmulTiling) -> list[tuple[Element, int]]:
    """The residuals of which pieces are brought, and how many of each."""
    ahead = tiling.residual_depth if tiling.piecewise and not tiling.swap else 0
    return [(piece.element, ahead) for piece in spec.epilogue if isinstance(piece, Residual) and ahead]


POWER_OF_PIECES = stated(
    lambda case: is_power(case.tiling.drain), "pieces have a power of two as extent", "32, 64 or 128"
)
UNSLICED = stated(
    lambda case: not slices_tiles(case.spec, case.tiling, case.target),
    "blocks of a cluster that join their sums store a slice of the tile each, from registers",
    "0",
)
DRAINED_BY_ROWS = stated(
    lambda case: case.by_groups or case.tiling.drain >= LEAST_DRAINED_ROWS,
    f"a warp holds {LEAST_DRAINED_ROWS} rows in one step",
    f"{LEAST_DRAINED_ROWS} or more",
)
LONG_PIECES = Condition(
    lambda case: not case.by_groups or all(spans_boxes(element, _pieces(case)) for element in _boxed(case.spec)),
    lambda case: (
        f"tensor copies store {LEAST_SPAN} bytes of a row at least, a tile of {case.tiling.i}x{case.tiling.j} is "
        f"cut into pieces of {_pieces(case)} columns"
    ),
    lambda case: "64, and columns of which that is a divisor",
)
STORED_BOXED = Condition(
    lambda case: not case.by_groups or bool(_boxed(case.spec)),
    lambda case: (
        f"tensor copies store pieces of {', '.join(map(str, SPANS))}, not of "
        + ", ".join(str(element) for element in case.spec.results if element not in SPANS)
    ),
    lambda case: "0",
)
WHOLE_GROUP_PIECES = stated(
    lambda case: not (case.by_groups and case.tiling.swap) or case.tiling.drain % GROUP_ROWS == 0,
    f"with swap a warpgroup has {GROUP_ROWS} columns of the result",
    f"a multiple of {GROUP_ROWS}",
)
SHARED_PIECES = Condition(
    lambda case: case.by_groups or all(_is_shared_out(case, element) for element in case.spec.results),
    lambda case: (
        f"pieces of {_pieces(case)} rows of a warp, {_piece_rows(case)}x{case.tiling.j} in all, have less than "
        f"{UNIT_BYTES} bytes for each thread of {case.tiling.warps} warps"
    ),
    lambda case: "more rows, fewer warps or 0",
)
ROOM_FOR_PIECES = stated(
    _finds_room, "rings and pieces of results do not fit shared memory together", "smaller pieces, a shorter ring or 0"
)
PIECES = (
    POWER_OF_PIECES, UNSLICED, STORED_BOXED, LONG_PIECES, DRAINED_BY_ROWS, WHOLE_GROUP_PIECES, SHARED_PIECES,
    ROOM_FOR_PIECES,
)  # fmt: skip
