"""Scalar expressions: every node one instruction with one rounding to f32, equal nodes of equal operands only once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias, assert_never

from isa.types import b16
from ptxgen.build import Kernel, Not, Value
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
    children,
    walk,
)
from ptxgen.errors import UnsupportedError

Real: TypeAlias = float | Value

BINARY = {
    BinaryOp.ADD: "add.rn.f32",
    BinaryOp.SUBTRACT: "sub.rn.f32",
    BinaryOp.MULTIPLY: "mul.rn.f32",
    BinaryOp.DIVIDE: "div.rn.f32",
    BinaryOp.MINIMUM: "min.f32",
    BinaryOp.MAXIMUM: "max.f32",
}
UNARY = {UnaryOp.NEGATE: "neg.f32", UnaryOp.EXP2: "ex2.approx.f32", UnaryOp.RECIPROCAL: "rcp.approx.f32"}
COMPARE = {
    Comparison.LESS: "setp.lt.f32",
    Comparison.LESS_EQUAL: "setp.le.f32",
    Comparison.NOT_EQUAL: "setp.ne.f32",
}


class Evaluator:
    """Evaluates expressions whose operands `operand(index, point)` gives, f32."""

    def __init__(self, kernel: Kernel, operand: Callable[[int, int], Value]) -> None:
        self._k = kernel
        self._operand = operand
        self._known: dict[Hashable, Value] = {}

    def value(self, node: Expression, point: int) -> Real:
        """The value of an expression at a point: a register, or a number where it is known now."""
        match node:
            case Constant(value):
                return value
            case Scalar(name):
                scalar: Value = self._k.args[name]
                return scalar
            case Operand(index):
                return self._operand(index, point)
            case Binary(op, left, right):
                return self._made(BINARY[op], self.value(left, point), self.value(right, point))
            case Unary(op, inner):
                return self._made(UNARY[op], self.value(inner, point))
            case Round(inner, Element.F32):
                return self.value(inner, point)
            case Round(inner, Element.F16):
                return widened_half(self._k, self.half(inner, point))
            case Select(comparison, left, right, then, otherwise):
                condition = self.compared(comparison, self.value(left, point), self.value(right, point))
                return self._made("selp.f32", self.value(then, point), self.value(otherwise, point), condition)
            case Round() | Load() | Expression():
                raise UnsupportedError(f"{node} has no lowering: loads are operands of a tile node, values f16 or f32")
            case _:
                assert_never(node)

    def register(self, node: Expression, point: int) -> Value:
        """The value of an expression in a register."""
        value = self.value(node, point)
        return value if isinstance(value, Value) else self._made("mov.f32", value)

    def half(self, node: Expression, point: int) -> Value:
        """The value rounded to f16, in a 16-bit register."""
        while isinstance(node, Round) and node.element in (Element.F16, Element.F32):
            node = node.value
        value = self.register(node, point)
        return self._once(("half", value.node), lambda: self._k.cvt.rn.f16.f32(value, into=self._k.register(b16)))

    def compared(self, comparison: Comparison, left: Real, right: Real) -> Value:
        """The predicate of a comparison."""
        return self._made(COMPARE[comparison], left, right)

    def _made(self, name: str, *sources: Real) -> Value:
        key = (name, *(source.node if isinstance(source, Value) else source for source in sources))
        return self._once(key, lambda: self._k.function(name)(*sources))

    def _once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]


def widened_half(kernel: Kernel, half: Value) -> Value:
    """A 16-bit register read as f16, as f32."""
    result: Value = kernel.cvt.f32.f16(half)
    return result


def is_uniform(node: Expression) -> bool:
    """Whether an expression has the same value at every point: it is made of constants and launch scalars."""
    return not any(isinstance(inner, (Operand, Load)) for inner in walk(node))


Choice: TypeAlias = tuple[Select, bool]


def choices(node: Expression, index: int) -> frozenset[Choice]:
    """The sides of selections with uniform conditions on which alone operand `index` is read."""
    found = _paths(node, index, ())
    return frozenset.intersection(*map(frozenset, found)) if found else frozenset()


def _paths(node: Expression, index: int, path: tuple[Choice, ...]) -> list[tuple[Choice, ...]]:
    match node:
        case Operand(number):
            return [path] if number == index else []
        case Select(_, left, right, then, otherwise) if is_uniform(left) and is_uniform(right):
            return _paths(then, index, (*path, (node, True))) + _paths(otherwise, index, (*path, (node, False)))
        case _:
            return [found for child in children(node) for found in _paths(child, index, path)]


def choice_predicate(kernel: Kernel, evaluator: Evaluator, chosen: frozenset[Choice]) -> Value | Not | None:
    """The predicate that all these sides are taken; None for none."""
    predicate: Value | Not | None = None
    for select, taken in sorted(chosen, key=lambda choice: (str(choice[0]), choice[1])):
        left, right = evaluator.value(select.left, 0), evaluator.value(select.right, 0)
        holds = evaluator.compared(select.comparison, left, right)
        side = holds if taken else ~holds
        if predicate is None:
            predicate = side
            continue
        both = _plain(kernel, predicate), _plain(kernel, side)
        predicate = kernel.and_.pred(*both)
    return predicate


def _plain(kernel: Kernel, predicate: Value | Not) -> Value:
    if isinstance(predicate, Value):
        return predicate
    result: Value = kernel.not_.pred(predicate.value)
    return result
