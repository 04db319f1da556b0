"""Registers that some path reads before it fills them: they start as zero, so that no path depends on chance.

A loop may run zero times and a When may take its other side; on such paths the values are read by instructions whose
results nobody uses.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from polyhedral import Affine
from ptxgen.lower.registers import constant_slot
from ptxgen.tile import (
    Buffer,
    Copy,
    Counter,
    Fill,
    ForEachItem,
    Let,
    Loop,
    Map,
    Multiply,
    Node,
    Ordering,
    Reduce,
    Region,
    Sequence,
    Space,
    Synchronisation,
    When,
)

Slot: TypeAlias = tuple[str, int]
Bindings: TypeAlias = dict[str, Affine]


class _Use:
    """The slots read before they are surely filled, in order, with their buffers."""

    def __init__(self) -> None:
        self.early: dict[Slot, Buffer] = {}

    def read(self, region: Region, filled: frozenset[Slot], bindings: Bindings) -> None:
        """Notes a read."""
        for slot in _slots(region, bindings) - filled:
            self.early[slot] = region.buffer


def early_reads(body: Node) -> dict[Slot, Buffer]:
    """The slots of register buffers that are read on some path before they are filled there."""
    use = _Use()
    _after(body, frozenset(), {}, use)
    return use.early


def _slots(region: Region, bindings: Bindings) -> frozenset[Slot]:
    if region.buffer.space is not Space.REGISTERS:
        return frozenset()
    return frozenset({(region.buffer.name, constant_slot(region, bindings))})


def _after(node: Node, filled: frozenset[Slot], bindings: Bindings, use: _Use) -> frozenset[Slot]:
    """The slots that are surely filled behind `node`; its early reads go to `use`."""
    match node:
        case Sequence(children):
            for child in children:
                filled = _after(child, filled, bindings, use)
            return filled
        case Let(variable, value, body):
            inner = {**bindings}
            inner.pop(variable, None)
            if value.divisor == 1:
                inner[variable] = value.numerator.substitute(bindings)
            return _after(body, filled, inner, use)
        case Loop(variable, _, _, _, body):
            _after(body, filled, {name: value for name, value in bindings.items() if name != variable}, use)
            return filled
        case ForEachItem(body=body):
            _after(body, filled, bindings, use)
            return filled
        case Counter(variable, body):
            return _after(body, filled, {name: value for name, value in bindings.items() if name != variable}, use)
        case When(_, then, otherwise):
            sides = [_after(side, filled, bindings, use) for side in (then, otherwise) if side is not None]
            return sides[0] & sides[1] if len(sides) == 2 else filled
        case _:
            return _after_leaf(node, filled, bindings, use)


def _after_leaf(
    node: Copy | Fill | Multiply | Map | Reduce | Synchronisation,
    filled: frozenset[Slot],
    bindings: Bindings,
    use: _Use,
) -> frozenset[Slot]:
    match node:
        case Copy(_, source, destination):
            use.read(source, filled, bindings)
            return filled | _slots(destination, bindings)
        case Fill(_, destination):
            return filled | _slots(destination, bindings)
        case Multiply(_, row, c, a, b):
            fresh = node.fresh and not row.warpgroup
            for factor in (a, b) if fresh else (c, a, b):
                use.read(factor.region, filled, bindings)
            return filled | _slots(c.region, bindings) if fresh else filled
        case Map() | Reduce():
            for operand in node.operands:
                use.read(operand.region, filled, bindings)
            if isinstance(node, Map):
                return filled | _slots(node.target, bindings)
            use.read(node.target, filled, bindings)
            return filled
        case Ordering():
            return filled
        case _:
            assert_never(node)
