"""Uniform conditions, and the two sides of a When."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from polyhedral import Constraint
from ptxgen.build import Value
from ptxgen.lower.context import Context
from ptxgen.lower.moving import MovingSlot
from ptxgen.tile import Node, When

LowerNode: TypeAlias = Callable[[Context, Node], None]


def lower_when(context: Context, node: When, lower_node: LowerNode) -> None:
    """Runs one side; a condition known now leaves only that side."""
    condition = condition_of(context, node.conditions)
    if isinstance(condition, bool):
        chosen = node.then if condition else node.otherwise
        if chosen is not None:
            lower_node(context, chosen)
        return
    with context.k.when(condition):
        _side(context, node.then, lower_node)
    if node.otherwise is not None:
        with context.k.otherwise():
            _side(context, node.otherwise, lower_node)


def _side(context: Context, node: Node, lower_node: LowerNode) -> None:
    """One side; behind it the moving shared addresses of the loop around stand where they stood before."""
    slots = [(each, each.slot) for each in context.moving.values() if isinstance(each, MovingSlot)]
    with context.frame():
        lower_node(context, node)
    for each, slot in slots:
        each.bring(context.k, slot)


def condition_of(context: Context, constraints: tuple[Constraint, ...]) -> Value | bool:
    """The predicate that all constraints hold, or what is known of it now."""
    predicate: Value | None = None
    for constraint in constraints:
        affine = context.resolved(constraint.affine)
        if affine.is_constant:
            if not Constraint(affine, constraint.equality).holds({}):
                return False
            continue
        wide = context.is_wide(affine)
        left = context.wide_integer(affine) if wide else context.integer(affine)
        compare = f"setp.{'eq' if constraint.equality else 'ge'}"
        kind = "s64" if wide else "s32"
        if predicate is None:
            predicate = context.k.function(f"{compare}.{kind}")(left, 0)
        else:
            predicate = context.k.function(f"{compare}.and.{kind}")(left, 0, predicate)
    return True if predicate is None else predicate
