"""`ptxgen.matmul` on every type that tensor cores multiply, in the simulator, judged by float64."""

from typing import Any

import numpy as np
import pytest

import ptxgen
from ptxgen.compute import bf16, f32, u8
from ptxgen.kernels.launching.views import element_of, outline

ml_dtypes = pytest.importorskip("ml_dtypes")
RNG = np.random.default_rng(7)
M, N, K = 24, 40, 32
BITS = {"bfloat16": (np.uint16, "bf16"), "float8_e4m3fn": (np.uint8, "e4m3"), "float8_e5m2": (np.uint8, "e5m2")}


def drawn(kind: str, *shape: int) -> Any:
    if np.dtype(kind).kind in "iu":
        limits = np.iinfo(kind)
        return RNG.integers(limits.min, limits.max, shape, kind, endpoint=True)
    return RNG.standard_normal(shape).astype(kind)


def close(found: Any, wanted: Any, step: float, kind: str) -> bool:
    """Within one rounding to the result's type and what sums of a type lose: tensor cores add bytes with 13 bits."""
    loss = 2**-13 if "float8" in kind else 2**-17
    return bool((np.abs(found.astype(float) - wanted) <= step * np.abs(wanted) + loss * K).all())


# Type of the operands, wishes, natural type of the result, and its rounding.
NATURAL: list[tuple[str, dict[str, Any], str, float]] = [
    ("float16", {}, "float16", 2**-11),
    ("bfloat16", {}, "bfloat16", 2**-8),
    ("float32", {"input": "tf32"}, "float32", 2**-24),
    ("float64", {}, "float64", 2**-50),
    ("int8", {}, "int32", 0),
    ("uint8", {}, "int32", 0),
    ("float8_e4m3fn", {}, "float16", 2**-11),
    ("float8_e5m2", {"promote": 32}, "float16", 2**-11),
    ("float16", {"output": "bf16"}, "bfloat16", 2**-8),
    ("bfloat16", {"output": "f32"}, "float32", 2**-24),
    ("float8_e4m3fn", {"output": "f64"}, "float64", 2**-24),
    ("int8", {"output": "f32"}, "float32", 0),
]


@pytest.mark.parametrize("kind, wishes, result, step", NATURAL, ids=str)
def test_the_natural_result(kind: str, wishes: dict[str, Any], result: str, step: float) -> None:
    a, b = drawn(kind, M, K), drawn(kind, N, K).T
    if wishes.get("input") == "tf32":
        a, b = (_of_eleven_bits(each) for each in (a, b))
    exact = a.astype(float) @ b.astype(float)
    found = ptxgen.matmul(a, b, **wishes)
    assert (found.dtype, found.shape) == (np.dtype(result), (M, N))
    assert np.array_equal(found, exact) if not step else close(found, exact, step, kind)


def _of_eleven_bits(array: Any) -> Any:
    return (array.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.parametrize("left, right", [("int8", "uint8"), ("float8_e5m2", "float8_e4m3fn")])
def test_two_types(left: str, right: str) -> None:
    a, b = drawn(left, M, K), drawn(right, K, N)
    assert close(ptxgen.matmul(a, b), a.astype(float) @ b.astype(float), 2**-11, left)


@pytest.mark.parametrize("kind", ("bfloat16", "int8", "float8_e4m3fn"))
def test_what_follows_the_sum(kind: str) -> None:
    a, b = drawn(kind, 2, M, K), drawn(kind, 2, K, N)
    bias, residual = drawn("float32", N), drawn("bfloat16", 2, M, N)
    found = ptxgen.matmul(a, b, bias, "relu", residual=residual)
    wanted = np.maximum(a.astype(float) @ b.astype(float) + bias, 0) + residual.astype(float)
    assert found.dtype == {"bfloat16": "bfloat16", "int8": "float32"}.get(kind, "float16")
    assert close(found, wanted, 2**-8, kind)


def test_what_goes_into_the_activation_is_kept() -> None:
    a, b, bias = drawn("bfloat16", M, K), drawn("bfloat16", K, N), drawn("bfloat16", N)
    before, out = np.full((M, N), np.nan, np.float32), np.full((M, N), np.nan, np.float32)
    assert ptxgen.matmul(a, b, bias, "silu", out, pre_activation=before) is out
    exact = a.astype(float) @ b.astype(float) + bias.astype(float)
    assert close(before, exact, 2**-23, "bfloat16")
    assert close(out, exact / (1 + np.exp(-exact)), 2**-20, "bfloat16")


@pytest.mark.parametrize("kind", BITS)
def test_bits_are_what_input_says(kind: str) -> None:
    bits, name = BITS[kind]
    a, b = drawn(kind, M, K), drawn(kind, K, N)
    found = ptxgen.matmul(a.view(bits), b.view(bits), input=name, output="f32")
    assert found.tobytes() == ptxgen.matmul(a, b, output="f32").tobytes()
    out = np.zeros((M, N), bits)
    ptxgen.matmul(a, b, out=out, output=name)
    assert out.tobytes() == ptxgen.matmul(a, b, output=name).tobytes()


def test_what_a_dtype_tells() -> None:
    """Two nameless bytes are how an array interface writes bf16; other bits tell nothing."""
    told = {kind: element_of(outline(np.dtype(kind), (1,))) for kind in ("V2", "V1", "u2", "u1", "f4", "bfloat16")}
    assert told == {"V2": bf16, "V1": None, "u2": None, "u1": u8, "f4": f32, "bfloat16": bf16}
