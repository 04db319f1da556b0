"""Derived kernels on the GPU, within the bound of float64. Where m8n8k4 is emulated this proves layout and meaning."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from ptxgen.compute import Element, f16, f32
from ptxgen.kernels import (
    Layout,
    Machine,
    Matmul,
    MatmulSpec,
    MatmulTiling,
    chained_compute,
    chained_plan,
    generate,
    parse_epilogue,
    softmax_compute,
    softmax_plan,
    transpose_compute,
    transpose_plan,
)
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.runtime import DeviceArray, compute_capability
from tests.kernels.cases import judge, random_inputs, scalars_of

SIZES = ((1, 1, 1), (16, 16, 4), (64, 48, 20), (128, 128, 32), (257, 129, 65), (300, 200, 100), (1024, 768, 512))
EPILOGUES = ("", "bias", "bias,relu", "bias,gelu,residual", "alpha,beta,row_bias,keep,clamp,silu")


def device() -> str:
    """The target that the GPU is."""
    major, minor = compute_capability()
    return f"sm_{major}{minor}"


@pytest.mark.parametrize("warps", (4, 8))
@pytest.mark.parametrize("accumulate", (f32, f16), ids=str)
@pytest.mark.parametrize("layout", Layout, ids=lambda layout: layout.value)
def test_products(layout: Layout, accumulate: Element, warps: int) -> None:
    for epilogue, size in product(EPILOGUES, SIZES):
        spec = MatmulSpec(layout, accumulate, epilogue=parse_epilogue(epilogue))
        matmul = Matmul(spec, tiling=MatmulTiling(warps=warps))
        scalars = scalars_of(matmul.compute)
        inputs = random_inputs(matmul.compute, dict(zip("MNK", size, strict=True)))
        judge(matmul.compute, matmul(inputs, scalars, on=Machine.GPU).arrays, scalars, exact=False, target=device())


@pytest.mark.parametrize("size", ((40, 24, 0), (0, 5, 4), (130, 260, 96)), ids=str)
def test_empty_sums_batches_and_single_precision_results(size: tuple[int, int, int]) -> None:
    matmul = Matmul(MatmulSpec(output=f32, batched=True, epilogue=parse_epilogue("bias,gelu")))
    inputs = random_inputs(matmul.compute, dict(zip("MNK", size, strict=True), batches=3))
    judge(matmul.compute, matmul(inputs, {}, on=Machine.GPU).arrays, {}, exact=False, target=device())


def test_arrays_that_are_on_the_device_stay_there() -> None:
    matmul = Matmul(MatmulSpec(epilogue=parse_epilogue("bias,relu")))
    inputs = random_inputs(matmul.compute, {"M": 256, "N": 136, "K": 72})
    result = np.zeros((256, 136), np.float16)
    held = {}
    for name, array in {**inputs, "D": result}.items():
        held[name] = DeviceArray.empty(array.shape, array.dtype)
        held[name].write(array)
    matmul(held, on=Machine.GPU)
    held["D"].read(result)
    judge(matmul.compute, {**inputs, "D": result}, {}, exact=False, target=device())


CASES: dict[str, tuple[Any, Any, tuple[dict[str, int], ...]]] = {
    "softmax": (softmax_compute, softmax_plan, ({"M": 5, "N": 300}, {"M": 64, "N": 1024})),
    "transpose": (transpose_compute, transpose_plan, ({"M": 65, "N": 200}, {"M": 512, "N": 256})),
    "chained": (
        chained_compute,
        chained_plan,
        ({"M": 70, "J": 130, "K": 50, "N": 65}, {"M": 256, "J": 192, "K": 128, "N": 64}),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_other_kernels(case: str) -> None:
    make, planner, all_sizes = CASES[case]
    for sizes in all_sizes:
        compute = make()
        arrays: dict[str, Any] = random_inputs(compute, sizes)
        for array in arrays_in_memory(compute):
            if array.name not in arrays:
                arrays[array.name] = np.zeros([extent.evaluate(sizes) for extent in array.extents], np.float16)
        facts = facts_of(compute, bind(arrays_in_memory(compute), arrays))
        generate(planner(compute, facts, "sm_70")).run(arrays)
        judge(compute, arrays, {}, exact=False, target=device())
