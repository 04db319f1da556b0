"""Approximate instructions against float64 and the manual's bounds, and results drawn from what those allow."""

import numpy as np
import pytest

from isa.accuracy import accuracies
from ptxgen.simulate.approximations import spacing, tolerance
from tests.simulate.approximate import CASES, SOME, element_of, operands, run


@pytest.mark.parametrize("name", CASES)
def test_results_are_within_the_bounds(name: str):
    element = element_of(name)
    a, b = operands(name)
    exact = CASES[name](a.astype(np.float64), b.astype(np.float64))
    allowed = tolerance(name, b.astype(np.float64), exact, element)
    assert np.isfinite(allowed).all()
    nearest = run(name, a, b)
    assert element != "f32" or (np.abs(nearest - exact) <= np.minimum(allowed, 0.501 * spacing(exact, element))).all()
    assert (np.abs(nearest - exact) <= np.maximum(allowed, spacing(exact, element) / 2)).all()
    drawn = [run(name, a, b, seed) for seed in (1, 1, 2)]
    assert (drawn[0] == drawn[1]).all()
    for each in drawn:
        assert (np.abs(each - exact) <= np.maximum(allowed, spacing(exact, element))).all()
    if not name.startswith(("rcp", "sqrt", "rsqrt")):
        assert (drawn[0] != drawn[2]).any()


def test_what_the_manual_bounds():
    assert accuracies("add.f32") is None
    assert accuracies("div.rn.f32") is None
    assert accuracies("rcp.approx.ftz.f64") == ()
    (bound,) = accuracies("tanh.approx.bf16x2") or ()
    assert bound.absolute == 2.0**-8
    far = tolerance("sin.approx.f32", np.array([1.0, 300.0, 400.0]), np.zeros(3), "f32")
    assert far.tolist() == [2.0**-20.5, 2.0**-14.7, np.inf]
    divisor = tolerance("div.approx.f32", np.array([1.0, 2.0**127]), np.ones(2), "f32")
    assert divisor.tolist() == [2 * 2.0**-23, np.inf]


def test_spacings_are_numpys():
    values = np.concatenate([SOME, [1e-45, 1e-40, 2.0**-126, 3e38]]).astype(np.float32)
    assert (spacing(values.astype(np.float64), "f32") == np.spacing(np.abs(values))).all()
    halves = SOME.astype(np.float16)
    assert (spacing(halves.astype(np.float64), "f16") == np.spacing(np.abs(halves))).all()
