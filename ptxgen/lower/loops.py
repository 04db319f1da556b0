"""Loops: addresses are initialised before the first round and moved on at the end of each."""

from __future__ import annotations

from collections.abc import Callable

from isa.types import s32
from polyhedral import Affine, const
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.context import Context
from ptxgen.lower.moving import start
from ptxgen.lower.wanted import wanted_in
from ptxgen.tile import Loop, Node, Quotient

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
    end = context.integer(last)
    counter = k.register(s32, context.integer(first))
    position = context.symbol(loop.variable, counter)
    with context.bound(loop.variable, position):
        moving = start(context, wanted_in(context, loop.body), position.names[0], loop.step, first)
        with k.loop() as rounds, context.frame(moving):
            lower_node(context, loop.body)
            for each in moving.values():
                each.finish_round(context)
            k.add.s32(counter, loop.step, into=counter)
            rounds.while_(k.setp.le.s32(counter, end))
