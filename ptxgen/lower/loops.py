"""Loops: addresses are initialised before the first round and moved on at the end of each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from isa.types import s32
from polyhedral import Affine, const
from ptxgen.build import Value
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.context import Context
from ptxgen.lower.moving import Moving, MovingPointer, start
from ptxgen.lower.turns import MovingTurn, turning, turns_in
from ptxgen.lower.wanted import wanted_in
from ptxgen.tile import (
    Arrive,
    Carrier,
    Copy,
    Counter,
    Expect,
    ForEachItem,
    Let,
    Loop,
    Multiply,
    MultiplyRow,
    Node,
    Quotient,
    Sequence,
    Wait,
    When,
)

LowerNode = Callable[[Context, Node], None]


def lower_loop(context: Context, loop: Loop, lower_node: LowerNode) -> None:
    """Runs the body from the largest lower bound through the smallest upper one; not at all where they cross."""
    first = _joined(context, loop, loop.lower, context.narrow.maximum)
    last = _joined(context, loop, loop.upper, context.narrow.minimum)
    distance = last - first
    if not distance.is_constant:
        entered = context.k.setp.le.s32(*_registers_first(context, first, last))
        with context.k.when(entered), context.frame():
            _rounds(context, loop, first, last, lower_node)
    elif 0 <= distance.constant < loop.step:
        with context.bound(loop.variable, first):
            lower_node(context, loop.body)
    elif distance.constant >= 0:
        with context.frame():
            _rounds(context, loop, first, last, lower_node)


def _registers_first(context: Context, first: Affine, last: Affine) -> tuple[Number, Number]:
    return context.integer(first), context.integer(last)


def _joined(
    context: Context, loop: Loop, bounds: tuple[Quotient, ...], join: Callable[[Number, Number], Number]
) -> Affine:
    """The maximum or minimum of the bounds as an expression over symbols."""
    resolved = [(context.resolved(bound.numerator), bound.divisor) for bound in bounds]
    if len(resolved) == 1 and resolved[0][1] == 1:
        return resolved[0][0]
    total: Number | None = None
    for numerator, divisor in resolved:
        quotient = floor_quotient(context, numerator, divisor)
        total = quotient if total is None else join(total, quotient)
    return const(0) if total is None else context.expression(total, loop.variable)


def floor_quotient(context: Context, numerator: Affine, divisor: int) -> Number:
    """floor(numerator / divisor) of an expression over symbols, s32."""
    return context.once(
        ("quotient", numerator, divisor),
        lambda: context.narrow.floor_quotient(context.integer(numerator), divisor),
    )


def _rounds(context: Context, loop: Loop, first: Affine, last: Affine, lower_node: LowerNode) -> None:
    k = context.k
    counter = k.register(s32)
    position = context.symbol(loop.variable, counter)
    symbol = position.names[0]
    with context.bound(loop.variable, position):
        moving: dict[Hashable, Moving | MovingTurn] = {
            **start(context, wanted_in(context, loop.body), symbol, loop.step, first),
            **turning(context, turns_in(context, loop.body), symbol, loop.step, first),
        }
        counted = loop.step != 1 or asks_for(loop.body, loop.variable)
        closing = None if counted else _closing(context, moving, first, last)
        end = context.integer(last) if closing is None else 0
        if closing is None:
            k.mov.s32(context.integer(first), into=counter)
        with k.loop() as rounds, context.frame(dict(moving)):
            lower_node(context, loop.body)
            for each in moving.values():
                each.finish_round(context)
            if closing is None:
                k.add.s32(counter, loop.step, into=counter)
                rounds.while_(k.setp.le.s32(counter, end))
            else:
                rounds.while_(k.setp.ne.s64(*closing))


def _closing(
    context: Context, moving: Mapping[Hashable, Moving | MovingTurn], first: Affine, last: Affine
) -> tuple[Value, Value] | None:
    """An address that moves by a known number of bytes, and where it stands behind the last round: comparing them
    saves the counter. None where no address moves so."""
    for each in moving.values():
        if isinstance(each, MovingPointer) and isinstance(each.step_bytes, int) and each.step_bytes:
            rounds = context.integer(last - first + 1)
            if isinstance(rounds, int):
                return each.register, context.wide.value(context.wide.add(each.register, rounds * each.step_bytes))
            end: Value = context.k.mad.wide.s32(rounds, each.step_bytes, each.register)
            return each.register, end
    return None


def asks_for(node: Node, variable: str) -> bool:
    """Whether code below `node` may need the value of a loop variable itself, not only addresses that move with it."""
    match node:
        case Sequence(children):
            return any(asks_for(child, variable) for child in children)
        case Loop() | ForEachItem() | Counter():
            return True
        case Let(inner, value, body):
            also = variable in value.numerator.names and asks_for(body, inner)
            return value.divisor != 1 or also or asks_for(body, variable)
        case When(conditions, then, otherwise):
            sides = [side for side in (then, otherwise) if side is not None]
            return any(variable in c.names for c in conditions) or any(asks_for(side, variable) for side in sides)
        case Wait() | Arrive() | Expect():
            return variable in node.rank.names
        case Copy(carrier=Carrier.TENSOR) | Multiply(row=MultiplyRow(warpgroup=True)):
            return True
        case _:
            return False
