"""Plans in which warpgroups multiply what tensor copies brought."""

from __future__ import annotations

from ptxgen.kernels.products.alignment import unmapped
from ptxgen.kernels.products.blocks import drain_extent, on_blocks, split
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.drain import by_boxes, fitting, leaving_boxed, room_beside
from ptxgen.kernels.products.epilogue import Axis, Bias, Residual, operand_names
from ptxgen.kernels.products.finish import Finish, fits_beside
from ptxgen.kernels.products.groups import Denial, group_product
from ptxgen.kernels.products.rings import ring_bytes, row_spans
from ptxgen.kernels.products.roles import ROLE_REGISTERS
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Drain, MatrixInstruction, Plan, role, shared, swizzle, tensor, warpgroups

GROUP_LANES, MOST_REGISTERS = 128, 232


def by_warpgroups(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling) -> MatrixInstruction | str:
    """The product of a warpgroup that carries out a plan's tiling, or why none does."""
    product = group_product(spec, tiling, plan.target)
    if isinstance(product, Denial):
        return str(product)
    why = [reason for name in ("A", "B") if (reason := unmapped(plan, name))]
    return product if not why else "; ".join(why)


def plan_by_warpgroups(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling, product: MatrixInstruction) -> Plan:
    """One thread has boxes of both operands copied; warpgroups multiply what has landed and finish it."""
    groups = tiling.warps // 4
    plan = on_blocks(plan.tile("cta", **spec.outer, i=tiling.i, j=tiling.j, k=tiling.k), tiling)
    if tiling.cluster != (1, 1):
        plan = plan.cluster(i=tiling.cluster[0], j=tiling.cluster[1])
    plan = plan.tile("group", **{"j" if tiling.swap else "i": tiling.group_rows}).place("group", onto=warpgroups)
    for name, span in row_spans(spec, tiling).items():
        plan = plan.stage(name, at="cta.k", into=shared(tiling.depth, swizzle(span)), by=tensor)
    finish = _finish(plan, spec, tiling)
    plan = finish.tiled(plan)
    budgets = ROLE_REGISTERS.get(groups, (None, None))
    each = groups if tiling.turns else 0
    math = role(warpgroups=each, registers=budgets[1])
    plan = plan.roles(**finish.roles(("A.shared", "B.shared"), budgets[0]), math=math)
    window = min(1, tiling.depth - 1) if tiling.prefetch and not spec.promote else 0
    plan = plan.multiply("AB", product, at="group", in_flight=window, rows="j" if tiling.swap else None)
    if tiling.turns:
        plan = plan.turns("math", "cta", "AB", *finish.in_turn(plan), split_items=True)
    plan = split(finish.finished(plan), spec, tiling)
    of_a, both = ring_bytes(spec, tiling)
    rings, rows = (of_a, both + finish.brought_bytes(plan, tiling.i)), tiling.i * tiling.units
    over = tiling.workers is None
    plan = by_boxes(plan, finish.columns, rows, rings, depth=tiling.drain_depth, may_lie_over=over)
    plan = _hinted(plan, tiling)
    return plan.isolate("cta") if tiling.isolates else plan


def _finish(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling) -> Finish:
    """How the statements behind the product are finished: in whole tiles or in the pieces in which they leave."""
    wished = tiling.piece_columns(drain_extent(plan, spec, tiling))
    if not tiling.piecewise or not wished or spec.totals:
        return Finish(_columns(plan, spec, tiling, wished, {}))
    named = zip(spec.epilogue, operand_names(spec.epilogue), strict=True)
    read = {name: piece for piece, name in named if name and isinstance(piece, (Residual, Bias))}
    boxed = [name for name, piece in read.items() if isinstance(piece, Residual) and not unmapped(plan, name)]
    brought = dict.fromkeys(boxed, tiling.residual_depth) if tiling.residual_depth and not tiling.swap else {}
    sums = tiling.group_rows * (tiling.i if tiling.swap else tiling.j) // GROUP_LANES
    rest = sorted((name for name in read if name not in brought), key=lambda name: isinstance(read[name], Bias))
    held = {name: _held_of(read[name], sums, tiling) for name in rest}
    budget = ROLE_REGISTERS.get(tiling.warps // 4, (0, MOST_REGISTERS))[1]
    loaded = fits_beside(sums, held, budget)
    return Finish(_columns(plan, spec, tiling, wished, brought), True, brought, loaded)


def _columns(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling, wished: int, brought: dict[str, int]) -> int:
    """The columns of a piece: as many as find room, those wished where pieces may lie over A's ring."""
    if tiling.workers is None and not brought:
        return wished
    _, both = ring_bytes(spec, tiling)
    arriving = [(plan.compute.array(name).element, depth) for name, depth in brought.items()]
    return fitting(
        wished, tiling.i, room_beside(plan.target, both), depth=tiling.drain_depth * tiling.units,
        leaving=leaving_boxed(plan), brought=arriving,
    )  # fmt: skip


def _held_of(piece: Residual | Bias, sums: int, tiling: MatmulTiling) -> int:
    """The registers of a thread that an operand's tile takes, beside so many sums of the same rows and columns."""
    if isinstance(piece, Residual):
        return sums * piece.element.byte_count // 4
    along_columns = (piece.along is Axis.COLUMNS) is not tiling.swap
    return sums * piece.element.byte_count // 8 if along_columns else 2


def _hinted(plan: Plan, tiling: MatmulTiling) -> Plan:
    """What caches are told of the operands, and of results that leave in boxes."""
    boxed = [step for step in plan.steps if isinstance(step, Drain) and step.by == tensor]
    results = [f"{step.array}.global" for step in boxed]
    for ops, wish in zip((["A.shared"], ["B.shared"], results), tiling.evict, strict=True):
        if wish is not None and ops:
            plan = plan.hint(*ops, l2=wish)
    return plan.hint("A.shared", "B.shared", *results, map_early=True) if tiling.maps_early else plan
