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
    monkeypatch.setattr("ptxgen.kernels.call.device_count", lambda: 0)


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


@pytest.mark.parametrize("arguments, wanted", [
    ((halves(4, 8), halves(4, 8)), r"b must have the shape \(8, 8\) beside a of \(4, 8\) and b of \(4, 8\), got"),
    ((halves(4, 8), halves(2, 8, 4)), r"a and b must both have two dimensions, or three, got shapes \(4, 8\) and"),
    ((halves(8), halves(8)), r"a and b must both have two dimensions"),
    ((halves(4, 16)[:, ::2], halves(8, 4)), r"a: neither of the last two dimensions lies together \(strides"),
    ((halves(4, 8).astype(float), halves(8, 4)), r"a must be float16, got float64"),
    ((halves(4, 8), halves(8, 4), halves(5)), r"bias must have the shape \(4,\) beside a .*, got \(5,\)"),
    ((halves(4, 8), halves(8, 4), None, "tanh"), r"activation must be one of relu, gelu, silu or None, got 'tanh'"),
    ((halves(4, 8), halves(8, 4), None, None, np.zeros((4, 5), np.float16)), r"out must have the shape \(4, 4\)"),
    (([[1.0]], halves(8, 4)), r"a must be an array, got list"),
], ids=range(9))  # fmt: skip
def test_what_does_not_fit_is_refused(arguments: tuple[Any, ...], wanted: str) -> None:
    with pytest.raises(LaunchError, match=wanted):
        ptxgen.matmul(*arguments)


def test_names_of_types_are_checked() -> None:
    with pytest.raises(LaunchError, match=r"output must be one of f16, f32, got 's8'"):
        ptxgen.matmul(halves(4, 8), halves(8, 4), output="s8")
    with pytest.raises(LaunchError, match=r"accumulate must be one of f16, f32, got 'f64'"):
        ptxgen.matmul(halves(4, 8), halves(8, 4), accumulate="f64")
