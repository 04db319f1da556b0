"""The plain loop: what a compute gives in a target's own arithmetic, with k ascending and every node rounded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from isa.numerics import UnsettledNumerics, numerics
from isa.targets import target as target_named
from polyhedral import Affine
from ptxgen.compute import ArrayKind, Compute, Element, Expression, Load, Statement
from ptxgen.derive.signature import Blocks, SumOrder
from ptxgen.errors import UnsupportedError
from ptxgen.testing.arithmetic import Doubles
from ptxgen.testing.formats import STORED, stored_as, values_of
from ptxgen.testing.reference import Evaluation, grids, number, product_of_loads
from ptxgen.testing.tensor_core import ordered_product


def loop_model(
    compute: Compute,
    arrays: Mapping[str, NDArray[Any]],
    sizes: Mapping[str, int],
    scalars: Mapping[str, float] | None = None,
    *,
    target: str,
    orders: Iterable[SumOrder] = (),
) -> dict[str, NDArray[Any]]:
    """Every array that a statement assigns, in its own type, as a kernel for `target` must leave it bit for bit; of
    formats that numpy lacks as bits.

    Sums of products follow `orders`, the signature of the kernel; without one, those of f16 Volta's instruction in one
    chain. Pointwise statements are float32 (float64 where an array is), one rounding per node, exp2 and reciprocal
    correctly rounded. UnsupportedError for another reduction: its order is the plan's.
    """
    told = {order.statement: order for order in orders}
    held: dict[str, NDArray[Any]] = {}
    for array in compute.arrays:
        shape = tuple(number(extent, sizes) for extent in array.extents)
        if array.kind is not ArrayKind.INPUT:
            held[array.name] = stored_as(np.zeros(shape), array.element)
        elif array.name in arrays:
            held[array.name] = arrays[array.name]
    with np.errstate(all="ignore"):
        for statement in compute.statements:
            name = statement.target.array
            if statement.reduction:
                order = told.get(statement.name) or volta(compute, statement, target)
                held[name] = chained(compute, statement, held, order)
            else:
                pointwise(compute, statement, held, sizes, scalars or {})
    return {statement.target.array: held[statement.target.array] for statement in compute.statements}


def volta(compute: Compute, statement: Statement, target: str) -> SumOrder:
    """The order of a sum of products of f16 as Volta's instruction has it on a target."""
    factors = product_of_loads(statement)
    if factors is None or any(compute.array(load.array).element is not Element.F16 for load in factors):
        raise UnsupportedError(f"{statement.name}: the order of this sum is the plan's; give its signature")
    held = compute.array(statement.target.array).element
    try:
        record = numerics(target_named(target), "mma", "m8n8k4", "f16")
    except UnsettledNumerics as error:
        raise UnsupportedError(f"{statement.name}: {error}; give its signature") from None
    rounding = record.f16 if held is Element.F16 else record.f32
    assert rounding is not None
    terms = Blocks(record.block, record.fraction_bits, rounding)
    return SumOrder(statement.name, (Element.F16, Element.F16), held, terms)


def pointwise(
    compute: Compute,
    statement: Statement,
    held: dict[str, NDArray[Any]],
    sizes: Mapping[str, int],
    scalars: Mapping[str, float],
) -> None:
    """Assigns a statement without a reduction."""
    name = statement.target.array
    wide = {array: values_of(values, compute.array(array).element) for array, values in held.items()}
    element = compute.array(name).element
    copied = element is Element.S32
    kind = np.float64 if copied or compute.arithmetic(statement) is Element.F64 else np.float32
    for grid in grids(statement, sizes, held):
        SingleEvaluation(statement, wide, sizes, scalars, grid, kind).assign()
    held[name] = stored_as(wide[name], element)


@frozen(eq=False)
class SingleEvaluation(Evaluation):
    """Evaluation in float32. A node's float64 value rounded again is its float32 value: sum, product and quotient of
    float32 numbers have no rounding of their own there that could matter. In float64 a node has the one rounding."""

    kind: type[np.floating[Any]]

    def evaluated(self, node: Expression) -> Doubles:
        """An expression at all instances, rounded."""
        return np.asarray(Evaluation.evaluated(self, node).astype(self.kind), np.float64)


def chained(compute: Compute, statement: Statement, held: Mapping[str, NDArray[Any]], order: SumOrder) -> NDArray[Any]:
    """A sum of products of two arrays over one dim, in an order."""
    loads = product_of_loads(statement)
    if loads is None or len(loads) != 2:
        raise UnsupportedError(f"{statement.name} is no sum of products of two arrays: the plan decides its order")
    (reduced,) = statement.reduced
    front, row, column = split(statement, loads, reduced)
    factors = [values_of(held[load.array], compute.array(load.array).element) for load in loads]
    a = arranged(factors[0], names(loads[0]), (*front, row, reduced))
    b = arranged(factors[1], names(loads[1]), (*front, reduced, column))
    product = ordered_product(a, b, order).astype(STORED[compute.array(statement.target.array).element])
    return arranged(product, (*front, row, column), names(statement.target))


def split(statement: Statement, loads: tuple[Load, ...], reduced: str) -> tuple[tuple[str, ...], str, str]:
    """The dims of both factors, the first one's own dim and the second one's own."""
    first, second = (set(names(load)) - {reduced} for load in loads)
    front = tuple(dim.name for dim in statement.dims if dim.name in first & second)
    (row,), (column,) = first - second, second - first
    return front, row, column


def names(load: Load) -> tuple[str, ...]:
    """The dims that index an access, in order."""
    return tuple(index.names[0] for index in load.indices if isinstance(index, Affine))


def arranged(values: NDArray[Any], have: tuple[str, ...], order: tuple[str, ...]) -> NDArray[Any]:
    """`values`, whose dimensions are the dims `have`, with its dimensions in the order of `order`."""
    return np.ascontiguousarray(values.transpose([have.index(dim) for dim in order]))
