"""How the results of a product leave: through shared memory where the facts allow it, else from registers."""

from __future__ import annotations

from isa.limits import limits
from isa.targets import target
from ptxgen.compute import Array, ArrayKind, Element
from ptxgen.kernels.alignment import UNIT_BYTES, shown_bytes
from ptxgen.plan import Plan, free, shared, st, stmatrix, swizzle, tensor

LEAST_SPAN = 32
SPANS = {Element.F16: 128, Element.BF16: 128, Element.F32: 32}
DEPTH = 2
BARRIERS_BYTES = 1024
LEAST_ROWS = 16


def by_boxes(
    plan: Plan, columns: int, rows: int, rings: tuple[int, int], *, depth: int = DEPTH, may_lie_over: bool = True
) -> Plan:
    """Every result in pieces of `columns` of a block's `rows`, put by matrices where they are 16 bits wide, and stored
    by tensor copies. `rings` are the bytes that A's and all operands take, `depth` the pieces that are on their way:
    where no room is left, pieces lie over A's, which they may not where another role fills that again.
    """
    room = _room(plan, rings)
    for array in outputs(plan):
        width = array.element.byte_count
        wanted = depth * rows * columns * width
        fits = _leaves_boxed(plan, array, columns) and wanted <= max(room, rings[0] if may_lie_over else 0)
        if not fits:
            plan = plan.drain(array.name, through=None, by=st(16))
            continue
        over = None if wanted <= room else "A.shared"
        room -= 0 if over else wanted
        through = shared(depth, swizzle(span_of(array, columns)), over)
        plan = plan.drain(array.name, through, tensor, {"j": columns}, stmatrix(4) if width == 2 else st(8))
    return plan


def fitting(plan: Plan, columns: int, rows: int, rings: tuple[int, int], *, depth: int, brought: dict[str, int]) -> int:
    """The columns of a piece with which all results find room beside the operands: `columns`, or as many fewer as is
    needed, but no fewer than a swizzle spans; `columns` where none do. `brought` are the pieces held at once of arrays
    that come to the block in the same ones, by name; of them the block has `rows` too."""
    room, own = _room(plan, rings), columns
    while own:
        leaving = [array for array in outputs(plan) if _leaves_boxed(plan, array, own)]
        arriving = [plan.compute.array(name) for name in brought]
        held = sum(depth * rows * own * array.element.byte_count for array in leaving)
        held += sum(brought[array.name] * rows * own * array.element.byte_count for array in arriving)
        if not leaving or any(own * array.element.byte_count < LEAST_SPAN for array in arriving):
            return columns
        if held <= room:
            return own
        own //= 2
    return columns


def span_of(array: Array, columns: int) -> int:
    """The bytes over which rows of a piece are swizzled."""
    return min(SPANS[array.element], columns * array.element.byte_count)


def _room(plan: Plan, rings: tuple[int, int]) -> int:
    """The bytes of shared memory beside the operands."""
    return limits(target(plan.target)).shared_bytes_per_cta - rings[1] - BARRIERS_BYTES


def _leaves_boxed(plan: Plan, array: Array, columns: int) -> bool:
    """Whether tensor copies can store pieces of so many columns of a result."""
    spans = array.element in SPANS and columns * array.element.byte_count >= LEAST_SPAN
    return spans and _is_matrix(plan, array) and shown_bytes(plan, array.name) == UNIT_BYTES


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
    room = _room(plan, rings)
    lent = rings[0] if may_lie_over else 0
    for array in outputs(plan):
        row = DEPTH * block[0] // warp_rows * block[1] * array.element.byte_count
        own = min(rows, warp_rows)
        while own * row > max(room, lent) and own > LEAST_ROWS:
            own //= 2
        fits = 0 < own * row <= max(room, lent)
        if not fits or not _is_matrix(plan, array) or shown_bytes(plan, array.name, rows=True) != UNIT_BYTES:
            plan = plan.drain(array.name, through=None, by=st(16))
            continue
        over = "A.shared" if own * row <= lent else None
        room -= 0 if over else own * row
        plan = plan.drain(array.name, shared(DEPTH, free, over), st(16), {"i": own}, st(16))
    return plan


def outputs(plan: Plan) -> list[Array]:
    return [array for array in plan.compute.arrays if array.kind is ArrayKind.OUTPUT]


def _is_matrix(plan: Plan, array: Array) -> bool:
    """Whether a statement gives the array element by element, not in sums of parts."""
    return not plan.compute.statement(array.name).reduction
