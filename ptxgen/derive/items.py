"""Blocks that walk a work list: the same ops inside a loop over its items.

The tile of an item stays what it is for a block of its own, a parameter; the loop only orders. Registers and what
threads of a role share start anew in each item, so that requirements between items follow as between the iterations of
any outer loop. Rings that transactions fill go on (`counting.py`).
"""

from __future__ import annotations

from attrs import evolve

from polyhedral import Set, System, const, var
from ptxgen.errors import InternalError
from ptxgen.order.ops import Op, Time
from ptxgen.tile import ForEachItem, Let, Loop, Node, Quotient, Sequence, When

ITEM, ITEMS = "item", "items"
ITEM_LOOP = "t0"


def over_items(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    """The ops in a loop over work items around all else."""
    return tuple(map(_inside, ops))


def _inside(op: Op) -> Op:
    items = (var(ITEM) >= 0, var(ITEM) < var(ITEMS))
    domain = Set((ITEM, *op.domain.dims), tuple(piece & System.of(*items) for piece in op.domain.pieces))
    time = Time((ITEM, *op.time.loops), (0, *op.time.ahead), (0, *op.time.place))
    return evolve(op, domain=domain, time=time)


def walking(tree: Node) -> Node:
    """The scanned tree of a role with its loop over work items as such."""
    match tree:
        case Loop(variable, lower, upper, 1, body) if variable == ITEM_LOOP:
            if (lower, upper) != ((Quotient(const(0), 1),), (Quotient(var(ITEMS) - 1, 1),)):
                raise InternalError(f"the loop over work items runs from {lower} to {upper}")
            return ForEachItem(variable, body)
        case Sequence(children):
            return Sequence(tuple(map(walking, children)))
        case Let() | Loop():
            return evolve(tree, body=walking(tree.body))
        case When(conditions, then, otherwise):
            return When(conditions, walking(then), otherwise and walking(otherwise))
        case _:
            return tree
