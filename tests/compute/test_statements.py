"""Building a compute: what it holds, and how mistakes are refused."""

import pytest

from polyhedral import const, var
from ptxgen.compute import Array, ArrayKind, Compute, ComputeBuilder, ReductionOp, Scalar, f16, f32, relu


def matmul() -> Compute:
    c = ComputeBuilder("matmul")
    i, j, k = c.dims(i="M", j="N", k="K")
    a = c.input("A", f16, (i, k), strides=("lda", 1))
    b = c.input("B", f16, (k, j), strides=(1, "ldb"))
    product, d = c.local("C", f32, (i, j)), c.output("D", f16, (i, j), strides=("ldd", 1))
    c.reduce(ReductionOp.ADD, product[i, j], a[i, k] * b[k, j], (i, j, k), (k,))
    c.define(d[i, j], relu(product[i, j] * Scalar("alpha")), (i, j))
    return c.build()


def test_a_compute_prints_its_statements() -> None:
    assert str(matmul()) == (
        "compute matmul\n"
        "  C[i, j] = sum[k] (A[i, k] * B[k, j])    for 0 <= i < M and 0 <= j < N and 0 <= k < K\n"
        "  D[i, j] = (0 if (C[i, j] * alpha) < 0 else (C[i, j] * alpha))    for 0 <= i < M and 0 <= j < N"
    )


def test_parameters_and_scalars_are_found() -> None:
    compute = matmul()
    assert compute.parameters == ("M", "K", "lda", "N", "ldb", "ldd")
    assert compute.scalars == (Scalar("alpha"),)


def test_a_statement_knows_its_domain_reads_and_reduced_dims() -> None:
    statement = matmul().statement("C")
    assert statement.reduced == ("k",)
    assert [load.array for load in statement.reads] == ["A", "B"]
    assert statement.dim("k").extent == var("K")
    sizes = {"M": 2, "N": 3, "K": 2}
    inside = [
        (i, j, k)
        for i in range(-1, 4)
        for j in range(-1, 4)
        for k in range(-1, 4)
        if statement.domain.contains({**sizes, "i": i, "j": j, "k": k})
    ]
    assert inside == [(i, j, k) for i in range(2) for j in range(3) for k in range(2)]


def test_the_contiguous_dimension_has_stride_one() -> None:
    compute = matmul()
    assert compute.array("A").contiguous_dimension == 1
    assert compute.array("B").contiguous_dimension == 0
    assert Array("X", f32, (const(4),), (const(2),), ArrayKind.INPUT).contiguous_dimension is None


def test_a_statement_keeps_the_line_that_made_it() -> None:
    statement = matmul().statement("D")
    assert statement.line.file == __file__
    assert statement.line.function == "matmul"


def test_each_array_has_one_name() -> None:
    c = ComputeBuilder("twice")
    (i,) = c.dims(i=4)
    c.input("A", f32, (i,), (1,))
    with pytest.raises(ValueError, match="twice: an array 'A' exists already"):
        c.output("A", f32, (i,), (1,))


def test_strides_match_dims() -> None:
    c = ComputeBuilder("strides")
    with pytest.raises(ValueError, match="A: 1 dims but 2 strides"):
        c.input("A", f32, c.dims(i=4), (1, 1))


def test_indices_match_dims() -> None:
    c = ComputeBuilder("indices")
    i, j = c.dims(i=4, j=4)
    a = c.input("A", f32, (i, j), (4, 1))
    with pytest.raises(IndexError, match="A has 2 dimensions, 1 indices were given"):
        a[i]


def test_an_array_of_another_compute_is_refused() -> None:
    c, other = ComputeBuilder("mine"), ComputeBuilder("other")
    (i,) = c.dims(i=4)
    b, y = other.input("B", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    with pytest.raises(ValueError, match=r"mine: B\[i\] names no array of this compute"):
        c.define(y[i], b[i] + 1.0, (i,))


def test_an_array_is_assigned_once() -> None:
    c = ComputeBuilder("again")
    (i,) = c.dims(i=4)
    y = c.output("Y", f32, (i,), (1,))
    c.define(y[i], 1.0, (i,))
    c.define(y[i], 2.0, (i,), name="Y2")
    with pytest.raises(ValueError, match="again: Y is assigned by two statements"):
        c.build()


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    compute = matmul()
    with pytest.raises(KeyError, match="has no array 'E'; it has A, B, C, D"):
        compute.array("E")
    with pytest.raises(KeyError, match="has no statement 'A'; it has C, D"):
        compute.statement("A")
    with pytest.raises(KeyError, match="has no dim 'z'; it has i, j, k"):
        compute.statement("C").dim("z")
