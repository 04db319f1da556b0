"""Random arguments for a compute, and the three judges of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptxgen.compute import ArrayKind, Compute, f16
from ptxgen.kernels import Matmul, MatmulSpec, MatmulTiling, Outcome
from ptxgen.kernels.binding import arrays_in_memory, bind
from ptxgen.testing import bounded, loop_model

SCALARS = {"alpha": 0.75, "beta": -1.5, "low": -1.0, "high": 2.0}


def random_inputs(compute: Compute, sizes: Mapping[str, int], seed: int = 0) -> dict[str, NDArray[Any]]:
    """Standard normal inputs without gaps."""
    chance = np.random.default_rng(seed)
    found = {}
    for array in arrays_in_memory(compute):
        if array.kind is ArrayKind.INPUT:
            shape = [extent.evaluate(sizes) for extent in array.extents]
            found[array.name] = chance.standard_normal(shape).astype(np.float16 if array.element is f16 else np.float32)
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
) -> None:
    """The outputs in `arrays` are within the bound of float64, and what the plain loop gives, bit for bit."""
    sizes = bind(arrays_in_memory(compute), arrays).sizes
    outputs = [array.name for array in compute.arrays if array.kind is ArrayKind.OUTPUT]
    inputs = {name: array for name, array in arrays.items() if name not in outputs}
    truth = bounded(compute, inputs, sizes, scalars, target=target)
    for name in outputs:
        assert truth[name].excess(arrays[name]) <= 1.0, f"{name} is farther from float64 than rounding explains"
    if exact:
        loop = loop_model(compute, inputs, sizes, scalars, target="sm_70")
        for name in outputs:
            assert np.array_equal(bits(arrays[name]), bits(loop[name])), f"{name} is not the plain loop's, bit for bit"


def run_matmul(
    spec: MatmulSpec,
    size: tuple[int, int, int],
    tiling: MatmulTiling | None = None,
    seed: int = 0,
    target: str = "sm_70",
) -> Outcome:
    """A product of random matrices, simulated without a finding and judged."""
    product = Matmul(spec, target, tiling)
    sizes = dict(zip("MNK", size, strict=True), batches=3)
    scalars = scalars_of(product.compute)
    outcome = product(random_inputs(product.compute, sizes, seed), scalars)
    judge(product.compute, outcome.arrays, scalars, exact=target == "sm_70", target=target)
    return outcome
