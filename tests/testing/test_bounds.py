"""Bounds hold for arithmetic done with numpy's float32 in any order, are not idle, and tell a wrong element."""

import numpy as np
import pytest
from attrs import evolve

from isa.numerics import Rounding
from ptxgen.compute import Element, f16, f32, f64, s8, tf32
from ptxgen.derive import Blocks, Exact, Fused, SumOrder, Terms
from ptxgen.kernels import MatmulSpec, epilogue_compute, matmul_compute, parse_epilogue, softmax_compute
from ptxgen.testing import bounded


def inputs(size: tuple[int, int, int]) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(1)
    m, n, k = size
    return {name: chance.standard_normal(shape).astype(np.float16) for name, shape in (("A", (m, k)), ("B", (k, n)))}


@pytest.mark.parametrize("accumulate, terms", ((np.float32, 1), (np.float16, 64)), ids=("f32", "f16"))
def test_a_chain_of_rounded_sums_is_inside_and_a_wrong_one_outside(accumulate, terms) -> None:
    arrays = inputs((6, 5, 64))
    element = f32 if accumulate is np.float32 else f16
    compute = matmul_compute(MatmulSpec(accumulate=element, output=f32))
    truth = bounded(compute, arrays, {"M": 6, "N": 5, "K": 64}, target="sm_90")["D"]
    total = np.zeros((6, 5), accumulate)
    for k in range(64):
        total = (total + arrays["A"][:, k : k + 1].astype(np.float64) * arrays["B"][k]).astype(accumulate)
    assert truth.excess(total.astype(np.float32)) <= 1.0
    wrong = total.astype(np.float32).copy()
    wrong[3, 2] += terms * abs(np.float32(arrays["A"][3, 7]) * np.float32(arrays["B"][7, 2]))
    assert truth.excess(wrong) > 1.0


def test_a_wrong_rounding_of_the_result_is_outside() -> None:
    arrays = inputs((8, 8, 4))
    sizes = {"M": 8, "N": 8, "K": 4}
    truth = bounded(matmul_compute(MatmulSpec()), arrays, sizes)["D"]
    nearest = truth.value.astype(np.float16)
    assert truth.excess(nearest) <= 1.0
    assert truth.excess(np.nextafter(np.nextafter(nearest, np.float16(np.inf)), np.float16(np.inf))) > 1.0


@pytest.mark.parametrize("scale", (1.0, 30.0, 3000.0))
def test_gelu_and_silu_stay_bounded_for_large_arguments(scale: float) -> None:
    values = (np.random.default_rng(2).standard_normal((16, 16)) * scale).astype(np.float32)
    compute = epilogue_compute(parse_epilogue("gelu,silu"), output=f32)
    truth = bounded(compute, {"AB": values}, {"M": 16, "N": 16})["D"]
    assert np.isfinite(truth.error).all()
    assert truth.error.max() <= 1e-4 * max(1.0, scale)
    assert truth.excess(truth.value.astype(np.float32)) <= 1.0


def test_softmax_is_bounded_tightly() -> None:
    x = np.random.default_rng(3).standard_normal((4, 300)).astype(np.float16)
    truth = bounded(softmax_compute(), {"X": x}, {"M": 4, "N": 300})["Y"]
    assert (truth.error <= 2.0**-10 * truth.value + 2.0**-20).all()


def test_nan_must_be_nan() -> None:
    arrays = inputs((4, 4, 4))
    arrays["A"][1, 1] = np.nan
    truth = bounded(matmul_compute(MatmulSpec()), arrays, {"M": 4, "N": 4, "K": 4})["D"]
    right = truth.value.astype(np.float16)
    assert truth.excess(right) <= 1.0
    assert truth.excess(np.nan_to_num(right)) == np.inf


def test_chains_bound_more_tightly_than_one_and_a_wrong_one_is_outside() -> None:
    arrays, sizes = inputs((6, 5, 2048)), {"M": 6, "N": 5, "K": 2048}
    compute = matmul_compute(MatmulSpec(accumulate=f16, promote=64, output=f32))
    one = SumOrder("AB", (f16, f16), f16, Blocks(16, 25, Rounding.NEAREST_EVEN))
    truth, whole = (bounded(compute, arrays, sizes, orders=[order])["D"] for order in (evolve(one, promoted=64), one))
    assert (truth.error < whole.error / 24).all()
    total = np.zeros((6, 5), np.float32)
    for k in range(0, 2048, 64):
        chain = np.zeros((6, 5), np.float16)
        for step in range(k, k + 64, 16):
            part = slice(step, step + 16)
            chain = (chain + arrays["A"][:, part].astype(float) @ arrays["B"][part].astype(float)).astype(np.float16)
        total += chain
    assert truth.excess(total) <= 1.0
    missing = total - arrays["A"][:, 1792:].astype(np.float32) @ arrays["B"][1792:].astype(np.float32)
    assert truth.excess(missing) > 1.0


OTHERS: dict[Element, tuple[Terms, type[np.generic], type[np.generic], float]] = {
    tf32: (Blocks(8, 25, Rounding.TOWARDS_ZERO), np.float32, np.float32, 1e-2),
    f64: (Fused(), np.float64, np.float64, 1e-13),
    s8: (Exact(), np.int8, np.int32, 0.0),
}


@pytest.mark.parametrize("element", OTHERS, ids=str)
def test_bounds_of_other_types_hold_and_are_not_idle(element) -> None:
    terms, kind, output, step = OTHERS[element]
    chance, spec = np.random.default_rng(5), MatmulSpec.of(element)
    a, b = ((chance.standard_normal(shape) * 20).astype(kind) for shape in ((6, 40), (40, 5)))
    order = SumOrder("AB", (element, element), spec.accumulate, terms)
    sizes = {"M": 6, "N": 5, "K": 40}
    truth = bounded(matmul_compute(spec), {"A": a, "B": b}, sizes, orders=[order])["D"]
    exact = a.astype(float) @ b.astype(float)
    assert truth.excess(exact.astype(output)) <= 1.0
    off = step * np.abs(a).astype(float) @ np.abs(b).astype(float) + (element is s8)
    assert truth.excess((exact + off).astype(output)) > 1.0
