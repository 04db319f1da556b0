"""The nodes of an expression in float64."""

from __future__ import annotations

from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from ptxgen.compute import BinaryOp, Comparison, UnaryOp

Doubles = NDArray[np.float64]


def binary(op: BinaryOp, left: Doubles, right: Doubles) -> Doubles:
    """A function of two numbers."""
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


def unary(op: UnaryOp, value: Doubles) -> Doubles:
    """A function of one number."""
    match op:
        case UnaryOp.NEGATE:
            return np.negative(value)
        case UnaryOp.EXP2:
            return np.exp2(value)
        case UnaryOp.RECIPROCAL:
            return np.divide(1.0, value)
        case _:
            assert_never(op)


def compared(comparison: Comparison, left: Doubles, right: Doubles) -> NDArray[np.bool_]:
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
