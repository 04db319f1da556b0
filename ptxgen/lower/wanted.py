"""Which addresses the body of a loop uses, so that they can be prepared before it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from polyhedral import var
from ptxgen.lower.context import Context
from ptxgen.lower.copies import copy_wanted
from ptxgen.lower.moving import Wanted
from ptxgen.lower.operands import point_wanted
from ptxgen.lower.transfers import transfer_wanted
from ptxgen.tile import (
    Carrier,
    Copy,
    Counter,
    Fill,
    ForEachItem,
    HandWritten,
    Let,
    Loop,
    Map,
    Multiply,
    Node,
    Ordering,
    Reduce,
    Sequence,
    When,
)


def wanted_in(context: Context, node: Node) -> tuple[Wanted, ...]:
    """The forms that the leaves below `node` use, in order, those of inner loops excepted: they prepare their own.

    Forms that depend on a quotient computed inside are left out; they are computed where they are used.
    """
    found: list[Wanted] = []
    _collect(context, node, found, frozenset())
    return tuple(found)


def _collect(context: Context, node: Node, found: list[Wanted], inner: frozenset[str]) -> None:
    match node:
        case Sequence(children):
            for child in children:
                _collect(context, child, found, inner)
        case Let(variable, value, body) if value.divisor == 1:
            with context.bound(variable, context.resolved(value.numerator)):
                _collect(context, body, found, inner)
        case Let(variable, _, body):
            unknown = f"{variable}?"
            with context.bound(variable, var(unknown)):
                _collect(context, body, found, inner | {unknown})
        case When(_, then, otherwise):
            for side in (then, otherwise):
                if side is not None:
                    _collect(context, side, found, inner)
        case Copy():
            if node.carrier is Carrier.TENSOR:
                return
            prepared = copy_wanted if node.carrier is Carrier.ACCESS else transfer_wanted
            found += _known_outside(prepared(context, node), inner)
        case Map() | Reduce():
            found += _known_outside(point_wanted(context, node), inner)
        case Loop() | ForEachItem() | Counter() | Fill() | Multiply() | HandWritten() | Ordering():
            return
        case _:
            assert_never(node)


def _known_outside(wanted: Iterable[Wanted], inner: frozenset[str]) -> Iterable[Wanted]:
    """Those that depend on none of the names of quotients computed inside."""
    return [each for each in wanted if inner.isdisjoint(each[0].names())] if inner else wanted
