"""Expressions on numpy: float32 or float64, one rounding per node, in the order of the tree."""

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
from ptxgen.tile.leaves import MultiplyRow
from ptxgen.tile.machine.faults import MachineFault
from ptxgen.tile.machine.numbers import Floats, Numbers, narrowed, widened


def evaluate_expression(
    node: Expression,
    operand: Callable[[int], Floats],
    scalars: Mapping[str, float],
    kind: type[np.floating] = np.float32,
) -> Floats:
    """The value of `node` in arithmetic of `kind`, with `operand(i)` for Operand(i), asked at most once each and only
    where it is needed: of a selection whose condition is the same for all elements only the side taken is evaluated.
    EXP2 is the correctly rounded value, RECIPROCAL 1/x rounded once; subnormal numbers of f32 are zero to both."""
    held: dict[int, Floats] = {}

    def value(inner: Expression) -> Floats:
        match inner:
            case Constant(number):
                return np.asarray(np.float32(number), kind)
            case Scalar(name):
                return np.asarray(np.float32(given(name, scalars)), kind)
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
            return flushed(np.asarray(np.exp2(flushed(value).astype(np.float64)), value.dtype))
        case UnaryOp.RECIPROCAL:
            return flushed(np.asarray(np.divide(value.dtype.type(1.0), flushed(value))))
        case _:
            assert_never(op)


def flushed(value: Floats) -> Floats:
    """Zeros of the same sign for subnormal numbers of f32."""
    if value.dtype != np.float32:
        return value
    return np.where(np.abs(value) < np.finfo(np.float32).tiny, np.copysign(value.dtype.type(0), value), value)


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
    if element is Element.S32 or element is Element.TF32:
        raise MachineFault("tile.shape", f"an expression rounds to {element}; no instruction here does", None)
    if element is Element.F64:
        return value
    return widened(narrowed(value, element), element).astype(value.dtype)


def accumulated(sums: Numbers, left: Numbers, right: Numbers, row: MultiplyRow) -> Numbers:
    """Sums plus a matrix product, k ascending: integers exactly, f64 in f64, else in f32, where sums of f16 are rounded
    after each instruction's k. Elements are as numpy holds them."""
    if row.accumulate is Element.S32:
        return np.asarray(sums.astype(np.int32) + left.astype(np.int32) @ right.astype(np.int32), np.int32)
    a, b = cut(widened(left, row.input), row.input), cut(widened(right, row.b_input), row.b_input)
    total = np.array(widened(sums, row.accumulate))
    with np.errstate(all="ignore"):
        for place in range(a.shape[1]):
            total += a[:, place, None] * b[place]
            if row.accumulate is Element.F16 and (place + 1) % row.k == 0:
                total = total.astype(np.float16).astype(np.float32)
    return narrowed(total, row.accumulate)


def cut(values: Floats, element: Element) -> Floats:
    """What a product sees of its operand: of tf32 the upper 19 bits."""
    if element is not Element.TF32:
        return values
    return np.asarray((values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32))
