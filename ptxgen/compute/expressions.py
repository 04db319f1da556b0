"""Scalar expressions: the value that a statement assigns to one element.

All arithmetic is in f32, and in f64 where the statement reads or fills an f64 array; one rounding per node, in the
order of the tree: a model that walks the same tree with `numpy.float32` gives the same bits wherever the target's
operation is correctly rounded.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from enum import Enum
from typing import assert_never

from attrs import frozen

from polyhedral import Affine, FloorDiv
from ptxgen.compute.elements import Element


class BinaryOp(Enum):
    """A function of two numbers. MINIMUM and MAXIMUM return the other operand where one is NaN."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    MINIMUM = "min"
    MAXIMUM = "max"


class UnaryOp(Enum):
    """A function of one number. EXP2 and RECIPROCAL of f32 may be the target's approximations (2 ulp), to
    which subnormal numbers are zero, given or found."""

    NEGATE = "-"
    EXP2 = "exp2"
    RECIPROCAL = "reciprocal"


class Comparison(Enum):
    """An ordered comparison: false where an operand is NaN."""

    LESS = "<"
    LESS_EQUAL = "<="
    NOT_EQUAL = "!="


class Expression:
    """Base of all expression nodes; the operators build f32 nodes."""

    def __add__(self, other: Term) -> Binary:
        return Binary(BinaryOp.ADD, self, as_expression(other))

    def __radd__(self, other: Term) -> Binary:
        return Binary(BinaryOp.ADD, as_expression(other), self)

    def __sub__(self, other: Term) -> Binary:
        return Binary(BinaryOp.SUBTRACT, self, as_expression(other))

    def __rsub__(self, other: Term) -> Binary:
        return Binary(BinaryOp.SUBTRACT, as_expression(other), self)

    def __mul__(self, other: Term) -> Binary:
        return Binary(BinaryOp.MULTIPLY, self, as_expression(other))

    def __rmul__(self, other: Term) -> Binary:
        return Binary(BinaryOp.MULTIPLY, as_expression(other), self)

    def __truediv__(self, other: Term) -> Binary:
        return Binary(BinaryOp.DIVIDE, self, as_expression(other))

    def __neg__(self) -> Unary:
        return Unary(UnaryOp.NEGATE, self)


Term = Expression | float | int


@frozen
class Constant(Expression):
    """A literal number, rounded to f32."""

    value: float


@frozen
class Scalar(Expression):
    """A number given at the launch, f32, the same for all elements."""

    name: str


@frozen
class Load(Expression):
    """The element `array[indices]`, widened to f32. `array` is named; the compute that owns it resolves the name.

    An index may be a quotient floor(dim / size): the number of the part of a dim that a partial sum belongs to.
    """

    array: str
    indices: tuple[Affine | FloorDiv, ...]


@frozen
class Operand(Expression):
    """The element that operand number `index` of a tile node holds at the same place (tile programs only)."""

    index: int


@frozen
class Binary(Expression):
    op: BinaryOp
    left: Expression
    right: Expression


@frozen
class Unary(Expression):
    op: UnaryOp
    value: Expression


@frozen
class Round(Expression):
    """`value` rounded to nearest even in `element` and widened again: where a program stores and reloads it."""

    value: Expression
    element: Element


@frozen
class Select(Expression):
    """`then` where `left comparison right`, else `otherwise`. A side that is not taken is not read from memory when
    the condition is the same for all elements."""

    comparison: Comparison
    left: Expression
    right: Expression
    then: Expression
    otherwise: Expression


def as_expression(term: Term) -> Expression:
    """`term` itself, or the constant it spells."""
    return term if isinstance(term, Expression) else Constant(float(term))


def children(node: Expression) -> tuple[Expression, ...]:
    """The direct operands of `node`, left to right."""
    match node:
        case Binary(_, left, right):
            return (left, right)
        case Unary(_, value) | Round(value, _):
            return (value,)
        case Select(_, left, right, then, otherwise):
            return (left, right, then, otherwise)
        case _:
            return ()


def walk(node: Expression) -> Iterator[Expression]:
    """`node` and all below it, parents first."""
    yield node
    for child in children(node):
        yield from walk(child)


def loads(node: Expression) -> tuple[Load, ...]:
    """Every distinct array read in `node`, in order of first appearance."""
    return tuple(dict.fromkeys(inner for inner in walk(node) if isinstance(inner, Load)))


def scalars(node: Expression) -> tuple[Scalar, ...]:
    """Every distinct launch scalar in `node`, in order of first appearance."""
    return tuple(dict.fromkeys(inner for inner in walk(node) if isinstance(inner, Scalar)))


def rebuild(node: Expression, leaf: Callable[[Expression], Expression]) -> Expression:
    """`node` with every leaf replaced by `leaf(leaf_node)`."""
    match node:
        case Binary(op, left, right):
            return Binary(op, rebuild(left, leaf), rebuild(right, leaf))
        case Unary(op, value):
            return Unary(op, rebuild(value, leaf))
        case Round(value, element):
            return Round(rebuild(value, leaf), element)
        case Select(comparison, left, right, then, otherwise):
            return Select(comparison, *(rebuild(part, leaf) for part in (left, right, then, otherwise)))
        case _:
            return leaf(node)


def show(node: Expression) -> str:
    """The expression in ordinary notation; a constant has the digits that tell it from every other f32."""
    match node:
        case Constant(value):
            return decimal(value)
        case Scalar(name):
            return name
        case Load(array, indices):
            return f"{array}[{', '.join(map(str, indices))}]"
        case Operand(index):
            return f"${index}"
        case Binary(BinaryOp.MINIMUM | BinaryOp.MAXIMUM as op, left, right):
            return f"{op.value}({show(left)}, {show(right)})"
        case Binary(op, left, right):
            return f"({show(left)} {op.value} {show(right)})"
        case Unary(UnaryOp.NEGATE, Constant() as value):
            return f"-({show(value)})"
        case Unary(UnaryOp.NEGATE, value):
            return f"-{show(value)}"
        case Unary(op, value):
            return f"{op.value}({show(value)})"
        case Round(value, element):
            return f"{element}({show(value)})"
        case Select(comparison, left, right, then, otherwise):
            return f"({show(then)} if {show(left)} {comparison.value} {show(right)} else {show(otherwise)})"
        case Expression():
            raise TypeError(f"not an expression node: {node!r}")
        case _:
            assert_never(node)


def decimal(value: float) -> str:
    """The fewest significant digits that read back as `value` rounded to f32; `inf` beyond its range."""
    try:
        bits = struct.pack("f", value)
    except OverflowError:
        return "inf" if value > 0 else "-inf"
    texts = (f"{value:.{digits}g}" for digits in range(1, 9))
    return next((text for text in texts if _is_f32(text, bits)), f"{struct.unpack('f', bits)[0]:.9g}")


def _is_f32(text: str, bits: bytes) -> bool:
    try:
        return struct.pack("f", float(text)) == bits
    except OverflowError:
        return False


def minimum(left: Term, right: Term) -> Binary:
    """The smaller number; the other one where one is NaN."""
    return Binary(BinaryOp.MINIMUM, as_expression(left), as_expression(right))


def maximum(left: Term, right: Term) -> Binary:
    """The larger number; the other one where one is NaN."""
    return Binary(BinaryOp.MAXIMUM, as_expression(left), as_expression(right))


def exp2(value: Term) -> Unary:
    """Two to the power `value`."""
    return Unary(UnaryOp.EXP2, as_expression(value))


def reciprocal(value: Term) -> Unary:
    """One over `value`."""
    return Unary(UnaryOp.RECIPROCAL, as_expression(value))


LOG2_E = 1.4426950408889634


def exp(value: Term) -> Unary:
    """e to the power `value`, as `exp2(value * log2(e))`."""
    return exp2(as_expression(value) * LOG2_E)


def relu(value: Term) -> Select:
    """Zero where `value` is negative, else `value`: NaN stays NaN."""
    inner = as_expression(value)
    return Select(Comparison.LESS, inner, Constant(0.0), Constant(0.0), inner)


def clamp(value: Term, low: Term, high: Term) -> Select:
    """`value` limited to `low`..`high`: NaN stays NaN, a bound that is NaN does not limit, and where the bounds cross
    `high` wins."""
    inner, floor, ceiling = as_expression(value), as_expression(low), as_expression(high)
    above = Select(Comparison.LESS, inner, floor, floor, inner)
    return Select(Comparison.LESS, ceiling, above, ceiling, above)


def sigmoid(value: Term) -> Unary:
    """1 / (1 + exp(-value))."""
    return reciprocal(1.0 + exp2(as_expression(value) * -LOG2_E))


def silu(value: Term) -> Binary:
    """value * sigmoid(value): at minus infinity NaN, as this product is there, and minus zero far below."""
    inner = as_expression(value)
    return inner * sigmoid(inner)


SQRT_2_OVER_PI = 0.7978845608028654


def gelu(value: Term) -> Binary:
    """The tanh form of GELU, 0.5 x (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3), written x * sigmoid(2 u).

    At minus infinity NaN, as this product is there, and minus zero far below.
    """
    inner = as_expression(value)
    argument = inner * (inner * inner * (2.0 * SQRT_2_OVER_PI * 0.044715) + 2.0 * SQRT_2_OVER_PI)
    return inner * sigmoid(argument)
