"""Dims whose bounds an array in memory tells: what they mean, by plain loops in numpy, and what is refused of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import numpy as np
import pytest

from polyhedral import const
from ptxgen.compute import Array, Compute, ComputeBuilder, Dim, ReductionOp, f32, s32
from ptxgen.testing.reference import reference

ENDS = [[2, 2, 7, 9], [0, 0, 0, 0], [9, 3, 5, 20], [-4, 1, 1, 9], [3, 1, 2, 8]]


def begun(c: ComputeBuilder) -> tuple[Dim, Dim, Array]:
    (g,) = c.dims(g="G")
    ends = c.input("ends", s32, (g,), (1,))
    return g, c.segments("i", "M", ends=ends, group=g), ends


def scaled() -> Compute:
    """Rows times the factor of their group, and the sum of each group's rows."""
    c = ComputeBuilder("scaled")
    g, i, _ = begun(c)
    x, factor = c.input("X", f32, (i,), (1,)), c.input("F", f32, (g,), (1,))
    y, total = c.output("Y", f32, (i,), (1,)), c.output("T", f32, (g,), (1,))
    c.define(y[i], x[i] * factor[g], (g, i))
    c.reduce(ReductionOp.ADD, total[g], x[i] * 1.0, (g, i), (i,))
    return c.build()


@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_what_groups_are(ends: list[int]) -> None:
    """A group begins where the one before ends, and ends where memory says, but not before it begins nor beyond."""
    x, factors, rows = np.arange(1.0, 10, dtype=np.float32), np.array([2, 3, 5, 7], np.float32), 9
    arrays = {"X": x, "F": factors, "ends": np.array(ends, np.int32)}
    found = reference(scaled(), arrays, {"M": rows, "G": 4})
    wanted, sums, first = np.full(rows, np.nan), np.zeros(4), 0
    for group, end in enumerate(ends):
        last = min(rows, max(end, first))
        wanted[first:last] = x[first:last] * factors[group]
        sums[group] = x[first:last].sum()
        first = last
    assert np.array_equal(found["Y"], wanted, equal_nan=True)
    assert np.array_equal(found["T"], sums)


def test_bounds_are_said_as_memory_has_them() -> None:
    assert "for 0 <= g < G and ends[g - 1] <= i < ends[g]" in str(scaled())
    assert scaled().parameters == ("G", "M")


def beyond_the_rows(c: ComputeBuilder) -> None:
    g, i, _ = begun(c)
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[i.affine + 1] * 1.0, (g, i))  # refused: leaves X


def filled_beside_itself(c: ComputeBuilder) -> None:
    g, i, _ = begun(c)
    (rows,) = c.dims(rows=i.length + 1)
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (rows,), (1,))
    c.define(y[i.affine + 1], x[i] * 1.0, (g, i))  # refused: a segment is indexed by its dim


def in_shorter_rows(c: ComputeBuilder) -> None:
    g, i, _ = begun(c)
    (short,) = c.dims(short="S")
    x, y = c.input("X", f32, (short,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[i] * 1.0, (g, i))  # refused: leaves X


def group_behind(c: ComputeBuilder) -> None:
    g, i, _ = begun(c)
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[i] * 1.0, (i, g))  # refused: must come before i


def no_group(c: ComputeBuilder) -> None:
    _, i, _ = begun(c)
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[i] * 1.0, (i,))  # refused: must come before i


def ends_of_other_groups(c: ComputeBuilder) -> None:
    g, h = c.dims(g="G", h="H")
    i = c.segments("i", "M", ends=c.input("ends", s32, (h,), (1,)), group=g)
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[i] * 1.0, (g, i))  # refused: an input of s32, one for each g


def ends_in_f32(c: ComputeBuilder) -> None:
    (g,) = c.dims(g="G")
    i = c.segments("i", "M", ends=c.input("ends", f32, (g,), (1,)), group=g)
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[i] * 1.0, (g, i))  # refused: an input of s32, one for each g


def two_of_them(c: ComputeBuilder) -> None:
    g, i, ends = begun(c)
    j = c.segments("j", "N", ends=ends, group=g)
    x, y = c.input("X", f32, (i, j), ("N", 1)), c.output("Y", f32, (i, j), ("N", 1))
    c.define(y[i, j], x[i, j] * 1.0, (g, i, j))  # refused: one dim may have them


def all_groups_together(c: ComputeBuilder) -> None:
    g, i, _ = begun(c)
    (j,) = c.dims(j="N")
    x, total = c.input("X", f32, (i, j), ("N", 1)), c.output("T", f32, (j,), (1,))
    over = (g, i, j)
    c.reduce(ReductionOp.ADD, total[j], x[i, j] * 1.0, over, (g, i))  # refused: would be assigned together


def every_row_at_once(c: ComputeBuilder) -> None:
    g, i, _ = begun(c)
    (r,) = c.dims(r="M")
    x, y = c.input("X", f32, (i,), (1,)), c.local("Y", f32, (i,))
    z = c.output("Z", f32, (r,), (1,))
    c.define(y[i], x[i] * 1.0, (g, i))
    c.define(z[r], y[r] + 1.0, (r,))  # refused: not reached by the segments that Y fills it by


REFUSED = [
    beyond_the_rows, filled_beside_itself, in_shorter_rows, group_behind, no_group, ends_of_other_groups, ends_in_f32,
    two_of_them, all_groups_together, every_row_at_once,
]  # fmt: skip


@pytest.mark.parametrize("state", REFUSED, ids=lambda state: state.__name__)
def test_refused_on_the_line_of_the_statement(state: Callable[[ComputeBuilder], None]) -> None:
    lines, first = inspect.getsourcelines(state)
    number, told = next((n, text) for n, text in enumerate(lines, start=first) if "# refused: " in text)
    builder = ComputeBuilder("grouped")
    state(builder)
    with pytest.raises(ValueError, match=re.escape(told.partition("# refused: ")[2].strip())) as refusal:
        builder.build()
    assert f"{__file__}:{number}: " in str(refusal.value)


def test_a_row_tells_its_group_so_that_it_is_assigned_once() -> None:
    """Without segments two values of g would assign the same element."""
    scaled()
    c = ComputeBuilder("twice")
    g, i = c.dims(g="G", i="M")
    x, y = c.input("X", f32, (i,), (1,)), c.output("Y", f32, (i,), (1,))
    c.define(y[i], x[i] * 1.0, (g, i))
    with pytest.raises(ValueError, match="assigned more than once"):
        c.build()


def test_rows_of_a_length() -> None:
    c = ComputeBuilder("fixed")
    (g,) = c.dims(g=4)
    i = c.segments("i", 9, ends=c.input("ends", s32, (g,), (1,)), group=g)
    assert i.length == const(9)
    assert c.input("X", f32, (i,), (1,)).extents == (const(9),)
