"""How the results of a product leave: through shared memory where the facts allow it, else from registers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from isa.limits import limits
from isa.targets import target as target_named
from ptxgen.compute import Array, ArrayKind, Element
from ptxgen.kernels.products.alignment import UNIT_BYTES, shown_bytes
from ptxgen.plan import Plan, free, shared, st, stmatrix, swizzle, tensor

LEAST_SPAN = 32
SPANS = {Element.F16: 128, Element.BF16: 128, Element.F32: 32}
DEPTH = 2
BARRIERS_BYTES = 1024
LEAST_ROWS = 16
Brought = Sequence[tuple[Element, int]]


def by_boxes(
    plan: Plan, columns: int, rows: int, rings: tuple[int, int], *, depth: int = DEPTH, may_lie_over: bool = True
) -> Plan:
    """Every result in pieces of `columns` of a block's `rows`, put by matrices where they are 16 bits wide, and stored
    by tensor copies. `rings` are the bytes that A's and all operands take, `depth` the pieces that are on their way:
    where no room is left, pieces lie over A's, which they may not where another role fills that again.
    """
    leaving = [a for a in outputs(plan) if _is_mapped(plan, a) and spans_boxes(a.element, columns)]
    wanted = [depth * rows * columns * array.element.byte_count for array in leaving]
    found = placed(wanted, room_beside(plan.target, rings[1]), rings[0] if may_lie_over else 0)
    places = dict(zip((array.name for array in leaving), found, strict=True))
    for array in outputs(plan):
        over = places.get(array.name)
        if over is None:
            plan = plan.drain(array.name, through=None, by=st(16))
            continue
        through = shared(depth, swizzle(span_of(array, columns)), "A.shared" if over else None)
        by = stmatrix(4) if array.element.byte_count == 2 else st(8)
        plan = plan.drain(array.name, through, tensor, {"j": columns}, by)
    return plan


def placed(wanted: Iterable[int], room: int, lent: int) -> Iterator[bool | None]:
    """Of pieces of so many bytes, one after the other: whether each lies over the `lent` bytes of A's ring, since the
    `room` beside the operands that those before it left is too small; None where it fits into neither."""
    for size in wanted:
        over = size > room
        yield None if size > max(room, lent) else over
        room -= 0 if over else size


def fitting(columns: int, rows: int, room: int, *, depth: int, leaving: Sequence[Element], brought: Brought) -> int:
    """The columns of a piece with which all results `leaving` by boxes find room beside the operands: `columns`, or as
    many fewer as is needed, but no fewer than a swizzle spans; `columns` where none do. `brought` are the pieces held
    at once of arrays that come to the block in the same ones; of them the block has `rows` too."""
    own = columns
    while own:
        boxed = [(element, depth) for element in leaving if spans_boxes(element, own)]
        held = sum(count * rows * own * element.byte_count for element, count in (*boxed, *brought))
        if not boxed or any(own * element.byte_count < LEAST_SPAN for element, _ in brought):
            return columns
        if held <= room:
            return own
        own //= 2
    return columns


def span_of(array: Array, columns: int) -> int:
    """The bytes over which rows of a piece are swizzled."""
    return min(SPANS[array.element], columns * array.element.byte_count)


def room_beside(target: str, operand_bytes: int) -> int:
    """The bytes of a block's shared memory beside its operands."""
    return limits(target_named(target)).shared_bytes_per_cta - operand_bytes - BARRIERS_BYTES


def spans_boxes(element: Element, columns: int) -> bool:
    """Whether tensor copies can store pieces of so many columns of an element."""
    return element in SPANS and columns * element.byte_count >= LEAST_SPAN


def leaving_boxed(plan: Plan) -> list[Element]:
    """The elements of the results that the facts let leave by tensor copies."""
    return [array.element for array in outputs(plan) if _is_mapped(plan, array)]


def _is_mapped(plan: Plan, array: Array) -> bool:
    return _is_matrix(plan, array) and shown_bytes(plan, array.name) == UNIT_BYTES


def by_rows(
    plan: Plan,
    rows: int,
    block: tuple[int, int],
    warp_rows: int,
    rings: tuple[int, int],
    *,
    may_lie_over: bool = True,
) -> Plan:
    """Every result in pieces of `rows` of each warp's tile at most, read back and stored in whole rows. `rings` are the
    bytes that A's and all operands take: pieces lie over A's where they fit and may, else beside; smaller ones where
    neither.
    """
    room = room_beside(plan.target, rings[1])
    lent = rings[0] if may_lie_over else 0
    for array in outputs(plan):
        row = row_bytes(block, warp_rows, array.element)
        own = fitting_rows(min(rows, warp_rows), row, max(room, lent))
        if not own or not _is_matrix(plan, array) or shown_bytes(plan, array.name, rows=True) != UNIT_BYTES:
            plan = plan.drain(array.name, through=None, by=st(16))
            continue
        over = "A.shared" if own * row <= lent else None
        room -= 0 if over else own * row
        plan = plan.drain(array.name, shared(DEPTH, free, over), st(16), {"i": own}, st(16))
    return plan


def row_bytes(block: tuple[int, int], warp_rows: int, element: Element) -> int:
    """The bytes of pieces of one row of each warp of a block."""
    return DEPTH * block[0] // warp_rows * block[1] * element.byte_count


def fitting_rows(rows: int, row: int, room: int) -> int:
    """The rows of a piece, `rows` or as many fewer as find room, so many bytes each; 0 where not even the least do."""
    while rows * row > room and rows > LEAST_ROWS:
        rows //= 2
    return rows if rows * row <= room else 0


def outputs(plan: Plan) -> list[Array]:
    return [array for array in plan.compute.arrays if array.kind is ArrayKind.OUTPUT]


def _is_matrix(plan: Plan, array: Array) -> bool:
    """Whether a statement gives the array element by element, not in sums of parts."""
    return not plan.compute.statement(array.name).reduction
