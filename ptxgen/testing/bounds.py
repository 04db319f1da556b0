"""How far a kernel may be from float64: a running error analysis of a compute.

With S = sum |a||b|, K terms in blocks of L, terms cut F bits below the largest exponent of a block and an accumulator
of precision u: each of the ceil(K/L) blocks errs by at most ((L+1) 2**-F + u) S (1 + u)**blocks, so

    |computed - exact|  <=  ceil(K/L) ((L+1) 2**-F + u) S (1 + 2**-8) + ceil(K/L) tiny

with u = 2**-23 (f32, towards zero) or 2**-11 (f16, to nearest), tiny half of the accumulator's smallest subnormal step.
Every node of the f32 expression adds a rounding of 2**-23 to what it inherits; a store adds its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from isa.numerics import UnsettledNumerics, numerics
from isa.targets import target as target_named
from ptxgen.compute import (
    ArrayKind,
    Binary,
    BinaryOp,
    Compute,
    Constant,
    Element,
    Expression,
    Load,
    Round,
    Select,
    Unary,
    UnaryOp,
    loads,
)
from ptxgen.testing.arithmetic import Doubles, compared
from ptxgen.testing.reference import Evaluation, grids, product_of_loads, reference

SINGLE, HALF = 2.0**-23, 2.0**-11
SMALLEST_SINGLE, SMALLEST_HALF = 2.0**-149, 2.0**-25
APPROXIMATE = 4 * SINGLE
FAR = 2.0**100
MOST_BITS = 500.0
SLACK = 1 + 2.0**-8


@frozen(eq=False)
class Bounded:
    """Exact values with the largest error that a correct kernel may make, element by element."""

    value: Doubles
    error: Doubles

    def excess(self, computed: NDArray[Any]) -> float:
        """The largest ratio of the error of `computed` to the bound: at most 1 where the kernel is right.

        A value beyond the range of the type may be infinity; NaN must be NaN.
        """
        if self.value.size == 0:
            return 0.0
        given = computed.astype(np.float64)
        wide = np.finfo(computed.dtype).max
        with np.errstate(all="ignore"):
            off = np.abs(given - self.value) / self.error
            large = np.abs(self.value) + self.error >= wide
            overflowed = np.isinf(given) & large & (np.sign(given) == np.sign(self.value))
            equal = (given == self.value) | overflowed | (np.isnan(given) & np.isnan(self.value))
        return float(np.where(equal, 0.0, np.where(np.isnan(off), np.inf, off)).max())


def bounded(
    compute: Compute,
    arrays: Mapping[str, NDArray[Any]],
    sizes: Mapping[str, int],
    scalars: Mapping[str, float] | None = None,
    *,
    target: str = "sm_70",
) -> dict[str, Bounded]:
    """Every array that a statement assigns, in float64, with its error bound by the formula of this module.

    `target` is what it ran on. One without a record for m8n8k4 emulates it by chains of FMAs: blocks of one product.
    """
    exact = reference(compute, arrays, sizes, scalars)
    inputs = [a.name for a in compute.arrays if a.kind is ArrayKind.INPUT and a.name in arrays]
    values = {name: arrays[name].astype(np.float64) for name in inputs} | exact
    errors: dict[str, Doubles] = {name: np.zeros_like(value) for name, value in values.items()}
    elements = {array.name: array.element for array in compute.arrays}
    with np.errstate(all="ignore"):
        for statement in compute.statements:
            name = statement.target.array
            for grid in grids(statement, sizes):
                Erring(statement, values, sizes, scalars or {}, grid, errors, elements, per_block(target)).judge()
            errors[name] = errors[name] + stored(values[name], errors[name], compute.array(name).element)
    return {name: Bounded(exact[name], errors[name]) for name in exact}


def per_block(target: str) -> tuple[int, float]:
    """The products of a block, and the part of S that cutting its terms may lose (nothing in an FMA)."""
    try:
        record = numerics(target_named(target), "mma", "m8n8k4", "f16")
    except UnsettledNumerics:
        return 1, 0.0
    return record.block, (record.block + 1) * 2.0**-record.fraction_bits


def stored(value: Doubles, error: Doubles, element: Element) -> Doubles:
    """What rounding to `element` adds."""
    match element:
        case Element.F16:
            return HALF * (np.abs(value) + error) + SMALLEST_HALF
        case Element.F32:
            return SINGLE * (np.abs(value) + error) + SMALLEST_SINGLE
        case Element.S32:
            return np.full_like(value, 0.5)
        case _:
            assert_never(element)


@frozen(eq=False)
class Erring(Evaluation):
    """The errors of a box of instances; `errors` holds those of the arrays, `elements` their types, `block` what
    `per_block` gives."""

    errors: dict[str, Doubles]
    elements: Mapping[str, Element]
    block: tuple[int, float]

    def judge(self) -> None:
        """Computes the error of the target's elements in the box."""
        kept = tuple(name for name in self.grid if name not in self.statement.reduced)
        places = self.places(self.statement.target, kept)
        shape = tuple(len(self.grid[name]) for name in kept)
        self.errors[self.statement.target.array][places] = np.broadcast_to(self.error_of_statement(), shape)

    def error_of_statement(self) -> Doubles:
        """The error at the instances, reduced dims joined."""
        statement = self.statement
        if statement.reduction is None:
            return self.error(statement.value)
        terms = int(np.prod([len(self.grid[name]) for name in statement.reduced]))
        factors = product_of_loads(statement)
        if factors is not None:
            return self.error_of_product(factors, terms)
        axes = tuple(place for place, name in enumerate(self.grid) if name in statement.reduced)
        shape = tuple(map(len, self.grid.values()))
        error = np.broadcast_to(self.error(statement.value), shape)
        size = np.broadcast_to(np.abs(self.value(statement.value)), shape) + error
        if statement.reduction.op.label == "max":
            return np.asarray(error.max(axis=axes, initial=0.0))
        return np.asarray(error.sum(axis=axes) + terms * SINGLE * SLACK * size.sum(axis=axes))

    def error_of_product(self, factors: tuple[Load, ...], terms: int) -> Doubles:
        """The bound of the module's head, and what the factors' own errors add."""
        sizes = {name: np.abs(value) + self.errors[name] for name, value in self.held.items()}
        above = Evaluation(self.statement, sizes, self.sizes, self.scalars, self.grid).contracted(factors)
        plain = {name: np.abs(value) for name, value in self.held.items()}
        total = Evaluation(self.statement, plain, self.sizes, self.scalars, self.grid).contracted(factors)
        length, lost = self.block
        blocks = -(-terms // length)
        half = self.elements[self.statement.target.array] is Element.F16
        unit, tiny = (HALF, SMALLEST_HALF) if half else (SINGLE, SMALLEST_SINGLE)
        return np.asarray((above - total) + blocks * (lost + unit) * above * SLACK + blocks * tiny)

    def error(self, node: Expression) -> Doubles:
        """The error of an expression's f32 value."""
        match node:
            case Load():
                return np.asarray(self.errors[node.array][self.places(node, tuple(self.grid))])
            case Binary(op, left, right):
                return self.error_of_binary(op, left, right) + self.rounding(node)
            case Unary(op, inner):
                return self.error_of_unary(op, inner) + self.rounding(node)
            case Round(inner, element):
                error = self.error(inner)
                return error + stored(self.value(inner), error, element)
            case Select():
                return self.error_of_select(node)
            case _:
                return np.asarray(0.0)

    def rounding(self, node: Expression) -> Doubles:
        """One rounding to f32 of the node's exact value."""
        size = np.minimum(np.abs(self.value(node)), 2.0**MOST_BITS)
        return np.asarray(SINGLE * size * SLACK + SMALLEST_SINGLE)

    def error_of_binary(self, op: BinaryOp, left: Expression, right: Expression) -> Doubles:
        """What an operation inherits."""
        one, other = self.error(left), self.error(right)
        match op:
            case BinaryOp.ADD | BinaryOp.SUBTRACT:
                return np.asarray((one + other) * SLACK)
            case BinaryOp.MULTIPLY:
                crossed = np.abs(self.value(left)) * other + np.abs(self.value(right)) * one + one * other
                return np.asarray(crossed * SLACK)
            case BinaryOp.DIVIDE:
                below = np.maximum(np.abs(self.value(right)) - other, 0.0)
                quotient = np.abs(self.value(left) / self.value(right))
                return np.asarray((one + quotient * other) / below * SLACK)
            case BinaryOp.MINIMUM | BinaryOp.MAXIMUM:
                return np.asarray(np.maximum(one, other))
            case _:
                assert_never(op)

    def error_of_unary(self, op: UnaryOp, inner: Expression) -> Doubles:
        """What a function inherits, with its approximation."""
        error, value = self.error(inner), self.value(inner)
        match op:
            case UnaryOp.NEGATE:
                return error
            case UnaryOp.EXP2:
                below, here, above = (np.exp2(np.minimum(value + by, MOST_BITS)) for by in (-error, 0.0, error))
                return np.asarray(np.maximum(above - here, here - below) + APPROXIMATE * above + 2.0**-126)
            case UnaryOp.RECIPROCAL:
                return self.error_of_reciprocal(np.abs(value), error, least(inner))
            case _:
                assert_never(op)

    def error_of_reciprocal(self, size: Doubles, error: Doubles, floor: float) -> Doubles:
        """What 1/x inherits where x is `size` up to `error`, and never below `floor`."""
        near = np.minimum(size, 2.0**MOST_BITS)
        low = np.maximum(near - error, floor)
        moved = np.where(near < FAR, (near - np.minimum(low, near)) / (near * low), 1.0 / low)
        return np.asarray(moved + APPROXIMATE / near + 2.0 / FAR)

    def error_of_select(self, node: Select) -> Doubles:
        """The side taken; where the error leaves open which, the distance of the sides as well."""
        left, right = self.value(node.left), self.value(node.right)
        chosen = compared(node.comparison, left, right)
        if not loads(node.left) and not loads(node.right):
            return self.error(node.then if chosen else node.otherwise)
        one, other = self.error(node.then), self.error(node.otherwise)
        open_ = np.abs(left - right) <= self.error(node.left) + self.error(node.right)
        apart = np.abs(self.value(node.then) - self.value(node.otherwise))
        return np.asarray(np.where(open_, np.maximum(one, other) + apart, np.where(chosen, one, other)))


def least(node: Expression) -> float:
    """A number below which the computed value of `node` never falls, 0 where none is known."""
    match node:
        case Binary(BinaryOp.ADD, Constant(number), Unary(UnaryOp.EXP2, _)) if number > 0:
            return number
        case _:
            return 0.0
