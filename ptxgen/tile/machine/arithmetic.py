"""Expressions on numpy: float32, one rounding per node, in the order of the tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from ptxgen.compute import (
    Binary,
    BinaryOp,
    Comparison,
    Constant,
    Element,
    Expression,
    Load,
    Operand,
    Round,
    Scalar,
    Select,
    Unary,
    UnaryOp,
    walk,
)
from ptxgen.tile.machine.faults import MachineFault
from ptxgen.tile.nodes import MultiplyRow

Floats = NDArray[np.float32]
Numbers = NDArray[np.generic]


def evaluate_expression(node: Expression, operand: Callable[[int], Floats], scalars: Mapping[str, float]) -> Floats:
    """The value of `node`, with `operand(i)` for Operand(i), asked at most once each and only where it is needed: of a
    selection whose condition is the same for all elements only the side taken is evaluated. EXP2 is the correctly
    rounded value, RECIPROCAL 1/x rounded once."""
    held: dict[int, Floats] = {}

    def value(inner: Expression) -> Floats:
        match inner:
            case Constant(number):
                return np.asarray(number, np.float32)
            case Scalar(name):
                return np.asarray(given(name, scalars), np.float32)
            case Operand(index):
                if index not in held:
                    held[index] = operand(index)
                return held[index]
            case Binary(op, left, right):
                return binary(op, value(left), value(right))
            case Unary(op, argument):
                return unary(op, value(argument))
            case Round(argument, element):
                return rounded(value(argument), element)
            case Select(comparison, left, right, then, otherwise):
                chosen = compare(comparison, value(left), value(right))
                if is_uniform(left) and is_uniform(right):
                    return value(then) if chosen else value(otherwise)
                return np.where(chosen, value(then), value(otherwise))
            case Load(array, _):
                raise MachineFault("tile.shape", f"a tile expression reads array {array} and not an operand", None)
            case _:
                raise TypeError(f"not an expression node: {inner!r}")

    with np.errstate(all="ignore"):
        return value(node)


def given(name: str, scalars: Mapping[str, float]) -> float:
    """The scalar of that name."""
    if name not in scalars:
        raise MachineFault("tile.unbound", f"the launch gives no scalar {name}", None)
    return scalars[name]


def is_uniform(node: Expression) -> bool:
    """Whether `node` is the same for all elements whatever they hold."""
    return not any(isinstance(inner, Operand | Load) for inner in walk(node))


def binary(op: BinaryOp, left: Floats, right: Floats) -> Floats:
    """One rounded operation."""
    match op:
        case BinaryOp.ADD:
            return np.add(left, right)
        case BinaryOp.SUBTRACT:
            return np.subtract(left, right)
        case BinaryOp.MULTIPLY:
            return np.multiply(left, right)
        case BinaryOp.DIVIDE:
            return np.divide(left, right)
        case BinaryOp.MINIMUM:
            return np.fmin(left, right)
        case BinaryOp.MAXIMUM:
            return np.fmax(left, right)
        case _:
            assert_never(op)


def unary(op: UnaryOp, value: Floats) -> Floats:
    """One rounded function."""
    match op:
        case UnaryOp.NEGATE:
            return np.negative(value)
        case UnaryOp.EXP2:
            return np.asarray(np.exp2(value.astype(np.float64)), np.float32)
        case UnaryOp.RECIPROCAL:
            return np.divide(np.float32(1.0), value)
        case _:
            assert_never(op)


def compare(comparison: Comparison, left: Floats, right: Floats) -> NDArray[np.bool_]:
    """An ordered comparison: false where an operand is NaN."""
    match comparison:
        case Comparison.LESS:
            return np.asarray(left < right)
        case Comparison.LESS_EQUAL:
            return np.asarray(left <= right)
        case Comparison.NOT_EQUAL:
            return np.asarray((left < right) | (left > right))
        case _:
            assert_never(comparison)


def rounded(value: Floats, element: Element) -> Floats:
    """`value` as `element` holds it, nearest even."""
    match element:
        case Element.F32:
            return value
        case Element.F16:
            return value.astype(np.float16).astype(np.float32)
        case Element.S32:
            raise MachineFault("tile.shape", "an expression rounds to s32; it may round to f16 and f32", None)
        case _:
            assert_never(element)


def accumulated(sums: Numbers, left: Numbers, right: Numbers, row: MultiplyRow) -> Floats:
    """Sums plus a matrix product in f32, k ascending; f16 sums are rounded after each instruction's k."""
    total = sums.astype(np.float32)
    a, b = left.astype(np.float32), right.astype(np.float32)
    with np.errstate(all="ignore"):
        for place in range(a.shape[1]):
            total += a[:, place, None] * b[place]
            if row.accumulate is Element.F16 and (place + 1) % row.k == 0:
                total = total.astype(np.float16).astype(np.float32)
    return total
