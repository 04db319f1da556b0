"""The float64 judge against numpy written out by hand."""

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import (
    ArrayKind,
    Comparison,
    ComputeBuilder,
    Constant,
    ReductionOp,
    Round,
    Scalar,
    Select,
    exp,
    f16,
    f32,
    gelu,
    relu,
)
from ptxgen.errors import LaunchError
from ptxgen.testing import memory_of, reference, values_in


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def matmul(epilogue: bool = True):
    c = ComputeBuilder("matmul")
    i, j, k = c.dims(i="M", j="N", k="K")
    a = c.input("A", f16, (i, k), ("lda", 1))
    b = c.input("B", f16, (k, j), ("ldb", 1))
    bias, old = c.input("bias", f32, (j,), (1,)), c.input("C", f32, (i, j), ("ldc", 1))
    product, d = c.local("P", f32, (i, j)), c.output("D", f16, (i, j), ("ldd", 1))
    c.reduce(ReductionOp.ADD, product[i, j], a[i, k] * b[k, j], (i, j, k), (k,))
    beta = Scalar("beta")
    kept = Select(Comparison.NOT_EQUAL, beta, Constant(0.0), beta * old[i, j], Constant(0.0))
    c.define(d[i, j], relu(product[i, j] * Scalar("alpha") + bias[j] + kept), (i, j))
    return c.build()


@pytest.mark.parametrize("m, n, k", [(3, 4, 5), (1, 1, 0), (300, 200, 100), (0, 4, 5)])
def test_a_matmul_with_its_epilogue(m: int, n: int, k: int) -> None:
    a, b, bias, old = noise(m, k), noise(k, n, seed=1), noise(n, seed=2), noise(m, n, seed=3)
    arrays = {"A": a, "B": b, "bias": bias, "C": old}
    found = reference(matmul(), arrays, {"M": m, "N": n, "K": k}, {"alpha": 0.5, "beta": 2.0})
    assert set(found) == {"P", "D"}
    assert np.allclose(found["P"], a @ b, rtol=1e-13, atol=1e-13)
    assert np.allclose(found["D"], np.maximum(0.5 * (a @ b) + bias + 2 * old, 0), rtol=1e-12, atol=1e-12)


def test_what_the_scalars_leave_out_is_not_needed() -> None:
    arrays, sizes = {"A": noise(2, 3), "B": noise(3, 4), "bias": noise(4)}, {"M": 2, "N": 4, "K": 3}
    reference(matmul(), arrays, sizes, {"alpha": 1.0, "beta": 0.0})
    with pytest.raises(LaunchError, match="no values given for the array C"):
        reference(matmul(), arrays, sizes, {"alpha": 1.0, "beta": 1.0})


def test_a_softmax_of_rows_cut_into_boxes() -> None:
    c = ComputeBuilder("softmax")
    i, j = c.dims(i="M", j="N")
    x, y = c.input("X", f32, (i, j), ("N", 1)), c.output("Y", f32, (i, j), ("N", 1))
    largest, power, total = c.local("m", f32, (i,)), c.local("p", f32, (i, j)), c.local("l", f32, (i,))
    c.reduce(ReductionOp.MAXIMUM, largest[i], x[i, j] * 1.0, (i, j), (j,))
    c.define(power[i, j], exp(x[i, j] - largest[i]), (i, j))
    c.reduce(ReductionOp.ADD, total[i], power[i, j] + 0.0, (i, j), (j,))
    c.define(y[i, j], power[i, j] / total[i], (i, j))
    given = noise(3000, 1000)
    found = reference(c.build(), {"X": given}, {"M": 3000, "N": 1000})["Y"]
    expected = np.exp(given - given.max(axis=1, keepdims=True))
    assert np.allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)


def test_indices_are_affine_in_dims_and_sizes() -> None:
    c = ComputeBuilder("convolve")
    i, k = c.dims(i="N", k=3)
    x = c.input("X", f32, c.dims(x=i.extent + 2), (1,))
    w, y = c.input("W", f32, (k,), (1,)), c.output("Y", f32, (i,), (1,))
    c.reduce(ReductionOp.ADD, y[i.extent - 1 - i.affine], x[i.affine + k.affine] * w[k], (i, k), (k,))
    given, taps = noise(12), noise(3)
    found = reference(c.build(), {"X": given, "W": taps}, {"N": 10})["Y"]
    assert np.allclose(found, np.correlate(given, taps)[::-1])


def test_elements_that_no_instance_assigns_are_nan() -> None:
    c = ComputeBuilder("odd")
    i, whole = c.dims(i=4, w=8)
    y = c.output("Y", f32, (whole,), (1,))
    c.define(y[i.affine * 2 + 1], 7.0, (i,))
    found = reference(c.build(), {}, {})["Y"]
    assert np.isnan(found[::2]).all()
    assert (found[1::2] == 7).all()


def test_only_round_rounds() -> None:
    c = ComputeBuilder("round")
    (i,) = c.dims(i=3)
    x, y, z = (c.input("X", f32, (i,), (1,)), c.output("Y", f16, (i,), (1,)), c.output("Z", f16, (i,), (1,)))
    c.define(y[i], Round(x[i], f16), (i,))
    c.define(z[i], x[i] * 1.0, (i,))
    given = np.array([1 + 2.0**-12, np.nan, 1 + 3 * 2.0**-11])
    found = reference(c.build(), {"X": given}, {})
    assert np.array_equal(found["Y"], given.astype(np.float16).astype(float), equal_nan=True)
    assert np.array_equal(found["Z"], given, equal_nan=True)


def test_gelu_is_the_tanh_form() -> None:
    c = ComputeBuilder("gelu")
    (i,) = c.dims(i=101)
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], gelu(x[i]), (i,))
    given = np.linspace(-5, 5, 101)
    inner = np.sqrt(2 / np.pi) * (given + 0.044715 * given**3)
    found = reference(c.build(), {"X": given}, {})["Y"]
    assert np.allclose(found, 0.5 * given * (1 + np.tanh(inner)), atol=1e-6)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"sizes": {"M": 2, "N": 4}}, "no value given for K"),
        ({"A": noise(2, 2)}, r"array A has extents \(2, 3\), got shape \(2, 2\)"),
        ({"scalars": {"beta": 0.0}}, "no value given for the scalar alpha"),
    ],
)
def test_a_launch_that_does_not_fit_is_refused(change: dict, words: str) -> None:
    arrays = {"A": change.get("A", noise(2, 3)), "B": noise(3, 4), "bias": noise(4)}
    sizes = change.get("sizes", {"M": 2, "N": 4, "K": 3})
    with pytest.raises(LaunchError, match=words):
        reference(matmul(), arrays, sizes, change.get("scalars", {"alpha": 1.0, "beta": 0.0}))


def test_an_index_that_leaves_its_array_is_named() -> None:
    c = ComputeBuilder("shifted")
    (i,) = c.dims(i="N")
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[i] * 1.0, (i,))
    inside = c.build()
    outside = evolve(inside, statements=(evolve(inside.statement("Y"), value=x[i.affine + 1] * 1.0),))
    with pytest.raises(LaunchError, match=r"Y: X\[i \+ 1\] leaves the extents \(4,\) of X"):
        reference(outside, {"X": noise(4)}, {"N": 4})


def test_memory_holds_the_elements_at_their_strides() -> None:
    array = matmul().array("A")
    assert array.kind is ArrayKind.INPUT
    values = np.arange(6.0).reshape(2, 3)
    memory = memory_of(array, values, {"M": 2, "K": 3, "lda": 5})
    assert memory.dtype == np.float16
    assert np.array_equal(memory, [0, 1, 2, np.nan, np.nan, 3, 4, 5], equal_nan=True)
    assert np.array_equal(values_in(array, memory, {"M": 2, "K": 3, "lda": 5}), values)
    assert memory_of(array, None, {"M": 0, "K": 3, "lda": 5}).size == 0
    with pytest.raises(LaunchError, match="extents"):
        memory_of(array, values.T, {"M": 2, "K": 3, "lda": 5})


def test_sums_of_parts_add_up_to_the_sum() -> None:
    c = ComputeBuilder("parts")
    i, j, part = c.dims(i="M", j="N", part="P")
    x = c.input("X", f32, (i, j), ("ldx", 1))
    sums = c.output("S", f32, (part, i), ("M", 1))
    c.reduce(ReductionOp.ADD, sums[j // 4, i], x[i, j], (i, j), (j,))
    values = np.arange(30, dtype=np.float32).reshape(3, 10)
    sizes = {"M": 3, "N": 10, "P": 3, "ldx": 10}
    got = reference(c.build(), {"X": values}, sizes)["S"]
    assert np.array_equal(got, [values[:, :4].sum(1), values[:, 4:8].sum(1), values[:, 8:].sum(1)])
