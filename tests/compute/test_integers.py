"""Arrays of s32 are copied as they are, or widen to f32 on the way from statement to PTX."""

import numpy as np

from ptxgen.compute import ComputeBuilder, f32, s32
from ptxgen.kernels import generate
from ptxgen.plan import Plan, blocks, warps


def test_integers_are_read_as_numbers() -> None:
    c = ComputeBuilder("half_of_integers")
    i, j = c.dims(i="M", j="N")
    x, y = c.input("X", s32, (i, j), ("ldx", 1)), c.output("Y", f32, (i, j), ("ldy", 1))
    c.define(y[i, j], x[i, j] * 0.5, (i, j))
    plan = Plan(c.build(), "sm_70").tile("cta", i=8, j=32).place("cta", onto=blocks)
    kernel = generate(plan.tile("warp", i=4).place("warp", onto=warps))
    given = np.random.default_rng(0).integers(-(2**24), 2**24, (9, 35), dtype=np.int32)
    got = np.full((9, 35), np.nan, np.float32)
    report = kernel.simulate({"X": given, "Y": got}, {})
    assert report is not None
    report.raise_findings()
    assert np.array_equal(got, given * 0.5)


def test_integers_are_copied_as_they_are() -> None:
    c = ComputeBuilder("same")
    i, j = c.dims(i="M", j="N")
    x, y = c.input("X", s32, (i, j), ("ldx", 1)), c.output("Y", s32, (i, j), ("ldy", 1))
    c.define(y[i, j], x[i, j], (i, j))
    plan = Plan(c.build(), "sm_70").tile("cta", i=8, j=32).place("cta", onto=blocks)
    kernel = generate(plan.tile("warp", i=4).place("warp", onto=warps))
    given = np.random.default_rng(0).integers(-(2**31), 2**31, (9, 35)).astype(np.int32)
    got = np.zeros((9, 35), np.int32)
    report = kernel.simulate({"X": given, "Y": got}, {})
    assert report is not None
    report.raise_findings()
    assert np.array_equal(got, given)
