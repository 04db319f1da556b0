"""Blocks that walk a work list: the same ops inside a loop over its items.

The tile of an item stays what it is for a block of its own, a parameter; the loop only orders. Registers and what
threads of a role share start anew in each item, so that requirements between items follow as between the iterations of
any outer loop. Rings that transactions fill go on: their tiles are numbered through all items.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from isa.mechanisms import Transaction
from polyhedral import Affine, Set, System, const, var
from ptxgen.derive.regions import rewritten
from ptxgen.errors import InternalError
from ptxgen.order.atoms import Advance
from ptxgen.order.ops import Op, Time, Touch, TouchKind
from ptxgen.order.synchronisation import Synchronised
from ptxgen.tile import Counter, ForEachItem, Let, Loop, Node, Quotient, Region, Sequence, When

ITEM, ITEMS = "item", "items"
ITEM_LOOP = "t0"


def over_items(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    """The ops in a loop over work items around all else."""
    through = {
        touch.buffer.name
        for op in ops
        if isinstance(op.mechanism.completes, Transaction)
        for touch in op.touches
        if touch.kind is TouchKind.WRITE
    }
    return tuple(_inside(op, through) for op in ops)


def _inside(op: Op, through: set[str]) -> Op:
    loops = (ITEM, *op.domain.dims)
    items = (var(ITEM) >= 0, var(ITEM) < var(ITEMS))
    domain = Set(loops, tuple(piece & System.of(*items) for piece in op.domain.pieces))
    time = Time((ITEM, *op.time.loops), (0, *op.time.ahead), (0, *op.time.place))
    inner = op.time.loops[0] if op.time.loops else ""
    counter = f"{inner}.past" if inner else ""
    touches = tuple(_counted(touch, counter) if touch.buffer.name in through else touch for touch in op.touches)
    moved = {t.buffer.name: n.rank - t.rank for t, n in zip(op.touches, touches, strict=True) if n != t}
    return evolve(op, domain=domain, time=time, touches=touches, node=renumbered(op.node, moved))


def _counted(touch: Touch, counter: str) -> Touch:
    """A use of a ring whose tiles are numbered through all items: behind those of the items before, of which there is
    one each where no loop lies between."""
    before = var(counter) if counter else var(ITEM)
    return evolve(touch, rank=touch.rank + before, counter=counter)


def renumbered(node: Node, moved: Mapping[str, Affine]) -> Node:
    """A leaf whose tiles of these buffers have numbers that are so much larger."""

    def region(found: Region) -> Region:
        return evolve(found, rank=found.rank + moved[found.buffer.name]) if found.buffer.name in moved else found

    return rewritten(node, region, lambda affine: affine)


def walking(tree: Node, synchronised: Synchronised, role: str) -> Node:
    """The scanned tree of a role with its loop over work items as such, and the counters of the role around it."""
    body = _for_each_item(tree)
    counters = {a.atom.counter: None for a in synchronised.atoms if a.role == role and isinstance(a.atom, Advance)}
    for counter in counters:
        body = Counter(counter, body)
    return body


def _for_each_item(tree: Node) -> Node:
    match tree:
        case Loop(variable, lower, upper, 1, body) if variable == ITEM_LOOP:
            if (lower, upper) != ((Quotient(const(0), 1),), (Quotient(var(ITEMS) - 1, 1),)):
                raise InternalError(f"the loop over work items runs from {lower} to {upper}")
            return ForEachItem(variable, body)
        case Sequence(children):
            return Sequence(tuple(map(_for_each_item, children)))
        case Let() | Loop():
            return evolve(tree, body=_for_each_item(tree.body))
        case When(conditions, then, otherwise):
            return When(conditions, _for_each_item(then), otherwise and _for_each_item(otherwise))
        case _:
            return tree
