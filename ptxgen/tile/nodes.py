"""A role's tree: frozen nodes, whose leaves move, multiply and map whole tiles.

Quantities are affine expressions over parameters, tile indices of the grid ("cta.i") and loop variables. Every node
keeps the user's line that asked for it.
"""

from __future__ import annotations

from attrs import frozen

from polyhedral import Constraint
from ptxgen.tile.leaves import Leaf
from ptxgen.tile.quotient import Quotient
from ptxgen.tile.synchronisation import Synchronisation


@frozen
class Sequence:
    """Its children one after the other."""

    children: tuple[Node, ...]


@frozen
class Loop:
    """`body` for variable = max(lower), max(lower) + step, ... up to and including min(upper)."""

    variable: str
    lower: tuple[Quotient, ...]
    upper: tuple[Quotient, ...]
    step: int
    body: Node


@frozen
class Let:
    """`body` with `variable` = `value`."""

    variable: str
    value: Quotient
    body: Node


@frozen
class When:
    """`then` where every condition holds, else `otherwise`. Conditions are the same for all threads of a block."""

    conditions: tuple[Constraint, ...]
    then: Node
    otherwise: Node | None = None


@frozen
class ForEachItem:
    """`body` for each item of the block's work list in turn: `variable` numbers them from 0, and the grid's variables
    are those of the item's tile. Where the list is streamed, ITEM_FIRST and ITEM_SLABS are its first slab and how many
    it has, BLOCK_NUMBER and BLOCK_COUNT tell of the block. A role that takes some items only has those numbered
    `first`, `first` + `step`, ..."""

    variable: str
    body: Node
    first: int = 0
    step: int = 1


@frozen
class Counter:
    """`body` with `variable`, a number that each role counts for itself: it starts at 0, and `Advance` moves it on."""

    variable: str
    body: Node


Node = Sequence | Loop | Let | When | ForEachItem | Counter | Leaf | Synchronisation
