"""Expressions: what they build, how they print, and what they mean in numpy."""

import math

import numpy as np
import pytest

from polyhedral import const, var
from ptxgen.compute import (
    Binary,
    BinaryOp,
    Comparison,
    Constant,
    Expression,
    Load,
    Operand,
    Round,
    Scalar,
    Select,
    Unary,
    UnaryOp,
    children,
    clamp,
    exp,
    f16,
    gelu,
    loads,
    maximum,
    minimum,
    rebuild,
    reciprocal,
    relu,
    scalars,
    show,
    sigmoid,
    silu,
    walk,
)

X = Operand(0)
A = Load("A", (var("i"), var("k") + 1))


def value(node: Expression, x: float) -> float:
    """An expression in float64, written out here."""
    match node:
        case Constant(literal):
            return literal
        case Operand():
            return x
        case Binary(op, left, right):
            a, b = value(left, x), value(right, x)
            return {
                BinaryOp.ADD: lambda: a + b,
                BinaryOp.SUBTRACT: lambda: a - b,
                BinaryOp.MULTIPLY: lambda: a * b,
                BinaryOp.DIVIDE: lambda: a / b,
                BinaryOp.MINIMUM: lambda: min(a, b),
                BinaryOp.MAXIMUM: lambda: max(a, b),
            }[op]()
        case Unary(op, inner):
            a = value(inner, x)
            return {UnaryOp.NEGATE: lambda: -a, UnaryOp.EXP2: lambda: 2**a, UnaryOp.RECIPROCAL: lambda: 1 / a}[op]()
        case Select(comparison, left, right, then, otherwise):
            a, b = value(left, x), value(right, x)
            holds = {Comparison.LESS: a < b, Comparison.LESS_EQUAL: a <= b, Comparison.NOT_EQUAL: a < b or a > b}
            return value(then if holds[comparison] else otherwise, x)
    raise AssertionError(node)


@pytest.mark.parametrize("x", [-4.0, -1.0, -0.25, 0.0, 0.5, 3.0])
def test_functions_mean_what_their_names_say(x: float) -> None:
    tanh = math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    expected = {
        relu(X): max(x, 0.0),
        clamp(X, -1, 1): min(max(x, -1.0), 1.0),
        exp(X): math.exp(x),
        sigmoid(X): 1 / (1 + math.exp(-x)),
        silu(X): x / (1 + math.exp(-x)),
        gelu(X): 0.5 * x * (1 + tanh),
        minimum(X, 0.1): min(x, 0.1),
        maximum(X, 0.1): max(x, 0.1),
        reciprocal(X + 10.0): 1 / (x + 10),
        1 - X / 2 + 3 * -X: 1 - x / 2 - 3 * x,
    }
    for node, number in expected.items():
        assert value(node, x) == pytest.approx(number, rel=1e-12, abs=1e-15), show(node)


@pytest.mark.parametrize("node", [relu(X), clamp(X, -1, 1)])
def test_nan_stays_nan(node: Expression) -> None:
    assert math.isnan(value(node, math.nan))


@pytest.mark.parametrize(
    "node, text",
    [
        (A * 2.0 + Scalar("beta"), "((A[i, k + 1] * 2) + beta)"),
        (Round(-X, f16), "f16(-$0)"),
        (relu(X), "(0 if $0 < 0 else $0)"),
        (minimum(X, exp(X)), "min($0, exp2(($0 * 1.442695)))"),
        (X - X / X, "($0 - ($0 / $0))"),
    ],
)
def test_expressions_print_as_one_would_write_them(node: Expression, text: str) -> None:
    assert show(node) == text


NUMBERS = [
    0.0,
    -0.0,
    1.0,
    2.5,
    1 / 3,
    0.1,
    16777217.0,
    1e-45,
    3.4028234663852886e38,
    1.0000001,
    math.pi,
    1e39,
    math.inf,
]


@pytest.mark.parametrize("number", [*NUMBERS, *(-number for number in NUMBERS)])
def test_a_printed_constant_reads_back_as_the_same_f32(number: float) -> None:
    text = show(Constant(number))
    with np.errstate(over="ignore"):
        assert np.float32(text).tobytes() == np.float32(number).tobytes()


def test_a_printed_constant_has_no_digit_too_many() -> None:
    written = {0.1: "0.1", 2.0: "2", 0.044715: "0.044715", 16777216.0: "16777216", -math.inf: "-inf", math.nan: "nan"}
    assert [show(Constant(number)) for number in written] == list(written.values())


def test_loads_and_scalars_come_in_order_and_once() -> None:
    b, beta, alpha = Load("B", (const(0),)), Scalar("beta"), Scalar("alpha")
    node = beta * A + b * A + alpha * beta
    assert loads(node) == (A, b)
    assert scalars(node) == (beta, alpha)


def test_rebuild_replaces_leaves_and_nothing_else() -> None:
    node = Round(relu(A * X) + 1.0, f16)
    other = rebuild(node, lambda leaf: X if leaf == A else leaf)
    assert loads(other) == ()
    assert rebuild(node, lambda leaf: leaf) == node
    assert len(list(walk(other))) == len(list(walk(node)))


def test_children_are_left_to_right() -> None:
    assert children(Select(Comparison.LESS, X, A, Constant(1.0), Constant(2.0))) == (
        X,
        A,
        Constant(1.0),
        Constant(2.0),
    )
    assert children(A) == ()


def test_printing_refuses_what_is_no_node() -> None:
    with pytest.raises(TypeError, match="not an expression node"):
        show(Expression())
