"""How far a kernel may be from float64: a running error analysis of a compute.

With S = sum |a||b|, K terms in blocks of L, terms cut F bits below the largest exponent of a block and an accumulator
of precision u: each of the ceil(K/L) blocks errs by at most ((L+1) 2**-F + u) S (1 + u)**blocks, so

    |computed - exact|  <=  ceil(K/L) ((L+1) 2**-F + u) S (1 + 2**-8) + ceil(K/L) tiny

with u = 2**-23 (f32, towards zero), 2**-13 (f32 of 13 bits) or 2**-11 (f16, to nearest), tiny half of the accumulator's
smallest subnormal step. Of a sum in chains of p terms the first factor is ceil(p/L), and each of the ceil(K/p)
additions in f32 adds 2**-23 S; so does each of the P-1 that join P parts summed apart. A chain of FMAs in f64 has
L = 1, no cut and u = 2**-53; integers are exact. An element of tf32 is 2**-10 of itself away from what is multiplied.
Every node of the expression adds a rounding of 2**-23 (2**-53 in f64) to what it inherits; a store adds its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from isa.numerics import Rounding, UnsettledNumerics, numerics
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
from ptxgen.derive.signature import Blocks, Exact, Fused, SumOrder, Unpacked, Unsettled
from ptxgen.testing.arithmetic import Doubles, compared
from ptxgen.testing.formats import FORMATS, STORED, values_of
from ptxgen.testing.reference import Evaluation, grids, product_of_loads, reference

SINGLE, HALF, DOUBLE = 2.0**-23, 2.0**-11, 2.0**-53
SMALLEST_SINGLE, SMALLEST_HALF = 2.0**-149, 2.0**-25
# The rounding of a sum of each type, and half of its smallest step.
UNITS: Mapping[Element, tuple[float, float]] = {
    Element.F16: (HALF, SMALLEST_HALF),
    Element.F32: (SINGLE, SMALLEST_SINGLE),
    Element.F64: (DOUBLE, 0.0),
    Element.S32: (0.0, 0.0),
}
APPROXIMATE = 4 * SINGLE
FAR = 2.0**100
MOST_BITS = 500.0
SLACK = 1 + 2.0**-8


@frozen(eq=False)
class Bounded:
    """Exact values with the largest error that a correct kernel may make, element by element."""

    value: Doubles
    error: Doubles
    element: Element = Element.F32

    def excess(self, computed: NDArray[Any]) -> float:
        """The largest ratio of the error of `computed` to the bound: at most 1 where the kernel is right.

        A value beyond the range of the type may be infinity, or is the end of the range where the type saturates; NaN
        must be NaN.
        """
        if self.value.size == 0:
            return 0.0
        given = values_of(computed, self.element)
        low, wide = limits_of(self.element)
        with np.errstate(all="ignore"):
            exact = np.clip(self.value, low, wide) if saturates(self.element) else self.value
            off = np.abs(given - exact) / self.error
            large = np.abs(self.value) + self.error >= wide
            overflowed = np.isinf(given) & large & (np.sign(given) == np.sign(self.value))
            equal = (given == exact) | overflowed | (np.isnan(given) & np.isnan(self.value))
        return float(np.where(equal, 0.0, np.where(np.isnan(off), np.inf, off)).max())


def limits_of(element: Element) -> tuple[float, float]:
    """The least and the largest number of an element."""
    if element.is_integer:
        found = np.iinfo(STORED[element])
        return float(found.min), float(found.max)
    return -FORMATS[element].largest, FORMATS[element].largest


def saturates(element: Element) -> bool:
    """Whether numbers beyond the range become its end."""
    return element.bits == 8


def bounded(
    compute: Compute,
    arrays: Mapping[str, NDArray[Any]],
    sizes: Mapping[str, int],
    scalars: Mapping[str, float] | None = None,
    *,
    target: str = "sm_70",
    orders: Iterable[SumOrder] = (),
) -> dict[str, Bounded]:
    """Every array that a statement assigns, in float64, with its error bound by the formula of this module.

    `orders` is the signature of the kernel on what it ran on. Of a sum that it does not tell, `target` is what it ran
    on, and Volta's instruction what multiplied; where that has no record, chains of FMAs emulate it.
    """
    told = {order.statement: order for order in orders}
    exact = reference(compute, arrays, sizes, scalars)
    inputs = [a.name for a in compute.arrays if a.kind is ArrayKind.INPUT and a.name in arrays]
    values = {name: values_of(arrays[name], compute.array(name).element) for name in inputs} | exact
    errors: dict[str, Doubles] = {name: given(value, compute.array(name).element) for name, value in values.items()}
    elements = {array.name: array.element for array in compute.arrays}
    with np.errstate(all="ignore"):
        for statement in compute.statements:
            name = statement.target.array
            single = compute.arithmetic(statement) is Element.F32
            copied = elements[name] is Element.S32
            whole = frozenset(a for a, e in elements.items() if e is Element.S32 and not copied)
            summing = Summing.of(told.get(statement.name), elements[name], target)
            for grid in grids(statement, sizes, values):
                node = SINGLE if single else DOUBLE
                Erring(statement, values, sizes, scalars or {}, grid, errors, summing, node, whole).judge()
            errors[name] = errors[name] + stored(values[name], errors[name], compute.array(name).element)
    return {name: Bounded(exact[name], errors[name], elements[name]) for name in exact}


def given(values: Doubles, element: Element) -> Doubles:
    """How far inputs are from what is multiplied: tf32 loses its low bits there."""
    return np.abs(values) * 2.0**-10 if element is Element.TF32 else np.zeros_like(values)


@frozen
class Summing:
    """The errors of a sum of products: blocks of `length` terms, each losing `lost` of S by its cuts and `unit` by its
    rounding, `tiny` at least; chains of `promoted` terms (None: one); `parts` summed apart, and added with a
    rounding of `joining`."""

    length: int
    lost: float
    unit: float
    tiny: float
    promoted: int | None = None
    parts: int = 1
    joining: float = SINGLE

    @classmethod
    def of(cls, order: SumOrder | None, held: Element, target: str) -> Summing:
        """Of a sum by its order, or by Volta's instruction on a target."""
        if order is None:
            return cls(*per_block(target), *UNITS.get(held, UNITS[Element.F32]))
        unit, tiny = UNITS[order.chain]
        joining = DOUBLE if order.chain is Element.F64 else SINGLE
        match order.terms:
            case Blocks():
                return cls(
                    *_of_blocks(order.terms),
                    _rounding(order.terms, unit),
                    tiny,
                    order.promoted,
                    order.most_parts,
                    joining,
                )
            case Unpacked(_, blocks):
                return cls(1, _of_blocks(blocks)[1] + 2 * unit, unit, tiny, order.promoted, order.most_parts, joining)
            case Fused() | Exact() | Unsettled():
                return cls(1, 0.0, unit, tiny, order.promoted, order.most_parts, joining)
            case _:
                assert_never(order.terms)

    def error(self, above: Doubles, terms: int) -> Doubles:
        """The error of a sum of `terms` products whose sizes sum to `above`."""
        chain = min(self.promoted or terms, terms)
        blocks, joins = -(-chain // self.length), -(-terms // max(1, chain)) if self.promoted else 0
        total = blocks * (self.lost + self.unit) * above * SLACK + -(-terms // self.length) * self.tiny
        total = total + (self.parts - 1) * self.joining * above * SLACK
        return np.asarray(total + joins * SINGLE * above * SLACK)


def _of_blocks(terms: Blocks) -> tuple[int, float]:
    return terms.length, (terms.length + 1) * 2.0**-terms.fraction_bits


def _rounding(terms: Blocks, unit: float) -> float:
    return 2.0**-13 if terms.rounding is Rounding.TOWARDS_ZERO_13 else unit


def per_block(target: str) -> tuple[int, float]:
    """The products of a block of Volta's instruction, and the part of S that cutting its terms may lose (nothing in an
    FMA)."""
    try:
        record = numerics(target_named(target), "mma", "m8n8k4", "f16")
    except UnsettledNumerics:
        return 1, 0.0
    return record.block, (record.block + 1) * 2.0**-record.fraction_bits


def stored(value: Doubles, error: Doubles, element: Element) -> Doubles:
    """What rounding to `element` adds; nothing to a whole number that is there as one."""
    match element:
        case Element.S32:
            return np.zeros_like(value)
        case Element.S8 | Element.U8:
            return np.full_like(value, 0.5)
        case Element.TF32 | Element.F64:
            return DOUBLE * (np.abs(value) + error)
        case _:
            found = FORMATS[element]
            half = 2.0 ** -(found.fraction_bits + 1) if element is not Element.F32 else SINGLE
            return half * (np.abs(value) + error) + 2.0 ** (found.least_exponent - found.fraction_bits - 1)


@frozen(eq=False)
class Erring(Evaluation):
    """The errors of a box of instances; `errors` holds those of the arrays, `summing` tells those of a sum of products,
    `node` is the rounding of a node, `whole` names the arrays of s32 that are read as f32."""

    errors: dict[str, Doubles]
    summing: Summing
    node: float
    whole: frozenset[str] = frozenset()
    _errors: dict[int, Doubles] = field(init=False, factory=dict, repr=False)

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
        return np.asarray(error.sum(axis=axes) + terms * self.node * SLACK * size.sum(axis=axes))

    def error_of_product(self, factors: tuple[Load, ...], terms: int) -> Doubles:
        """The bound of the module's head, and what the factors' own errors add."""
        sizes = {name: np.abs(value) + self.errors[name] for name, value in self.held.items()}
        above = Evaluation(self.statement, sizes, self.sizes, self.scalars, self.grid).contracted(factors)
        plain = {name: np.abs(value) for name, value in self.held.items()}
        total = Evaluation(self.statement, plain, self.sizes, self.scalars, self.grid).contracted(factors)
        return np.asarray((above - total) + self.summing.error(above, terms))

    def error(self, node: Expression) -> Doubles:
        """The error of an expression's f32 value."""
        found = self._errors.get(id(node))
        if found is None:
            found = self._errors[id(node)] = self.error_of(node)
        return found

    def error_of(self, node: Expression) -> Doubles:
        """The error of a node that was not asked for yet."""
        match node:
            case Load():
                inherited = np.asarray(self.errors[node.array][self.places(node, tuple(self.grid))])
                return inherited + self.rounding(node) if node.array in self.whole else inherited
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
        return np.asarray(self.node * size * SLACK + SMALLEST_SINGLE)

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
