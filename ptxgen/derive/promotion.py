"""Sums that are kept in short chains: the registers of a chain, and the op that adds a complete one to the total."""

from __future__ import annotations

from attrs import evolve, frozen

from isa.mechanisms import REGISTERS
from polyhedral import Affine, const
from ptxgen.compute import Binary, BinaryOp, Element, Operand, Statement
from ptxgen.derive.draft import Draft, op, whole
from ptxgen.derive.loops import Path
from ptxgen.derive.operands import Product
from ptxgen.derive.staging import rank_of
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op, Touch, TouchKind
from ptxgen.plan import Rewrite
from ptxgen.tile import Buffer, Iteration, Map, MapOperand


def promoted_every(draft: Draft, statement: Statement) -> int | None:
    """After how many terms the plan has a sum's chains promoted; None where it is one chain."""
    rules = [step.rule for step in draft.space.plan.steps if isinstance(step, Rewrite)]
    return next((rule.every for rule in rules if rule.statement == statement.name), None)


@frozen
class Sums:
    """Where the sums of a product are kept: `added` is what instructions add to, `total` what is left at the end.

    They are the same registers where the sum is one chain. Else a body has `chains` of them one after the other, each
    of `products` multiplications, numbered through all bodies.
    """

    added: Buffer
    total: Buffer
    chains: int = 0
    products: int = 0

    @classmethod
    def of(cls, draft: Draft, work: Product, total: Buffer, body: int, step: int) -> Sums:
        """The sums of a product whose loop body takes `body` terms, `step` in one multiplication.

        `total` has the type of the statement's array. PlanError where a chain is no whole number of multiplications, or
        a body no whole number of chains.
        """
        every = promoted_every(draft, work.statement)
        if every is None:
            return cls(total, total)
        if every % step or body % every:
            raise PlanError(
                f"{work.statement.name} is kept in chains of {every} terms: a multiplication takes {step} of {work.k} "
                f"and a tile {body}; a chain is a multiple of the one and divides the other",
                line=work.step.line,
            )
        chain = evolve(total, name=f"{total.name}.chain", element=work.step.instruction.accumulate)
        return cls(draft.add_buffer(chain), total, body // every, every // step)

    def rank(self, path: Path, number: int) -> Affine:
        """The chain that multiplication `number` of a body adds to."""
        return rank_of(path) * self.chains + number // self.products if self.chains else const(0)

    def is_fresh(self, number: int) -> bool:
        """Whether multiplication `number` of a body starts a chain."""
        return self.chains > 0 and number % self.products == 0

    def is_complete(self, number: int) -> bool:
        """Whether multiplication `number` of a body is the last one of a chain."""
        return self.chains > 0 and (number + 1) % self.products == 0


def promotion(draft: Draft, work: Product, sums: Sums, path: Path, number: int) -> Op:
    """The op that adds the chain which multiplication `number` completes to the total, in f32."""
    statement = work.statement
    if None in work.c.dims:
        raise PlanError(f"{work.c.array}: a constant index into a sum that is kept in chains", line=work.step.line)
    names, rank = work.c.named, sums.rank(path, number)
    ragged = draft.ragged(path, names)
    iteration = Iteration(
        names,
        tuple(draft.origin(path, name) for name in names),
        tuple(map(draft.space.extent, names)),
        sums.total.distribution,
        tuple(place for place, name in enumerate(names) if name in ragged),
    )
    dims = tuple(range(len(names)))
    operands = (MapOperand(whole(sums.total), dims, 1), MapOperand(whole(sums.added, rank), dims, 1))
    value = Binary(BinaryOp.ADD, Operand(0), Operand(1))
    name = f"{statement.name}.promote"
    node = Map(name, iteration, whole(sums.total), dims, value, operands, work.step.line)
    touches = (
        Touch(sums.added, TouchKind.READ, rank),
        Touch(sums.total, TouchKind.READ, const(0)),
        Touch(sums.total, TouchKind.WRITE, const(0)),
    )
    return op(name, path, draft.domain(path), REGISTERS, touches, node, work.step.line, (), (number,))


def summed_type(draft: Draft, work: Product) -> Element:
    """The type of the registers in which a product leaves its sums."""
    chained = promoted_every(draft, work.statement) is not None
    return Element.F32 if chained else work.step.instruction.accumulate
