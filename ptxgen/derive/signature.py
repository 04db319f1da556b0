"""The order of a sum: what decides its bits, whatever copies its operands and whoever multiplies them.

Two kernels with equal signatures give equal bits, where sums are streamed in launches of as many blocks. What a
signature leaves out (tiles, warps, transports, stages) is what bits do not depend on: k always ascends, terms beyond K
are zeros, and zeros change nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from attrs import evolve, frozen

from isa.numerics import Numerics, Rounding, UnsettledNumerics, numerics
from isa.targets import target as target_named
from ptxgen.compute import Element
from ptxgen.derive.cuts import MOST_PARTS, Cut, cut_by
from ptxgen.errors import InternalError
from ptxgen.order.ops import Op
from ptxgen.plan import Plan, cut_of, deal_of, split_step, stream_step
from ptxgen.tile import Multiply, MultiplyRow

UNPACKED_SHAPE = "m16n8k16"


@frozen
class Blocks:
    """Hardware blocks in ascending k: `length` products and the sum so far, each term cut `fraction_bits` below the
    largest, added exactly, rounded once."""

    length: int
    fraction_bits: int
    rounding: Rounding

    def __str__(self) -> str:
        cut = f"each term cut {self.fraction_bits} bits below the largest"
        return f"blocks of {self.length} in ascending k, {cut}, rounded once ({self.rounding.value})"


@frozen
class Fused:
    """Fused multiply-adds in ascending k, to nearest even."""

    def __str__(self) -> str:
        return "fused multiply-adds in ascending k (rn)"


@frozen
class Exact:
    """Integers, exact modulo 2**32: no order matters."""

    def __str__(self) -> str:
        return "exact, modulo 2**32"


@frozen
class Unpacked:
    """Steps of `depth` products in ascending k, as assemblers unpack them: from zero a block of those with k % 4 < 2,
    then one of the rest, by `blocks` in the type of the sums; then the sum so far is added to nearest."""

    depth: int
    blocks: Blocks

    def __str__(self) -> str:
        inner = f"from zero by {self.blocks}"
        return f"steps of {self.depth} in ascending k, in each k % 4 < 2 and then the rest {inner}; steps added (rn)"


@frozen
class Unsettled:
    """Nobody has recorded how the target computes the instruction; its own chain in ascending k, whatever that is."""

    instruction: str
    reason: str

    def __str__(self) -> str:
        return f"as the target's {self.instruction} does it in ascending k ({self.reason})"


Terms: TypeAlias = Blocks | Fused | Exact | Unpacked | Unsettled


@frozen
class SumOrder:
    """The order of the sum of products that fills `statement`: how an instruction joins `terms` of types `inputs` into
    sums of type `chain`, and after how many terms a chain ends and is added to the total in f32 (None: never). Slabs of
    `slab` terms are dealt in turn to `parts` sums apart, which are added in f32 (f64 where chains are) in ascending
    order; with a `cut` each tile's are cut into parts as the launch has them."""

    statement: str
    inputs: tuple[Element, Element]
    chain: Element
    terms: Terms
    promoted: int | None = None
    parts: int = 1
    slab: int | None = None
    cut: Cut | None = None

    @property
    def most_parts(self) -> int:
        """The most sums that are added up to that of one tile."""
        return MOST_PARTS if self.cut else self.parts

    def __str__(self) -> str:
        types = " * ".join(map(str, self.inputs))
        one = "one chain from zero" if self.promoted is None else (
            f"chains of {self.promoted} from zero, each added to f32 (rn) in ascending k"
        )  # fmt: skip
        split = str(self.cut or "not split") if self.parts == 1 else (
            f"slabs of {self.slab} dealt in turn to {self.parts} parts, each from zero, added (rn) in ascending order"
        )  # fmt: skip
        return f"{self.statement}: {types} summed in {self.chain} by {self.terms}; {one}; {split}"


def signature(ops: Iterable[Op], target: str) -> tuple[SumOrder, ...]:
    """The order of every sum of products among the ops of a part, on `target`.

    InternalError where two multiplications of a statement join their terms otherwise, or its chains differ in length.
    """
    products: dict[str, list[Multiply]] = {}
    for op in ops:
        if isinstance(op.node, Multiply):
            products.setdefault(op.name, []).append(op.node)
    return tuple(_order(name, nodes, target) for name, nodes in products.items())


def split_order(order: SumOrder, plan: Plan) -> SumOrder:
    """The order of a sum as the plan splits or streams it."""
    stream = stream_step(plan.steps)
    if stream is not None:
        statement, _ = cut_of(plan.steps, plan.compute.statements, stream)
        return evolve(order, cut=cut_by(plan, stream)) if statement.name == order.statement else order
    step = split_step(plan.steps)
    if step is None:
        return order
    statement, deal = deal_of(plan.compute, plan.steps, step)
    return evolve(order, parts=deal.parts, slab=deal.slab) if statement.name == order.statement else order


def _order(name: str, nodes: list[Multiply], target: str) -> SumOrder:
    orders = {SumOrder(name, (n.row.input, n.row.b_input), n.row.accumulate, terms_of(n.row, target)) for n in nodes}
    lengths: list[int] = []
    for node in nodes:
        if node.fresh:
            lengths.append(0)
        if lengths:
            lengths[-1] += node.row.k * node.repeats[2]
    if len(orders) != 1 or len(set(lengths)) > 1 or (lengths and not nodes[0].fresh):
        found = "; ".join(map(str, orders))
        raise InternalError(f"{name} is summed in several orders: {found}, chains of {lengths}")
    return evolve(orders.pop(), promoted=lengths[0] if lengths else None)


def terms_of(row: MultiplyRow, target: str) -> Terms:
    """How a target's instruction joins its terms (isa.numerics)."""
    match row.accumulate:
        case Element.S32:
            return Exact()
        case Element.F64:
            return Fused()
        case _:
            pass
    on, opcode, label = target_named(target), "wgmma" if row.warpgroup else "mma", row.input.label
    try:
        if on.number == 90 and not row.warpgroup and row.input.bits == 8:
            return Unpacked(row.k, _blocks(row, numerics(on, opcode, UNPACKED_SHAPE, Element.F16.label)))
        return _blocks(row, numerics(on, opcode, row.shape, label))
    except UnsettledNumerics as error:
        return Unsettled(row.shape, str(error))


def _blocks(row: MultiplyRow, record: Numerics) -> Blocks:
    rounding = record.f16 if row.accumulate is Element.F16 else record.f32
    if rounding is None:
        raise UnsettledNumerics(f"{row.instruction}: no recorded rounding to {row.accumulate}")
    return Blocks(min(record.block, row.k), record.fraction_bits, rounding)
