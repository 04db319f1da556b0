"""The plain loop: what a compute gives in a target's own arithmetic, with k ascending and every node rounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from polyhedral import Affine
from ptxgen.compute import ArrayKind, Compute, Element, Expression, Load, Statement
from ptxgen.errors import UnsupportedError
from ptxgen.testing.arithmetic import Doubles
from ptxgen.testing.memory import NUMPY_TYPES
from ptxgen.testing.reference import Evaluation, grids, number, product_of_loads
from ptxgen.testing.tensor_core import chained_product


def loop_model(
    compute: Compute,
    arrays: Mapping[str, NDArray[Any]],
    sizes: Mapping[str, int],
    scalars: Mapping[str, float] | None = None,
    *,
    target: str,
) -> dict[str, NDArray[Any]]:
    """Every array that a statement assigns, in its own type, as a kernel for `target` must leave it bit for bit.

    Sums of products of two f16 arrays follow the target's tensor cores in ascending k; pointwise statements are
    float32, one rounding per node, exp2 and reciprocal correctly rounded. UnsupportedError for another reduction: its
    order is the plan's.
    """
    held: dict[str, NDArray[Any]] = {}
    for array in compute.arrays:
        shape = tuple(number(extent, sizes) for extent in array.extents)
        if array.kind is not ArrayKind.INPUT:
            held[array.name] = np.zeros(shape, NUMPY_TYPES[array.element])
        elif array.name in arrays:
            held[array.name] = arrays[array.name]
    with np.errstate(all="ignore"):
        for statement in compute.statements:
            name = statement.target.array
            if statement.reduction:
                held[name] = chained(compute, statement, held, target)
            else:
                pointwise(statement, held, sizes, scalars or {})
    return {statement.target.array: held[statement.target.array] for statement in compute.statements}


def pointwise(
    statement: Statement, held: dict[str, NDArray[Any]], sizes: Mapping[str, int], scalars: Mapping[str, float]
) -> None:
    """Assigns a statement without a reduction."""
    name = statement.target.array
    wide = {array: values if array == name else values.astype(np.float64) for array, values in held.items()}
    for grid in grids(statement, sizes):
        SingleEvaluation(statement, wide, sizes, scalars, grid).assign()


@frozen(eq=False)
class SingleEvaluation(Evaluation):
    """Evaluation in float32. A node's float64 value rounded again is its float32 value: sum, product and quotient of
    float32 numbers have no rounding of their own there that could matter."""

    def value(self, node: Expression) -> Doubles:
        """An expression at all instances, rounded to f32."""
        return np.asarray(Evaluation.value(self, node).astype(np.float32), np.float64)


def chained(compute: Compute, statement: Statement, held: Mapping[str, NDArray[Any]], target: str) -> NDArray[Any]:
    """A sum of products of two f16 arrays over one dim, as tensor cores chain it."""
    loads = product_of_loads(statement)
    if loads is None or len(loads) != 2 or any(compute.array(x.array).element is not Element.F16 for x in loads):
        raise UnsupportedError(f"{statement.name} is no sum of products of two f16 arrays: the plan decides its order")
    (reduced,) = statement.reduced
    front, row, column = split(statement, loads, reduced)
    a = arranged(held[loads[0].array], names(loads[0]), (*front, row, reduced))
    b = arranged(held[loads[1].array], names(loads[1]), (*front, reduced, column))
    product = chained_product(a, b, compute.array(statement.target.array).element, target)
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
