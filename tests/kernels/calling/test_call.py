"""`ptxgen.matmul` on numpy arrays in the simulator, judged by float64, and its refusals."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ptxgen
from ptxgen import LaunchError

RNG = np.random.default_rng(5)


def halves(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float16)


def together_down(array: Any) -> Any:
    """The same elements, those of a column one behind the other."""
    return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxgen.kernels.calling.call.device_count", lambda: 0)


ACTIVATIONS: dict[str | None, Callable[[Any], Any]] = {
    None: lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)], ids=str)
def test_products_of_numpy_arrays(turned: tuple[bool, bool], activation: str | None) -> None:
    a, b, bias, residual = halves(40, 24), halves(24, 56), halves(56), halves(40, 56)
    given = [together_down(array) if turn else array for array, turn in zip((a, b), turned, strict=True)]
    wanted = ACTIVATIONS[activation](a.astype(float) @ b + bias) + residual
    found = ptxgen.matmul(given[0], given[1], bias, activation, residual=residual)
    assert (found.dtype, found.shape) == (np.float16, (40, 56))
    assert np.abs(found - wanted).max() < 2e-2


def test_batches_and_results_in_place() -> None:
    a, b = halves(3, 20, 16), halves(3, 16, 24)
    out = np.full((3, 20, 24), np.nan, np.float32)
    assert ptxgen.matmul(a, b, out=out) is out
    assert np.abs(out - a.astype(float) @ b).max() < 1e-4
    assert ptxgen.matmul(a, b, output="f32").tobytes() == out.tobytes()
    assert np.abs(ptxgen.matmul(a, b, accumulate="f16", output="f32") - out).max() < 0.1


def test_other_targets() -> None:
    a, b = halves(64, 64), halves(64, 64)
    results = [ptxgen.matmul(a, b, target=target) for target in ("sm_80", "sm_90a")]
    assert all(np.abs(found - a.astype(float) @ b).max() < 2e-2 for found in results)


@pytest.mark.parametrize("target", ["sm_75", "sm_120"])
def test_a_target_that_no_simulator_has_the_bits_of_is_refused_in_one_line(target: str) -> None:
    with pytest.raises(LaunchError, match=rf"^the CPU cannot run this: mma .* on {target}: .*; take another target"):
        ptxgen.matmul(halves(8, 16), halves(16, 8), target=target)


@pytest.mark.parametrize("arguments, wanted", [
    ((halves(4, 8), halves(4, 8)), r"b must have the shape \(8, 8\) beside a of \(4, 8\) and b of \(4, 8\), got"),
    ((halves(4, 8), halves(2, 8, 4)), r"a and b must both have two dimensions, or three, got shapes \(4, 8\) and"),
    ((halves(8), halves(8)), r"a and b must both have two dimensions"),
    ((halves(4, 16)[:, ::2], halves(8, 4)), r"a: neither of the last two dimensions lies together \(strides"),
    ((halves(4, 8).astype(np.int64), halves(8, 4)), r"a must be of a type among f16, .*, s32, got int64"),
    ((halves(4, 8).astype(float), halves(8, 4)), r"a by b, f64 by f16: f64 is multiplied by f64"),
    ((halves(4, 8).astype("f4"), halves(8, 4)), r"a is f32, which tensor cores multiply as tf32.*\(input='tf32'\)"),
    ((halves(4, 8).astype("i4"), halves(8, 4)), r"a is s32; tensor cores multiply f16, bf16, tf32, f64, e4m3, e5m2"),
    ((halves(4, 8), halves(8, 4), halves(4).astype("i8")), r"bias must be of a type among f16, .*, got int64"),
    ((halves(4, 8), halves(8, 4), halves(5)), r"bias must have the shape \(4,\) beside a .*, got \(5,\)"),
    ((halves(4, 8), halves(8, 4), None, "tanh"), r"activation must be one of relu, gelu, silu or None, got 'tanh'"),
    ((halves(4, 8), halves(8, 4), None, None, np.zeros((4, 5), np.float16)), r"out must have the shape \(4, 4\)"),
    (([[1.0]], halves(8, 4)), r"a must be an array, got list"),
], ids=range(13))  # fmt: skip
def test_what_does_not_fit_is_refused(arguments: tuple[Any, ...], wanted: str) -> None:
    with pytest.raises(LaunchError, match=wanted):
        ptxgen.matmul(*arguments)


WISHES: list[tuple[dict[str, Any], str]] = [
    ({"output": "half"}, r"output must be one of f16, bf16, .*, s32, got 'half'"),
    ({"output": "s32"}, r"output s32: a result of sums in f32 is f16, bf16, f32"),
    ({"accumulate": "f64"}, r"accumulate f64: a product of f16 has f16 or f32"),
    ({"input": "bf16"}, r"a is float16, which is not multiplied as bf16"),
    ({"input": "half"}, r"input must be one of f16, "),
    ({"promote": 48}, r"promote must be a power of two or None, got 48"),
    ({"target": "sm_60"}, r"no kernel for this product: sm_60 has no tensor cores that multiply f16 into f32"),
    ({"pre_activation": halves(4, 5)}, r"pre_activation must have the shape \(4, 4\)"),
]


@pytest.mark.parametrize("wishes, wanted", WISHES, ids=range(len(WISHES)))
def test_wishes_that_no_product_has_are_refused(wishes: dict[str, Any], wanted: str) -> None:
    with pytest.raises(LaunchError, match=wanted):
        ptxgen.matmul(halves(4, 8), halves(8, 4), **wishes)


def test_targets_and_types_that_do_not_meet_are_refused() -> None:
    a, b = (halves(*shape).astype("bfloat16") for shape in ((4, 8), (8, 4)))
    with pytest.raises(LaunchError, match="sm_70 has no tensor cores that multiply bf16 into f32: m16n8k16 needs"):
        ptxgen.matmul(a, b, target="sm_70")
    wide = halves(4, 4).astype(float)
    with pytest.raises(LaunchError, match="activation gelu: its exponential is in f32, something here is f64"):
        ptxgen.matmul(wide, wide, activation="gelu")
    small = np.ones((4, 4), np.int8)
    with pytest.raises(LaunchError, match="output s32: an epilogue is arithmetic in f32"):
        ptxgen.matmul(small, small, halves(4), output="s32")
    with pytest.raises(LaunchError, match=r"a must be of a type among .*, got uint16"):
        ptxgen.matmul(a.view(np.uint16), b.view(np.uint16))
