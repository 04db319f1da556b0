"""Every dense type of the tensor cores on the GPU: against float64, and the same bits as the CPU simulator; chains
promoted into f32 err as predicted; equal signatures give equal bits."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, bf16, e4m3, e5m2, f16, f32, f64, s8, tf32, u8
from ptxgen.derive import Unsettled
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.runtime import compute_capability
from tests.device.test_generations import runs_here
from tests.kernels.cases import bits, judge, random_inputs, scalars_of
from tests.kernels.test_hybrid import PREDICTED

pytestmark = pytest.mark.device


def warps_tiling(element: Element) -> MatmulTiling:
    return MatmulTiling(i=64, j=64, k=max(16, 64 // element.byte_count), depth=3)


def group_tiling(element: Element) -> MatmulTiling:
    return MatmulTiling(i=128, j=128, k=128 // element.byte_count, warps=8, depth=3, isolate=False)


BY_WARPS = [
    ("sm_75", s8), ("sm_89", e4m3), ("sm_89", e5m2), *(("sm_80", each) for each in (bf16, tf32, f64, s8, u8)),
    *(("sm_90", each) for each in (f16, bf16, tf32, f64, s8, e4m3, e5m2)),
]  # fmt: skip
BY_GROUPS = [("sm_90a", each) for each in (f16, bf16, tf32, s8, u8, e4m3, e5m2)]
PLANS = [(target, each, warps_tiling(each)) for target, each in BY_WARPS]
PLANS += [(target, each, group_tiling(each)) for target, each in BY_GROUPS]


def here() -> str:
    major, minor = compute_capability()
    return f"sm_{major}{minor}"


def run_here(product: Matmul, sizes: dict[str, int], seed: int = 0) -> dict[str, Any]:
    """The product on the GPU, judged by what the GPU is."""
    inputs, scalars = random_inputs(product.compute, sizes, seed), scalars_of(product.compute)
    outcome = product(inputs, scalars, on=Machine.GPU)
    orders = outcome.kernel.derivation.signature(here())
    judge(product.compute, outcome.arrays, scalars, exact=False, target=here(), orders=orders)
    return dict(outcome.arrays)


@pytest.mark.parametrize("target, element, tiling", PLANS, ids=str)
def test_against_float64_and_the_simulator(target: str, element: Element, tiling: MatmulTiling) -> None:
    if not runs_here(target):
        pytest.skip(f"the device does not run {target}")
    layouts = (Layout.NT,) if target == "sm_90a" and element.bits != 16 else (Layout.NT, Layout.NN)
    for layout in layouts:
        product = Matmul(MatmulSpec.of(element, layout=layout), target, tiling)
        there = run_here(product, {"M": 136, "N": 72, "K": 144})
        kernel = product.kernel_for(there)
        (order,) = kernel.derivation.signature(here())
        if kernel.derivation.signature(target) != (order,) or isinstance(order.terms, Unsettled):
            continue
        inputs = {name: there[name] for name in ("A", "B")}
        assert np.array_equal(bits(product(inputs).arrays["D"]), bits(there["D"])), layout


@pytest.mark.parametrize("target, element, tiling", PLANS, ids=str)
def test_ragged_shapes_and_epilogues(target: str, element: Element, tiling: MatmulTiling) -> None:
    if not runs_here(target):
        pytest.skip(f"the device does not run {target}")
    chance = Random(str((target, element)))
    for number in range(6):
        narrow = (f16,) if target == "sm_75" else (f16, bf16)
        output = f64 if element is f64 else chance.choice((f32, *narrow))
        epilogue = parse_epilogue(chance.choice(("", "bias,relu", "alpha,residual", "alpha,bias,clamp")))
        spec = MatmulSpec.of(element, layout=Layout.NT, output=output, epilogue=epilogue)
        unit = chance.choice((1, 8, 16))
        sizes = {name: unit * chance.randint(1, 300 // unit) for name in "MNK"}
        try:
            run_here(Matmul(spec, target, tiling), sizes, number)
        except AssertionError as error:
            raise AssertionError(f"{spec}, {sizes}") from error


NARROW = [
    ("sm_80", s8, s8, 1 / 512),
    ("sm_80", u8, u8, 1 / 5000),
    ("sm_89", f16, e4m3, 1.0),
    ("sm_89", e4m3, e5m2, 1.0),
]


@pytest.mark.parametrize("target, element, output, alpha", NARROW, ids=str)
def test_narrow_results(target: str, element: Element, output: Element, alpha: float) -> None:
    if not runs_here(target):
        pytest.skip(f"the device does not run {target}")
    spec = MatmulSpec.of(element, output=output, layout=Layout.NT, epilogue=parse_epilogue("alpha"))
    product = Matmul(spec, target, warps_tiling(element))
    inputs = random_inputs(product.compute, {"M": 72, "N": 136, "K": 96})
    there = product(inputs, {"alpha": alpha}, on=Machine.GPU)
    orders = there.kernel.derivation.signature(here())
    judge(product.compute, there.arrays, {"alpha": alpha}, exact=False, target=here(), orders=orders)


def error_of(spec: MatmulSpec, target: str, tiling: MatmulTiling, length: int) -> float:
    product = Matmul(spec, target, tiling)
    inputs = random_inputs(product.compute, {"M": 256, "N": 256, "K": length}, seed=length)
    found = product(inputs, on=Machine.GPU).arrays["D"].astype(float)
    exact = inputs["A"].astype(float) @ inputs["B"].astype(float).T
    return float(np.sqrt(np.mean((found - exact) ** 2) / np.mean(exact**2)))


@pytest.mark.parametrize("length", (512, 2048, 4096))
@pytest.mark.parametrize("every", PREDICTED)
@pytest.mark.parametrize("target", ("sm_90", "sm_90a"))
def test_chains_err_as_predicted(target: str, every: int, length: int) -> None:
    if compute_capability()[0] != 9:
        pytest.skip("the prediction is for the record of sm_90")
    tiling = group_tiling(f16) if target == "sm_90a" else warps_tiling(f16)
    spec = MatmulSpec.of(f16, accumulate=f16, promote=every, output=f32, layout=Layout.NT)
    error = error_of(spec, target, evolve(tiling, k=max(tiling.k, every), depth=2), length)
    assert abs(error / PREDICTED[every] - 1) < 0.1


@pytest.mark.parametrize("element", (f16, bf16, tf32, s8), ids=str)
def test_equal_signatures_give_equal_bits(element: Element) -> None:
    if not runs_here("sm_90a"):
        pytest.skip("the device has no products of warpgroups")
    spec = MatmulSpec.of(element, layout=Layout.NT, output=f32)
    products = [Matmul(spec, target, tiling) for target, tiling in (
        ("sm_90a", group_tiling(element)), ("sm_90a", evolve(group_tiling(element), i=64, warps=4, depth=2)),
        ("sm_90", warps_tiling(element)), ("sm_90", evolve(warps_tiling(element), depth=1)),
    )]  # fmt: skip
    inputs = random_inputs(products[0].compute, {"M": 520, "N": 392, "K": 1040})
    outcomes = [product(inputs, on=Machine.GPU) for product in products]
    first, *others = (outcome.kernel.derivation.signature(here()) for outcome in outcomes)
    assert all(other == first for other in others)
    wanted, *found = (bits(outcome.arrays["D"]) for outcome in outcomes)
    assert all(np.array_equal(each, wanted) for each in found)
