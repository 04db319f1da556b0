"""Random arguments for a compute, and the three judges of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptxgen.compute import ArrayKind, Compute
from ptxgen.derive import SumOrder, Unsettled
from ptxgen.kernels import GeneratedKernel, Layout, Matmul, MatmulSpec, MatmulTiling, Outcome, generate, matmul_compute
from ptxgen.kernels.launching.binding import arrays_in_memory, bind
from ptxgen.kernels.launching.views import DTYPES
from ptxgen.plan import (
    MatrixInstruction,
    Plan,
    blocks,
    fragments,
    ld,
    ldmatrix,
    registers,
    shared,
    st,
    warps,
)
from ptxgen.testing import bounded, loop_model

SCALARS = {"alpha": 0.75, "beta": -1.5, "low": -1.0, "high": 2.0}


def random_inputs(compute: Compute, sizes: Mapping[str, int], seed: int = 0) -> dict[str, NDArray[Any]]:
    """Standard normal inputs without gaps; integers from their whole range."""
    chance = np.random.default_rng(seed)
    found = {}
    for array in arrays_in_memory(compute):
        if array.kind is ArrayKind.INPUT:
            shape, dtype = [extent.evaluate(sizes) for extent in array.extents], DTYPES[array.element]
            if array.element.is_integer:
                limits = np.iinfo(dtype)
                found[array.name] = chance.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)
            else:
                found[array.name] = chance.standard_normal(shape).astype(dtype)
    return found


def scalars_of(compute: Compute) -> dict[str, float]:
    return {scalar.name: SCALARS[scalar.name] for scalar in compute.scalars}


def bits(array: NDArray[Any]) -> NDArray[Any]:
    """The elements as integers, so that equality is equality of bits."""
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")


def judge(
    compute: Compute,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, float],
    *,
    exact: bool = True,
    target: str = "sm_70",
    orders: Iterable[SumOrder] = (),
) -> None:
    """The outputs in `arrays` are within the bound of float64, and what the plain loop gives, bit for bit."""
    sizes, told = bind(arrays_in_memory(compute), arrays).sizes, tuple(orders)
    outputs = [array.name for array in compute.arrays if array.kind is ArrayKind.OUTPUT]
    inputs = {name: array for name, array in arrays.items() if name not in outputs}
    truth = bounded(compute, inputs, sizes, scalars, target=target, orders=told)
    for name in outputs:
        assert truth[name].excess(arrays[name]) <= 1.0, f"{name} is farther from float64 than rounding explains"
    if exact:
        loop = loop_model(compute, inputs, sizes, scalars, target=target, orders=told)
        for name in outputs:
            assert np.array_equal(bits(arrays[name]), bits(loop[name])), f"{name} is not the plain loop's, bit for bit"


def run_matmul(
    spec: MatmulSpec,
    size: tuple[int, int, int],
    tiling: MatmulTiling | None = None,
    seed: int = 0,
    target: str = "sm_70",
) -> Outcome:
    """A product of random matrices, simulated without a finding and judged. Its exp2 and reciprocal are those of the
    simulator, which the plain loop need not have."""
    product = Matmul(spec, target, tiling)
    sizes = dict(zip("MNK", size, strict=True), batches=3)
    scalars = scalars_of(product.compute)
    outcome = product(random_inputs(product.compute, sizes, seed), scalars)
    orders = outcome.kernel.derivation.signature()
    exact = not spec.totals and not any(isinstance(order.terms, Unsettled) for order in orders)
    judge(product.compute, outcome.arrays, scalars, exact=exact, target=target, orders=orders)
    return outcome


def by_instruction(spec: MatmulSpec, target: str, instruction: MatrixInstruction) -> GeneratedKernel:
    """The product by one instruction of a warp, whatever the target has besides; for any arguments."""
    plan = Plan(matmul_compute(spec), target)
    plan = plan.tile("cta", i=64, j=64, k=max(16, 2 * instruction.k)).place("cta", onto=blocks)
    plan = plan.tile("warp", i=32, j=32).place("warp", onto=warps).tile("step", k=instruction.k)
    rows = spec.layout is Layout.NT and spec.input.bits <= 32 and not instruction.orders
    for name in ("A", "B"):
        plan = plan.stage(name, at="cta.k", into=registers(), by=ld(16))
        plan = plan.stage(name, at="cta.k", into=shared(1), by=st(16))
        plan = plan.stage(name, at="step.k", into=fragments(1), by=ldmatrix(4) if rows else ld(16))
    plan = plan.multiply("AB", instruction, at="step.k").unroll("step.k")
    return generate(plan.finish("D", at="warp").drain("D", through=None, by=st(16)))
