"""Bounds hold for arithmetic done with numpy's float32 in any order, are not idle, and tell a wrong element."""

import numpy as np
import pytest

from ptxgen.compute import f16, f32
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
