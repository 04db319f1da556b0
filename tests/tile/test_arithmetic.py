"""Expressions on the tile machine: one f32 rounding per node."""

import math

import numpy as np
import pytest

from ptxgen.compute import (
    Constant,
    Expression,
    Load,
    Operand,
    Round,
    Scalar,
    clamp,
    f16,
    f32,
    gelu,
    maximum,
    minimum,
    relu,
    s32,
    silu,
)
from ptxgen.tile.machine import MachineFault
from ptxgen.tile.machine.arithmetic import evaluate_expression

X = np.array([-2.5, -0.0, 0.0, 0.3, 7.0, np.inf, np.nan], np.float32)


def value(node: Expression, x: np.ndarray = X) -> np.ndarray:
    return evaluate_expression(node, lambda index: x, {"alpha": 1.5})


def test_each_operation_is_rounded_to_f32() -> None:
    large = np.array([2.0**24], np.float32)
    assert value((Operand(0) + 1.0) + 1.0, large) == np.float32(2.0**24)
    assert value(Operand(0) * Scalar("alpha") - 0.25).dtype == np.float32
    assert np.array_equal(value(Operand(0) / 3.0), X / np.float32(3), equal_nan=True)


def test_minimum_and_maximum_pass_over_nan() -> None:
    assert value(minimum(Operand(0), 1.0))[-1] == 1
    assert value(maximum(1.0, Operand(0)))[-1] == 1


def test_relu_and_clamp_keep_nan() -> None:
    assert np.array_equal(value(relu(Operand(0))), np.where(X < 0, 0, X), equal_nan=True)
    assert np.array_equal(value(clamp(Operand(0), -1.0, 1.0)), np.clip(X, -1, 1), equal_nan=True)


@pytest.mark.parametrize("x", [-3.0, -0.5, 0.0, 0.7, 4.0])
def test_silu_and_gelu_agree_with_float64(x: float) -> None:
    at = np.array([x], np.float32)
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    assert value(silu(Operand(0)), at)[0] == pytest.approx(x / (1 + math.exp(-x)), rel=1e-5)
    assert value(gelu(Operand(0)), at)[0] == pytest.approx(0.5 * x * (1 + math.tanh(inner)), rel=1e-4, abs=1e-7)


def test_round_is_to_nearest_even_and_back() -> None:
    between = np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11], np.float32)
    assert value(Round(Operand(0), f16), between).tolist() == [1.0, 1 + 2.0**-9]
    assert value(Round(Operand(0), f32), between).tolist() == between.tolist()


def test_an_operand_is_asked_for_once() -> None:
    asked: list[int] = []

    def operand(index: int) -> np.ndarray:
        asked.append(index)
        return X

    evaluate_expression(Operand(1) * Operand(1) + Operand(0), operand, {})
    assert asked == [1, 0]


@pytest.mark.parametrize(
    "node, words",
    [
        (Scalar("beta"), "the launch gives no scalar beta"),
        (Load("A", ()), "reads array A and not an operand"),
        (Round(Constant(1.0), s32), "rounds to s32"),
    ],
)
def test_what_a_tile_cannot_evaluate_is_named(node: Expression, words: str) -> None:
    with pytest.raises(MachineFault, match=words):
        value(node)
