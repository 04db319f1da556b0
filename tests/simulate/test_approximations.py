"""Approximate instructions against float64 and the manual's bounds, and results drawn from what those allow."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from isa.accuracy import accuracies
from ptxgen.parse import parse
from ptxgen.simulate import simulate
from ptxgen.simulate.approximations import spacing, tolerance

F32 = np.float32
KINDS = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
CHANCE = np.random.default_rng(11)
SOME = np.concatenate([CHANCE.uniform(-8, 8, 2000), 2.0 ** CHANCE.uniform(-12, 6, 1000), [0.5, 1, 2, -1, 0.75]])
CASES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "div.approx.f32": lambda a, b: a / b, "div.full.f32": lambda a, b: a / b, "rcp.approx.f32": lambda a, b: 1 / b,
    "sqrt.approx.f32": lambda a, b: np.sqrt(b), "rsqrt.approx.f32": lambda a, b: 1 / np.sqrt(b),
    "sin.approx.f32": lambda a, b: np.sin(b), "cos.approx.f32": lambda a, b: np.cos(b),
    "lg2.approx.f32": lambda a, b: np.log2(b), "ex2.approx.f32": lambda a, b: np.exp2(b),
    "ex2.approx.f16": lambda a, b: np.exp2(b), "ex2.approx.ftz.bf16": lambda a, b: np.exp2(b),
    "tanh.approx.f32": lambda a, b: np.tanh(b), "tanh.approx.f16": lambda a, b: np.tanh(b),
    "tanh.approx.bf16": lambda a, b: np.tanh(b), "ex2.approx.f16x2": lambda a, b: np.exp2(b),
}  # fmt: skip


def run(name: str, a: np.ndarray, b: np.ndarray, seed: int | None) -> np.ndarray:
    element = name.rpartition(".")[2]
    width, register = (
        a.itemsize * (2 if "x2" in element else 1),
        "f32" if element == "f32" else f"b{16 * (1 + ('x2' in element))}",
    )
    operands = "%a, %b" if name.startswith("div") else "%b"
    out, count = np.zeros_like(a), a.nbytes // width
    simulate(parse(f"""
.version 7.8
.target sm_90
.address_size 64
.visible .entry main(.param .u64 a, .param .u64 b, .param .u64 d)
{{
    .reg .{register} %a, %b, %d; .reg .b32 %t, %x; .reg .b64 %p<5>;
    ld.param.u64 %p1, [a]; ld.param.u64 %p2, [b]; ld.param.u64 %p3, [d];
    mov.u32 %t, %tid.x; mov.u32 %x, %ctaid.x; mad.lo.u32 %t, %x, {count // 5}, %t; mul.wide.u32 %p4, %t, {width};
    add.s64 %p1, %p1, %p4; add.s64 %p2, %p2, %p4; add.s64 %p3, %p3, %p4;
    ld.global.b{8 * width} %a, [%p1]; ld.global.b{8 * width} %b, [%p2];
    {name} %d, {operands};
    st.global.b{8 * width} [%p3], %d; ret;
}}
"""), grid=5, block=count // 5, args=(a, b, out), approximate=seed).raise_findings()  # fmt: skip
    return out


def of_words(bits: np.ndarray, element: str) -> np.ndarray:
    values: np.ndarray = bits.view(KINDS[element]).astype(np.float64)
    return values


@pytest.mark.parametrize("name", CASES)
def test_results_are_within_the_bounds(name: str):
    element = name.rpartition(".")[2].removesuffix("x2")
    positive = name.startswith(("sqrt", "rsqrt", "lg2"))
    values = np.abs(SOME) if positive else SOME
    b = values[:3000].clip(-9, 9).astype(KINDS[element])
    a = np.roll(b, 7)
    x, y = a.astype(np.float64), b.astype(np.float64)
    exact = CASES[name](x, y)
    first, second = (each.view(f"u{each.itemsize}") for each in (a, b))
    allowed = tolerance(name, y, exact, element)
    assert np.isfinite(allowed).all()
    nearest = of_words(run(name, first, second, None), element)
    assert (np.abs(nearest - exact) <= np.minimum(allowed, 0.501 * spacing(exact, element))).all() or element != "f32"
    assert (np.abs(nearest - exact) <= np.maximum(allowed, spacing(exact, element) / 2)).all()
    drawn = [of_words(run(name, first, second, seed), element) for seed in (1, 1, 2)]
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
