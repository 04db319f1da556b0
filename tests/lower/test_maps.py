"""Expressions and reductions on register tiles, to the bit against numpy in f32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polyhedral import var
from ptxgen.compute import (
    Comparison,
    Constant,
    Operand,
    ReductionOp,
    Round,
    Scalar,
    Select,
    clamp,
    exp,
    f16,
    f32,
    gelu,
    maximum,
    minimum,
    relu,
    s32,
    silu,
)
from ptxgen.errors import KernelError, UnsupportedError
from ptxgen.simulate import unwritten
from ptxgen.tile import Distribution, Fill, Iteration, Map, MapOperand, Outside, Reduce, Sequence
from tests.lower.programs import LINE, array, at, copy, program, registers, row_major, run, text, tiles

HELD = row_major((16, 32), 4)
KINDS = {f16: np.float16, f32: np.float32, s32: np.int32}
A, B, C = Operand(0), Operand(1), Operand(2)


def computed(expression, operands, out=f32, guarded=(0, 1), held=HELD, **arguments):
    """D = expression at every point of a 16 x 32 tile grid; operands are (name, array, dims, vector)."""
    origin = (var("cta.i") * held.shape[0], var("cta.j") * held.shape[1])
    arrays, read = [], []
    for name, given, dims, vector in operands:
        element = next(e for e, kind in KINDS.items() if kind == getattr(given, "array", given).dtype)
        names = [("M", "N")[dim] for dim in dims]
        whole = array(name, element, tuple(names), (*(f"ld{name}",) * (len(dims) - 1), 1))
        arrays.append(whole)
        read.append(MapOperand(at(whole, *(origin[dim] for dim in dims)), dims, vector))
    whole, tile = array("D", out, ("M", "N"), ("ldd", 1)), registers("D.registers", out, held)
    iteration = Iteration(("i", "j"), origin, (var("M"), var("N")), held, guarded)
    body = Sequence(
        (
            Map("D", iteration, at(tile), (0, 1), expression, tuple(read), LINE),
            copy(at(tile), at(whole, *origin), held, 1, (0, 1)),
        )
    )
    m, n = arguments.pop("shape", (21, 36))
    scalars = tuple(name for name in arguments if name in ("alpha", "beta", "low"))
    grid = tiles(i=("M", held.shape[0]), j=("N", held.shape[1]))
    made = program((*arrays, whole), grid, body, tile, alignment=2, scalars=scalars)
    d = np.full((m, n), 7, KINDS[out])
    strides = {f"ld{name}": getattr(a, "array", a).shape[-1] for name, a, dims, _ in operands if len(dims) > 1}
    given = {name: a for name, a, _, _ in operands}
    run(made, {"D": d, "M": m, "N": n, "ldd": n, **strides, **given, **arguments})
    return d


def numbers(*shape, kind=np.float32, seed=0):
    made = np.random.default_rng(seed).standard_normal(shape) * 3
    return made.astype(kind)


def test_each_operation_rounds_once() -> None:
    a, b = numbers(21, 36), numbers(21, 36, seed=1)
    a[0, :6], b[0, :6] = [np.nan, 1, np.nan, np.inf, -0.0, 0.0], [1, np.nan, np.nan, 2, 0.0, -0.0]
    with np.errstate(all="ignore"):
        cases = operations(a, b, np.float32)
        for expression, expected in cases.items():
            found = computed(expression, [("A", a, (0, 1), 4), ("B", b, (0, 1), 2)])
            assert np.array_equal(found, expected, equal_nan=True), expression


def operations(a, b, f):
    """Expressions with what numpy says of them."""
    return {
        A * B + B: a * b + b,
        A - B * Constant(0.1): a - b * f(0.1),
        A / B: a / b,
        -A + Constant(1.5): -a + f(1.5),
        minimum(A, B): np.fmin(a, b),
        maximum(A, B): np.fmax(a, b),
        relu(A): np.where(a < 0, f(0), a),
        clamp(A, -1.0, 1.0): np.where(f(1) < np.where(a < -1, f(-1), a), f(1), np.where(a < -1, f(-1), a)),
        Select(Comparison.LESS_EQUAL, A, B, A, B): np.where(a <= b, a, b),
        Select(Comparison.NOT_EQUAL, A, B, A, Constant(9.0)): np.where((a != b) & ~np.isnan(a) & ~np.isnan(b), a, f(9)),
        Round(A, f16) * B: a.astype(np.float16).astype(f) * b,
        Round(Round(A * B, f32), f16): (a * b).astype(np.float16).astype(f),
    }


@pytest.mark.parametrize("activation", [gelu, silu])
def test_activations_are_close(activation) -> None:
    a = numbers(21, 36)
    x = a.astype(np.float64)
    u = 2 * 0.7978845608028654 * (x + 0.044715 * x**3) if activation is gelu else x
    found = computed(activation(A), [("A", a, (0, 1), 1)])
    assert np.allclose(found, x / (1 + np.exp(-u)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int32])
@pytest.mark.parametrize("out", [f16, f32])
def test_operands_along_rows_columns_and_both(kind, out) -> None:
    a, row, column = numbers(21, 36, kind=kind), numbers(36, kind=kind, seed=1), numbers(21, kind=kind, seed=2)
    found = computed(A * B + C, [("A", a, (0, 1), 4), ("B", row, (1,), 2), ("C", column, (0,), 1)], out)
    f = np.float32
    expected = (a.astype(f) * row.astype(f) + column.astype(f)[:, None]).astype(KINDS[out])
    assert (found == expected).all()


def test_a_side_that_is_not_taken_is_not_read() -> None:
    a, c = numbers(21, 36), numbers(21, 36, seed=1)
    scaled = A * Scalar("alpha")
    blended = Select(Comparison.NOT_EQUAL, Scalar("beta"), Constant(0.0), scaled + B * Scalar("beta"), scaled)
    read = [("A", a, (0, 1), 4), ("B", c, (0, 1), 4)]
    f = np.float32
    assert (computed(blended, read, alpha=0.5, beta=0.25) == a * f(0.5) + c * f(0.25)).all()
    unread = [("A", a, (0, 1), 4), ("B", unwritten(np.full_like(c, np.nan)), (0, 1), 4)]
    assert (computed(blended, unread, alpha=0.5, beta=0.0) == a * f(0.5)).all()
    with pytest.raises(KernelError, match="uninitialised"):
        computed(blended, unread, alpha=0.5, beta=1.0)


def test_nested_choices_are_all_asked() -> None:
    a, b = numbers(21, 36), unwritten(numbers(21, 36))
    inner = Select(Comparison.LESS, Scalar("low"), Constant(0.0), Constant(3.0), B)
    both = Select(Comparison.LESS_EQUAL, Constant(2.0), Scalar("alpha"), A + inner, A)
    read = [("A", a, (0, 1), 2), ("B", b, (0, 1), 2)]
    assert (computed(both, read, alpha=1.0, low=1.0) == a).all()
    assert (computed(both, read, alpha=2.0, low=-1.0) == a + np.float32(3)).all()


def test_equal_values_are_computed_once() -> None:
    row, held = array("B", f32, (32,), (1,)), registers("D.registers", f32, HELD)
    iteration = Iteration(("i", "j"), (var("cta.i"), var("cta.i")), (var("M"), var("M")), HELD, ())
    node = Map("D", iteration, at(held), (0, 1), relu(A * 2.0), (MapOperand(at(row, 0), (1,), 4),), LINE)
    whole = array("D", f32, (16, 32), (32, 1))
    ptx = text(program((row, whole), (), Sequence((node, copy(at(held), at(whole), HELD, 4))), held))
    assert (ptx.count("mul.rn.f32"), ptx.count("ld.global.v4"), ptx.count("selp.f32")) == (4, 1, 4)


STATISTICS: dict[ReductionOp, Any] = {ReductionOp.ADD: np.sum, ReductionOp.MAXIMUM: np.max}


@pytest.mark.parametrize("join", list(ReductionOp))
@pytest.mark.parametrize("kept", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("shape", [(16, 32), (9, 21), (1, 1)])
@pytest.mark.parametrize("element", [f16, f32])
def test_reductions_over_rows_columns_and_none(join, kept, shape, element) -> None:
    tile = registers("A.registers", f32, HELD)
    source = array("A", f32, ("M", "N"), ("lda", 1))
    small = HELD.project(kept)
    target = registers("D.registers", element, small)
    whole = array("D", element, tuple("MN"[dim] for dim in kept), (*("N",) * (len(kept) - 1), 1))
    iteration = Iteration(("i", "j"), (var("Z") * 0, var("Z") * 0), (var("M"), var("N")), HELD, (0, 1))
    body = Sequence(
        (
            copy(at(source), at(tile), HELD, 1, (0, 1), Outside.ZERO),
            Fill("D", at(target), 2.0 if join is ReductionOp.ADD else -4.0, LINE),
            Reduce("D", join, iteration, at(target), kept, A * A - 3.0, (MapOperand(at(tile), (0, 1), 1),), LINE),
            copy(at(target), at(whole), small, 1, tuple(range(len(kept)))),
        )
    )
    made = program((source, whole), (), body, tile, target, alignment=2)
    a = numbers(*shape)
    d = np.zeros([shape[dim] for dim in kept], KINDS[element])
    run(made, {"A": a, "D": d, "M": shape[0], "N": shape[1], "lda": shape[1]})
    dims = tuple(dim for dim in (0, 1) if dim not in kept)
    points = a.astype(np.float64) ** 2 - 3
    expected = STATISTICS[join](points, axis=dims) if dims else points
    expected = expected + 2 if join is ReductionOp.ADD else np.maximum(expected, -4)
    assert np.allclose(d, expected, rtol=1e-3 if element is f16 else 1e-5, atol=1e-2 if element is f16 else 1e-4)


def test_a_row_softmax() -> None:
    """Row maximum and sum live in replicated registers and feed maps."""
    rows, columns = 8, 64
    held = row_major((rows, columns), 4)
    row = held.project((0,))
    source, whole = array("A", f32, ("M", "N"), ("N", 1)), array("D", f32, ("M", "N"), ("N", 1))
    tile, top, total = registers("A.registers", f32, held), registers("m", f32, row), registers("l", f32, row)
    iteration = Iteration(("i", "j"), (var("cta.i") * rows, var("N") * 0), (var("M"), var("N")), held, (0, 1))
    across = MapOperand(at(tile), (0, 1), 1)
    body = Sequence(
        (
            copy(at(source, var("cta.i") * rows, 0), at(tile), held, 1, (0, 1), Outside.ZERO),
            Fill("m", at(top), float("-inf"), LINE),
            Fill("l", at(total), 0.0, LINE),
            Reduce("m", ReductionOp.MAXIMUM, iteration, at(top), (0,), A, (across,), LINE),
            Map("P", iteration, at(tile), (0, 1), exp(A - B), (across, MapOperand(at(top), (0,), 1)), LINE),
            Reduce("l", ReductionOp.ADD, iteration, at(total), (0,), A, (across,), LINE),
            Map("D", iteration, at(tile), (0, 1), A / B, (across, MapOperand(at(total), (0,), 1)), LINE),
            copy(at(tile), at(whole, var("cta.i") * rows, 0), held, 1, (0, 1)),
        )
    )
    made = program((source, whole), tiles(i=("M", rows)), body, tile, top, total, alignment=4)
    a, d = numbers(19, 50), np.zeros((19, 50), np.float32)
    run(made, {"A": a, "D": d, "M": 19, "N": 50})
    e = np.exp(a.astype(np.float64) - a.max(axis=1, keepdims=True))
    assert np.allclose(d, e / e.sum(axis=1, keepdims=True), rtol=1e-5)


def test_reduced_dims_over_several_warps_are_refused() -> None:
    held = Distribution((4, 64), ((0, 1),), ((0, 2), (0, 4), (0, 8), (1, 0), (2, 0)), ((0, 16), (0, 32)))
    target = registers("D.registers", f32, held.project((0,)))
    iteration = Iteration(("i", "j"), (var("M") * 0,) * 2, (var("M"),) * 2, held, ())
    tile = registers("A", f32, held)
    node = Reduce("l", ReductionOp.ADD, iteration, at(target), (0,), A, (MapOperand(at(tile), (0, 1), 1),), LINE)
    whole = array("D", f32, ("M",), (1,))
    with pytest.raises(UnsupportedError, match="l: the reduced dims are spread over warps"):
        text(program((whole,), (), node, tile, target, warps=4))
