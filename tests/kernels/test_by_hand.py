"""Products against formulas written out here in float64, which know nothing of statements and expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ptxgen.compute import Element, f16, f32
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, parse_epilogue

TILING = MatmulTiling(i=64, j=64, k=16)
ROWS, COLUMNS, TERMS = 37, 70, 21
NUMBERS = {"alpha": 0.75, "beta": -1.5, "low": -0.5, "high": 1.25}
UNIT = {f32: 2.0**-22, f16: 2.0**-11}
STORED = {f32: 2.0**-21, f16: 2.0**-10}

Doubles = NDArray[np.float64]


def arguments(layout: Layout, words: list[str], front: tuple[int, ...]) -> dict[str, Any]:
    """Normal numbers for everything that the words read."""
    chance = np.random.default_rng(11)
    a, b = chance.standard_normal((*front, ROWS, TERMS)), chance.standard_normal((*front, TERMS, COLUMNS))
    given = {
        "A": (a.swapaxes(-1, -2).copy() if layout.value[0] == "t" else a).astype(np.float16),
        "B": (b.swapaxes(-1, -2).copy() if layout.value[1] == "t" else b).astype(np.float16),
    }
    for word, name, shape, dtype in (
        ("bias", "bias", (COLUMNS,), np.float32),
        ("row_bias", "row_bias", (ROWS,), np.float32),
        ("residual", "R", (*front, ROWS, COLUMNS), np.float16),
        ("beta", "C", (*front, ROWS, COLUMNS), np.float16),
    ):
        if word in words:
            given[name] = chance.standard_normal(shape).astype(dtype)
    return given


def formulas(value: Doubles, words: list[str], given: dict[str, Any]) -> dict[str, Doubles]:
    """What the words make of a product."""
    wide = {name: array.astype(np.float64) for name, array in given.items()}
    found = {}
    for word in words:
        if word == "alpha":
            value = NUMBERS["alpha"] * value
        elif word == "beta":
            value = value + NUMBERS["beta"] * wide["C"]
        elif word == "bias":
            value = value + wide["bias"][None, :]
        elif word == "row_bias":
            value = value + wide["row_bias"][:, None]
        elif word == "residual":
            value = value + wide["R"]
        elif word == "relu":
            value = np.maximum(value, 0)
        elif word == "gelu":
            value = 0.5 * value * (1 + np.tanh(np.sqrt(2 / np.pi) * (value + 0.044715 * value**3)))
        elif word == "silu":
            value = value / (1 + np.exp(-value))
        elif word == "clamp":
            value = np.clip(value, NUMBERS["low"], NUMBERS["high"])
        elif word == "keep":
            found["E"] = value
        elif word == "row_sum":
            found["row_sum"] = value.sum(-1)
        elif word == "column_sum":
            found["column_sum"] = value.sum(-2)
    return {**found, "D": value}


def check(layout: Layout, accumulate: Element, output: Element, epilogue: str, front: tuple[int, ...] = ()) -> None:
    words = epilogue.split(",") if epilogue else []
    given = arguments(layout, words, front)
    spec = MatmulSpec(layout, accumulate, output, parse_epilogue(epilogue), bool(front))
    numbers = {"alpha": ("alpha",), "beta": ("beta",), "clamp": ("low", "high")}
    scalars = {name: NUMBERS[name] for word in words for name in numbers.get(word, ())}
    outcome = Matmul(spec, tiling=TILING)(given, scalars)
    a, b = given["A"].astype(np.float64), given["B"].astype(np.float64)
    a = a.swapaxes(-1, -2) if layout.value[0] == "t" else a
    b = b.swapaxes(-1, -2) if layout.value[1] == "t" else b
    summing = (TERMS / 4 + 1) * UNIT[accumulate] * float((np.abs(a) @ np.abs(b)).max()) * 2 + 2.0**-20
    for name, exact in formulas(a @ b, words, given).items():
        terms = {"row_sum": COLUMNS, "column_sum": ROWS}.get(name, 1)
        kept = f16 if name == "E" else f32 if terms > 1 else output
        allowed = terms * (summing + 2.0**-22 * np.abs(exact).max()) + STORED[kept] * np.abs(exact)
        assert outcome.arrays[name].shape == exact.shape
        assert (np.abs(outcome.arrays[name] - exact) <= allowed).all(), name


ALL = ("alpha,bias,gelu,residual,clamp", "beta,row_bias,silu,keep,relu")


@pytest.mark.parametrize("epilogue", ALL)
@pytest.mark.parametrize("layout", Layout, ids=lambda layout: layout.value)
def test_every_layout_and_piece(layout: Layout, epilogue: str) -> None:
    check(layout, f32, f32, epilogue)


@pytest.mark.parametrize(
    ("layout", "output", "epilogue"),
    ((Layout.TN, f16, ALL[0]), (Layout.NT, f32, ALL[1]), (Layout.TT, f16, "row_sum,silu,column_sum")),
    ids=str,
)
def test_sums_in_f16(layout: Layout, output: Element, epilogue: str) -> None:
    check(layout, f16, output, epilogue)


@pytest.mark.parametrize("epilogue", ("", "bias", "bias,relu", "bias,gelu,residual", "gelu,row_sum,relu,column_sum"))
def test_results_in_f16(epilogue: str) -> None:
    check(Layout.NN, f32, f16, epilogue)


def test_batches() -> None:
    check(Layout.NT, f32, f16, "bias,residual,relu", front=(3,))


@pytest.mark.parametrize("function", ("relu", "gelu", "silu"))
def test_functions_of_infinity(function: str) -> None:
    given = {"A": np.ones((16, 4), np.float16), "B": np.ones((4, 8), np.float16)}
    bias = np.array([np.inf, -np.inf, np.nan, 1e30, -1e30, 0, 0, 0], np.float32)
    spec = MatmulSpec(output=f32, epilogue=parse_epilogue(f"bias,{function}"))
    row = Matmul(spec, tiling=TILING)({**given, "bias": bias}).arrays["D"][3]
    assert row[0] == np.inf
    assert np.isnan(row[1]) == (function != "relu")
    assert np.isnan(row[2])
    assert row[3] == np.float32(1e30)
    assert row[4] == 0


def test_a_bound_that_is_no_number_does_not_limit() -> None:
    given = {"A": np.eye(16, dtype=np.float16) * 9, "B": -np.eye(16, dtype=np.float16)}
    product = Matmul(MatmulSpec(epilogue=parse_epilogue("clamp")), tiling=TILING)
    assert product(given, {"low": np.nan, "high": -1.0}).arrays["D"].min() == -9
    assert product(given, {"low": np.nan, "high": -1.0}).arrays["D"].max() == -1
    assert product(given, {"low": -2.0, "high": np.nan}).arrays["D"].min() == -2
    assert product(given, {"low": 3.0, "high": 1.0}).arrays["D"].max() == 1
