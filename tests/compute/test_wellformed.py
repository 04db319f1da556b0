"""Computes without a meaning: refused with a ValueError that names the thing, on the line that the user wrote."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from itertools import product

import pytest

from polyhedral import const, var
from ptxgen.compute import ComputeBuilder, Dim, Load, ReductionOp, Scalar, f16, f32, s32, tf32


def beyond_the_end(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="N")
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[i.affine + 1] * 1.0, (i,))  # refused


def before_the_start(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="N")
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[i] + x[i.affine - 2], (i,))  # refused


def written_outside(c: ComputeBuilder) -> None:
    i, j = c.dims(i="M", j="N")
    x, y = c.input("X", f32, (i, j), ("N", 1)), c.output("Y", f32, (i, j), ("N", 1))
    c.define(y[j, i], x[i, j], (i, j))  # refused


def part_before_the_start(c: ComputeBuilder) -> None:
    j, part = c.dims(j="N", part="P")
    x, y = c.input("X", f32, (j,), (1,)), c.output("Y", f32, (part,), (1,))
    c.reduce(ReductionOp.ADD, y[(j.affine - 1) // 4], x[j], (j,), (j,))  # refused


def part_beyond_the_end(c: ComputeBuilder) -> None:
    j, part = c.dims(j=64, part=3)
    x, y = c.input("X", f32, (j,), (1,)), c.output("Y", f32, (part,), (1,))
    c.reduce(ReductionOp.ADD, y[j // 16], x[j], (j,), (j,))  # refused


def reduced_dim_not_over(c: ComputeBuilder) -> None:
    i, k = c.dims(i="M", k="K")
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.reduce(ReductionOp.ADD, y[i], x[i], (i,), (k,))  # refused


def reduced_dim_in_the_target(c: ComputeBuilder) -> None:
    i, k = c.dims(i="M", k="K")
    x, y = c.input("X", f32, (i, k), ("K", 1)), c.output("Y", f32, (i, k), ("K", 1))
    c.reduce(ReductionOp.ADD, y[i, k], x[i, k], (i, k), (k,))  # refused


def reduced_over_nothing(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.reduce(ReductionOp.ADD, y[i], x[i], (i,), ())  # refused


def a_dim_twice(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    y = c.output("Y", f32, (i,), (1,))
    c.define(y[i], 1.0, (i, i))  # refused


def a_dim_that_the_statement_lacks(c: ComputeBuilder) -> None:
    i, j = c.dims(i="M", j="M")
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[j] * 1.0, (i,))  # refused


def an_element_twice(c: ComputeBuilder) -> None:
    i, j = c.dims(i="M", j="N")
    x, y = c.input("X", f32, (i, j), ("N", 1)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[i, j], (i, j))  # refused


def an_element_twice_by_parts(c: ComputeBuilder) -> None:
    i, part = c.dims(i="M", part="P")
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (part,), (1,))
    c.define(y[i // 4], x[i], (i,))  # refused


def an_element_twice_by_a_sum_of_dims(c: ComputeBuilder) -> None:
    i, j = c.dims(i=4, j=4)
    (both,) = c.dims(both=7)
    y = c.output("Y", f32, (both,), (1,))
    c.define(y[i.affine + j.affine], 1.0, (i, j))  # refused


def an_input_assigned(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    x = c.input("X", f32, (i,), (1,))
    c.define(x[i], 1.0, (i,))  # refused


def two_assignments(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    y = c.output("Y", f32, (i,), (1,))
    c.define(y[i], 1.0, (i,))
    c.define(y[i], 2.0, (i,), name="Y2")  # refused


def an_output_unassigned(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    y = c.output("Y", f32, (i,), (1,))
    c.output("Z", f32, (i,), (1,))  # refused
    c.define(y[i], 1.0, (i,))


def a_local_unassigned(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    t = c.local("T", f32, (i,))  # refused
    y = c.output("Y", f32, (i,), (1,))
    c.define(y[i], t[i] * 1.0, (i,))


def a_local_read_too_early(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    t, y = c.local("T", f32, (i,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], t[i] * 1.0, (i,))  # refused
    c.define(t[i], 1.0, (i,))


def an_output_read_too_early(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    z, y = c.output("Z", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], z[i] * 1.0, (i,))  # refused
    c.define(z[i], 1.0, (i,))


def a_local_that_reads_itself(c: ComputeBuilder) -> None:
    i, whole = c.dims(i="M", whole=var("M") + 1)
    t, y = c.local("T", f32, (whole,)), c.output("Y", f32, (i,), (1,))
    c.define(t[i.affine + 1], t[i] + 1.0, (i,))  # refused
    c.define(y[i], t[i] * 1.0, (i,))


def an_element_that_nothing_assigns(c: ComputeBuilder) -> None:
    i, whole = c.dims(i="M", whole=var("M") * 2)
    t, y = c.local("T", f32, (whole,)), c.output("Y", f32, (whole,), (1,))
    c.define(t[i.affine * 2], 1.0, (i,))
    c.define(y[whole], t[whole] * 1.0, (whole,))  # refused


def an_array_called_as_a_size(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    m = c.output("M", f32, (i,), (1,))  # refused
    c.define(m[i], 1.0, (i,))


def a_dim_called_as_a_size(c: ComputeBuilder) -> None:
    (m,) = c.dims(M="M")
    y = c.output("Y", f32, (m,), (1,))
    c.define(y[m], 1.0, (m,))  # refused


def a_scalar_called_as_an_array(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[i] * Scalar("X"), (i,))  # refused


def a_scalar_without_a_name(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    y = c.output("Y", f32, (i,), (1,))
    c.define(y[i], 1.0 * Scalar("al pha"), (i,))  # refused


def a_dim_of_two_extents(c: ComputeBuilder) -> None:
    (i,), (other,) = c.dims(i="M"), c.dims(i="N")
    x, y = c.output("X", f32, (i,), (1,)), c.output("Y", f32, (other,), (1,))
    c.define(x[i], 1.0, (i,))
    c.define(y[other], 1.0, (other,))  # refused


def two_statements_of_one_name(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    x, y = c.output("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(x[i], 1.0, (i,))
    c.define(y[i], 1.0, (i,), name="X")  # refused


def a_name_that_ptx_has_not(c: ComputeBuilder) -> None:
    c.input("A.b", f32, c.dims(i="M"), (1,))  # refused


def a_dim_that_is_no_identifier(c: ComputeBuilder) -> None:
    c.dims(**{"i#": "M"})  # refused


def a_size_that_is_no_identifier(c: ComputeBuilder) -> None:
    c.dims(i="M+1")  # refused


def an_extent_of_a_half(c: ComputeBuilder) -> None:
    c.dims(i=1.5)  # type: ignore[arg-type]  # refused


def a_negative_extent(c: ComputeBuilder) -> None:
    c.dims(i=-1)  # refused


def a_stride_of_true(c: ComputeBuilder) -> None:
    c.input("A", f32, c.dims(i="M"), (True,))  # refused


def an_element_by_name(c: ComputeBuilder) -> None:
    c.input("A", "f16", c.dims(i="M"), (1,))  # type: ignore[arg-type]  # refused


def cut_numbers_written(c: ComputeBuilder) -> None:
    c.output("A", tf32, c.dims(i="M"), (1,))  # refused


def integers_of_an_expression(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    x, y = c.input("X", s32, (i,), (1,)), c.output("Y", s32, (i,), (1,))
    c.define(y[i], x[i] * 2.0, (i,))  # refused


def integers_of_floats(c: ComputeBuilder) -> None:
    i, k = c.dims(i="M", k="K")
    x, y = c.input("X", f16, (i, k), ("ldx", 1)), c.local("Y", s32, (i,))
    c.reduce(ReductionOp.ADD, y[i], x[i, k] * x[i, k], (i, k), (k,))  # refused


def a_reduction_by_name(c: ComputeBuilder) -> None:
    (i,) = c.dims(i="M")
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (), ())
    c.reduce("sum", y[()], x[i], (i,), (i,))  # type: ignore[arg-type]  # refused


CASES: dict[Callable[[ComputeBuilder], None], str] = {
    beyond_the_end: "X[i + 1] leaves X, whose extents are (N): at i=0, N=1 index 0 is 1, extent 0 is 1",
    before_the_start: "X[i - 2] leaves X, whose extents are (N): at i=0, N=1 index 0 is -2, extent 0 is 1",
    written_outside: "Y[j, i] leaves Y, whose extents are (M, N)",
    part_before_the_start: "Y[floor((j - 1)/4)] leaves Y, whose extents are (P): at j=0, P=0, N=1 index 0 is -1",
    part_beyond_the_end: "Y[floor((j)/16)] leaves Y, whose extents are (3): at j=48 index 0 is 3, extent 0 is 3",
    reduced_dim_not_over: "Y reduces k, it runs over i",
    reduced_dim_in_the_target: "Y reduces k, which also indexes Y[i, k]",
    reduced_over_nothing: "Y is a reduction over no dim",
    a_dim_twice: "Y runs over i twice",
    a_dim_that_the_statement_lacks: "X[j]: j is no dim of Y (i) nor a size",
    an_element_twice: "Y[i] is assigned more than once, at i=0, j=0 and at i=0, j=1: reduce j, or let it index Y",
    an_element_twice_by_parts: "Y[floor((i)/4)] is assigned more than once, at i=",
    an_element_twice_by_a_sum_of_dims: "Y[i + j] is assigned more than once",
    an_input_assigned: "assigns X, which is an input",
    two_assignments: "Y is assigned by two statements",
    an_output_unassigned: "the output Z is assigned by no statement",
    a_local_unassigned: "the local T is assigned by no statement",
    a_local_read_too_early: "Y reads T[i] before a statement assigns it",
    an_output_read_too_early: "Y reads Z[i] before a statement assigns it",
    a_local_that_reads_itself: "T reads T[i] before a statement assigns it",
    an_element_that_nothing_assigns: "Y reads T[whole], but T does not assign T[1] (at ",
    an_array_called_as_a_size: "'M' names both array and size or stride",
    a_dim_called_as_a_size: "'M' names both size or stride and dim",
    a_scalar_called_as_an_array: "'X' names both array and scalar",
    a_scalar_without_a_name: "scalar name is a letter, then letters, digits and underscores, got 'al pha'",
    a_dim_of_two_extents: "dim i has extents M and N",
    two_statements_of_one_name: "a statement 'X' exists already",
    a_name_that_ptx_has_not: "array name is a letter, then letters, digits and underscores, got 'A.b'",
    a_dim_that_is_no_identifier: "dim name is a letter, then letters, digits and underscores, got 'i#'",
    a_size_that_is_no_identifier: "size name is a letter, then letters, digits and underscores, got 'M+1'",
    an_extent_of_a_half: "the extent of i is a name, a number of at least 0 or an affine expression, got 1.5",
    a_negative_extent: "the extent of i is a name, a number of at least 0 or an affine expression, got -1",
    a_stride_of_true: "a stride of A is a name, a number of at least 0 or an affine expression, got True",
    an_element_by_name: "A holds elements such as f16 or f32, got 'f16'",
    cut_numbers_written: "A is assigned values, which no tf32 holds: take f32",
    integers_of_an_expression: "fills Y, which is s32, from Y[i] = (X[i] * 2)",
    integers_of_floats: "an s32 takes another s32 as it is or a sum of products of s8 or u8",
    a_reduction_by_name: "a reduction is by ReductionOp.ADD or ReductionOp.MAXIMUM, got 'sum'",
}


def built(case: Callable[[ComputeBuilder], None]) -> None:
    builder = ComputeBuilder("compute")
    case(builder)
    builder.build()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_refused_on_the_guilty_line(case: Callable[[ComputeBuilder], None]) -> None:
    lines, first = inspect.getsourcelines(case)
    guilty = [first + place for place, text in enumerate(lines) if "# refused" in text]
    with pytest.raises(ValueError, match=re.escape(CASES[case])) as caught:
        built(case)
    assert str(caught.value).startswith(f"{__file__}:{guilty[0]}: ")


def test_a_compute_is_called_by_an_identifier() -> None:
    with pytest.raises(ValueError, match=r"compute name is .*, got 'two words'"):
        ComputeBuilder("two words")


def test_what_is_whole_is_accepted() -> None:
    c = ComputeBuilder("whole")
    i, j, part = c.dims(i="M", j="N", part="P")
    (longer, double) = c.dims(longer=var("N") + 2, double=var("N") * 2)
    x, numbers = c.input("X", f32, (i, longer), ("ldx", 1)), c.input("numbers", s32, (double,), (1,))
    t, parts, running = (
        c.local("T", f32, (j, i)),
        c.output("S", f32, (part,), (1,)),
        c.output("R", f32, (longer,), (1,)),
    )
    c.define(t[j.extent - 1 - j.affine, i], x[i, j.affine + 2] + numbers[j.affine * 2 + 1], (i, j))
    c.reduce(ReductionOp.ADD, parts[j // 4], t[j, i], (i, j), (i, j))
    c.define(running[j.affine + 1], running[j] + 1.0, (j,))
    assert [statement.name for statement in c.build().statements] == ["T", "S", "R"]


@pytest.mark.parametrize(("scale", "offset", "extent"), list(product((-2, -1, 0, 1, 2), (-1, 0, 1, 3), (1, 2, 4, 7))))
def test_inside_is_decided_as_by_counting(scale: int, offset: int, extent: int) -> None:
    c = ComputeBuilder("counted")
    i, e = Dim("i", const(3)), Dim("e", const(extent))
    x, y = c.input("X", f16, (e,), (1,)), c.output("Y", f16, (i,), (1,))
    c.define(y[i], x[i.affine * scale + offset] * 1.0, (i,))
    touched = [scale * number + offset for number in range(3)]
    if all(0 <= number < extent for number in touched):
        c.build()
    else:
        with pytest.raises(ValueError, match=re.escape("leaves X")):
            c.build()


@pytest.mark.parametrize(("first", "second", "divisor"), list(product((-2, -1, 1, 2, 3), (0, 1, 2, 3), (1, 2))))
def test_once_is_decided_as_by_counting(first: int, second: int, divisor: int) -> None:
    c = ComputeBuilder("counted")
    i, j, e = Dim("i", const(3)), Dim("j", const(2)), Dim("e", const(32))
    y = c.output("Y", f16, (e,), (1,))
    index = i.affine * first + j.affine * second + 8
    c.define(Load(y.name, (index // divisor if divisor > 1 else index,)), 1.0, (i, j))
    touched = [(first * a + second * b + 8) // divisor for a, b in product(range(3), range(2))]
    if len(set(touched)) == len(touched):
        c.build()
    else:
        with pytest.raises(ValueError, match="is assigned more than once"):
            c.build()
