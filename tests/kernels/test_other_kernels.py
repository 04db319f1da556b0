"""A softmax, a transpose, chained products and epilogues alone: the same derivation, the same launcher."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from ptxgen.compute import Compute, f16, f32
from ptxgen.kernels import (
    chained_compute,
    chained_plan,
    epilogue_compute,
    epilogue_plan,
    generate,
    parse_epilogue,
    softmax_compute,
    softmax_plan,
    transpose_compute,
    transpose_plan,
)
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.plan import Fact, Plan
from ptxgen.simulate import Report
from tests.kernels.cases import judge, random_inputs, scalars_of

Planner = Callable[[Compute, Iterable[Fact], str], Plan]


def run(
    compute: Compute, planner: Planner, sizes: dict[str, int], *, exact: bool
) -> tuple[dict[str, Any], Report | None]:
    """The arrays and the report of a run without findings, judged."""
    arrays: dict[str, Any] = random_inputs(compute, sizes)
    for array in arrays_in_memory(compute):
        if array.name not in arrays:
            shape = [extent.evaluate(sizes) for extent in array.extents]
            arrays[array.name] = np.full(shape, np.nan, np.float16 if array.element is f16 else np.float32)
    scalars = scalars_of(compute)
    facts = facts_of(compute, bind(arrays_in_memory(compute), arrays))
    report = generate(planner(compute, facts, "sm_70")).simulate(arrays, scalars)
    if report is not None:
        report.raise_findings()
    judge(compute, arrays, scalars, exact=exact)
    return arrays, report


@pytest.mark.parametrize("size", ((1, 1), (5, 300), (9, 512), (4, 255), (3, 257)), ids=str)
def test_softmax_of_rows(size: tuple[int, int]) -> None:
    arrays, _ = run(softmax_compute(), softmax_plan, dict(zip("MN", size, strict=True)), exact=False)
    x = arrays["X"].astype(np.float64)
    expected = np.exp(x - x.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(arrays["Y"], expected, rtol=2.0**-10, atol=2.0**-24)


@pytest.mark.parametrize("size", ((1, 1), (64, 64), (65, 200), (128, 63)), ids=str)
@pytest.mark.parametrize("element", (f16, f32), ids=str)
def test_transposition(size: tuple[int, int], element: Any) -> None:
    arrays, report = run(transpose_compute(element), transpose_plan, dict(zip("MN", size, strict=True)), exact=True)
    assert np.array_equal(arrays["Y"], arrays["X"].T)
    assert report is not None
    assert report.conflicts == 0


@pytest.mark.parametrize("size", ((64, 64, 32, 64), (70, 130, 50, 65), (33, 64, 0, 64), (1, 1, 1, 1)), ids=str)
@pytest.mark.parametrize("accumulate", (f16, f32), ids=str)
def test_two_chained_products(size: tuple[int, ...], accumulate: Any) -> None:
    run(chained_compute(accumulate), chained_plan, dict(zip("MJKN", size, strict=True)), exact=True)


@pytest.mark.parametrize("size", ((1, 1), (16, 64), (17, 130)), ids=str)
def test_an_epilogue_alone(size: tuple[int, int]) -> None:
    compute = epilogue_compute(parse_epilogue("alpha,beta,bias,silu,residual,clamp"))
    run(compute, epilogue_plan, dict(zip("MN", size, strict=True)), exact=True)
