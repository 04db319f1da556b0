"""Scalar expressions: every node one instruction with one rounding, equal nodes of equal operands only once."""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable
from typing import TypeAlias, assert_never

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
from ptxgen.lower.conversions import ROUNDING, as_single, in_arithmetic, narrowed_part, widened_part

Real: TypeAlias = float | Value

BINARY = {
    BinaryOp.ADD: "add.rn",
    BinaryOp.SUBTRACT: "sub.rn",
    BinaryOp.MULTIPLY: "mul.rn",
    BinaryOp.DIVIDE: "div.rn",
    BinaryOp.MINIMUM: "min",
    BinaryOp.MAXIMUM: "max",
}
UNARY = {
    (UnaryOp.NEGATE, Element.F32): "neg.f32",
    (UnaryOp.EXP2, Element.F32): "ex2.approx.ftz.f32",
    (UnaryOp.RECIPROCAL, Element.F32): "rcp.approx.ftz.f32",
    (UnaryOp.NEGATE, Element.F64): "neg.f64",
    (UnaryOp.RECIPROCAL, Element.F64): "rcp.rn.f64",
}
COMPARE = {
    Comparison.LESS: "setp.lt",
    Comparison.LESS_EQUAL: "setp.le",
    Comparison.NOT_EQUAL: "setp.ne",
}


class Evaluator:
    """Evaluates expressions in f32 or f64; `operand(index, point)` gives their operands in that type."""

    def __init__(self, kernel: Kernel, operand: Callable[[int, int], Value], arithmetic: Element = Element.F32) -> None:
        self._k = kernel
        self._operand = operand
        self._arithmetic = arithmetic
        self._at: dict[int, tuple[Expression, Callable[[int], Real]]] = {}
        self._known: dict[Hashable, Value] = {}

    def value(self, node: Expression, point: int) -> Real:
        """The value of an expression at a point: a register, or a number where it is known now."""
        return self._function(node)(point)

    def _function(self, node: Expression) -> Callable[[int], Real]:
        """What gives the value of an expression at each point, made once."""
        found = self._at.get(id(node))
        if found is None:
            found = self._at[id(node)] = node, self._made_for(node)
        return found[1]

    def _made_for(self, node: Expression) -> Callable[[int], Real]:
        match node:
            case Constant(value):
                number = value if self._arithmetic is Element.F32 else _as_single(value)
                return lambda point: number
            case Scalar(name):
                return lambda point: self._once(("scalar", name), lambda: self._widened(self._k.args[name]))
            case Operand(index):
                return lambda point: self._operand(index, point)
            case Binary(op, left, right):
                return self._written(f"{BINARY[op]}.{self._arithmetic}", self._function(left), self._function(right))
            case Unary(op, inner):
                return self._written(self._unary(op), self._function(inner))
            case Round(inner, element) if element is self._arithmetic:
                return self._function(inner)
            case Round(inner, Element.F32):
                return lambda point: self._widened(self._single(inner, point))
            case Round(inner, element) if element in ROUNDING:
                return lambda point: self._widened(widened_part(self._k, self.part(inner, point, element), element))
            case Select(comparison, left, right, then, otherwise):
                condition = self._written(self._compare(comparison), self._function(left), self._function(right))
                return self._chosen(condition, self._function(then), self._function(otherwise))
            case Round() | Load() | Expression():
                raise UnsupportedError(f"{node} has no lowering: loads are operands of a tile node, values f16 or f32")
            case _:
                assert_never(node)

    def register(self, node: Expression, point: int) -> Value:
        """The value of an expression in a register."""
        value = self.value(node, point)
        return value if isinstance(value, Value) else self._made(f"mov.{self._arithmetic}", value)

    def part(self, node: Expression, point: int, element: Element) -> Value:
        """The value rounded to an element of 16 or 8 bits, in the low end of a 16-bit register."""
        while isinstance(node, Round) and node.element in (element, Element.F32):
            node = node.value
        single = self._single(node, point)
        return self._once(("part", element, single), lambda: narrowed_part(self._k, single, element))

    def compared(self, comparison: Comparison, left: Real, right: Real) -> Value:
        """The predicate of a comparison."""
        return self._made(self._compare(comparison), left, right)

    def _single(self, node: Expression, point: int) -> Value:
        value = self.register(node, point)
        if self._arithmetic is Element.F32:
            return value
        return self._once(("single", value), lambda: as_single(self._k, value, self._arithmetic))

    def _widened(self, single: Value) -> Value:
        return in_arithmetic(self._k, single, Element.F32, self._arithmetic)

    def _compare(self, comparison: Comparison) -> str:
        return f"{COMPARE[comparison]}.{self._arithmetic}"

    def _unary(self, op: UnaryOp) -> str:
        if (op, self._arithmetic) not in UNARY:
            raise UnsupportedError(f"{op.value} of {self._arithmetic} has no lowering: calculate it in f32")
        return UNARY[op, self._arithmetic]

    def _written(self, name: str, *sources: Callable[[int], Real]) -> Callable[[int], Real]:
        """What writes an instruction for the values of its sources at a point, once for equal ones."""

        def at(point: int) -> Real:
            return self._made(name, *[source(point) for source in sources])

        return at

    def _chosen(
        self, condition: Callable[[int], Real], then: Callable[[int], Real], otherwise: Callable[[int], Real]
    ) -> Callable[[int], Real]:
        name = f"selp.{self._arithmetic}"

        def at(point: int) -> Real:
            holds = condition(point)
            return self._made(name, then(point), otherwise(point), holds)

        return at

    def _made(self, name: str, *sources: Real) -> Value:
        key = (name, *sources)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._k.function(name)(*sources)
        return found

    def _once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]


def _as_single(value: float) -> float:
    """A literal rounded to f32, as f64."""
    single: float = struct.unpack("f", struct.pack("f", value))[0]
    return single


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
