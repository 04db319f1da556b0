"""Instructions beyond the plain ones: packing, bfloat16, newer halves, reductions, classes of numbers."""

import math
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from isa.targets import target, version
from isa.types import b16, b32, u32, u64
from ptxgen.build import Module, pointer
from ptxgen.parse import parse
from ptxgen.simulate import simulate, unsupported
from tests.oracles import ptxas
from tests.simulate.elementwise import run
from tests.simulate.exact import half
from tests.simulate.test_floats import halves, same, singles


def test_packing_and_unpacking():
    module = Module("sm_70")
    with module.kernel("pack", out=pointer(u64)) as k:
        low, high = k.mad.lo.u32(k.tid.x, 3, 1), k.mad.lo.u32(k.tid.x, 5, 2)
        pair = k.mov.b64((low, high))
        first, second = k.register(b32), k.register(b32)
        k.mov.b64(pair, into=(first, second))
        quarter = [k.register(b16) for _ in range(2)]
        k.mov.b32(first, into=tuple(quarter))
        again = k.mov.b32((quarter[0], quarter[1]))
        both = k.mov.b64((k.add.u32(again, second), second))
        k.st.global_.b64(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 8)), both)
    out = np.zeros(32, np.uint64)
    simulate(module.build(), grid=1, block=32, args=(out,)).raise_findings()
    assert out.tolist() == [(8 * i + 3) | (5 * i + 2) << 32 for i in range(32)]


@pytest.mark.parametrize("name", ["f16x2", "bf16x2"])
def test_two_floats_into_one_register(name):
    a, b = singles(30), singles(31)
    found = run(f"cvt.rn.{name}.f32", [a, b], "b32", target="sm_80").view(np.uint16).reshape(-1, 2)
    with np.errstate(all="ignore"):
        for part, source in ((found[:, 1], a), (found[:, 0], b)):
            wanted = source.astype(np.float16 if name == "f16x2" else ml_dtypes.bfloat16).view(np.uint16)
            number = ~np.isnan(source)
            assert (part == wanted)[number].all()
            assert (part[~number] == 0x7FFF).all()


def test_bfloat16_and_rectified_conversions():
    a = singles(32)
    a = a[~np.isnan(a)]
    with np.errstate(all="ignore"):
        wanted = a.astype(ml_dtypes.bfloat16).view(np.uint16)
        rectified = np.where(a > 0, a, np.float32(0)).astype(np.float16).view(np.uint16)
    assert (run("cvt.rn.bf16.f32", [a], "b16", target="sm_80") == wanted).all()
    assert (run("cvt.rz.bf16.f32", [a], "b16", target="sm_80") == (a.view(np.uint32) >> 16)).all()
    assert (run("cvt.rn.relu.f16.f32", [a], "b16", target="sm_80") == rectified).all()


@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes_of_halves(name):
    a, b = halves(33), halves(34)
    pick = min if name == "min" else max

    def chosen(x, y):
        if math.isnan(x) or math.isnan(y):
            return y if math.isnan(x) else x
        return pick((x, y), key=lambda v: (v, math.copysign(1, v)))

    wanted = np.array([chosen(*row) for row in zip(a.tolist(), b.tolist(), strict=True)]).astype(np.float16)
    same(run(f"{name}.f16", [a, b], "f16", target="sm_80"), wanted)
    pairs = run(f"{name}.f16x2", [a.view(np.uint32), b.view(np.uint32)], "f16x2", target="sm_80")
    same(pairs.view(np.uint16), wanted)
    nan = np.where(np.isnan(a) | np.isnan(b), np.float16(np.nan), wanted)
    same(run(f"{name}.NaN.f16", [a, b], "f16", target="sm_80"), nan)


def test_rectified_fma_and_functions_of_halves():
    a, b, c = halves(35), halves(36), halves(37)
    plain = run("fma.rn.f16", [a, b, c], "f16", target="sm_80").view(np.float16)
    wanted = np.where(np.isnan(plain) | (plain > 0), plain, np.float16(0))
    same(run("fma.rn.relu.f16", [a, b, c], "f16", target="sm_80"), wanted)
    small = a[np.isfinite(a) & (np.abs(a) < 10)]
    powers = np.array([half(Fraction(2.0**x)) for x in small.tolist()]).astype(np.float16)
    same(run("ex2.approx.f16", [small], "f16", target="sm_75"), powers)
    tangents = np.array([half(Fraction(math.tanh(x))) if x else x for x in small.tolist()]).astype(np.float16)
    same(run("tanh.approx.f16", [small], "f16", target="sm_75"), tangents)


def test_doubles():
    rng = np.random.default_rng(38)
    a, b, c = (rng.standard_normal(300) * 2.0 ** rng.integers(-30, 30, 300) for _ in range(3))
    exact = [float(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in zip(a, b, c, strict=True)]
    assert (run("fma.rn.f64", [a, b, c], "f64").view(np.float64) == exact).all()
    assert (run("add.f64", [a, b], "f64").view(np.float64) == a + b).all()
    assert (run("div.rn.f64", [a, b], "f64").view(np.float64) == a / b).all()
    assert (run("sqrt.rn.f64", [np.abs(a)], "f64").view(np.float64) == np.sqrt(np.abs(a))).all()


CLASSES: dict[str, Callable[[float], bool]] = {
    "finite": math.isfinite,
    "infinite": math.isinf,
    "notanumber": math.isnan,
    "number": lambda x: not math.isnan(x),
    "subnormal": lambda x: 0 < abs(x) < 2.0**-126,
    "normal": lambda x: x == 0 or 2.0**-126 <= abs(x) < math.inf,
}


@pytest.mark.parametrize("word", CLASSES)
def test_classes_of_numbers(word):
    a = singles(39)
    assert run(f"testp.{word}.f32", [a], "pred").tolist() == [CLASSES[word](x) for x in a.tolist()]


def test_signs_are_copied():
    a, b = singles(40), singles(41)
    wanted = (b.view(np.uint32) & 0x7FFFFFFF) | (a.view(np.uint32) & 0x80000000)
    assert (run("copysign.f32", [a, b], "f32") == wanted).all()


def test_reductions_and_matches_over_a_warp():
    module = Module("sm_80")
    with module.kernel("agree", out=pointer(u32)) as k:
        key = k.and_.b32(k.tid.x, 3)
        results = [
            k.redux.sync.add.u32(k.tid.x, 0xFFFFFFFF),
            k.redux.sync.max.u32(k.tid.x, 0xFFFFFFFF),
            k.redux.sync.xor.b32(key, 0xFFFFFFFF),
            k.match.any.sync.b32(key, 0xFFFFFFFF),
        ]
        k.st.global_.v4.u32(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 16)), tuple(results))
    out = np.zeros((64, 4), np.uint32)
    simulate(module.build(), grid=1, block=64, args=(out,)).raise_findings()
    for thread in range(64):
        first = thread // 32 * 32
        own = sum(1 << lane for lane in range(32) if lane % 4 == thread % 4)
        assert out[thread].tolist() == [sum(range(first, first + 32)), first + 31, 0, own]


@pytest.mark.parametrize("space", ["shared", "global"])
def test_where_a_generic_address_lies(space):
    module = Module("sm_70")
    with module.kernel("where", out=pointer(u32)) as k:
        near = k.cvta.shared.u64(k.cvt.u64.u32(k.mov.u32(k.shared(b32, 4))))
        for place, address in enumerate((near, k.args.out)):
            p = k.emit(f"isspacep.{space}", address)
            k.st.global_.u32(k.args.out + 4 * place, k.selp.u32(1, 0, p))
    out = np.zeros(2, np.uint32)
    simulate(module.build(), grid=1, block=1, args=(out,)).raise_findings()
    assert out.tolist() == ([1, 0] if space == "shared" else [0, 1])


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("cvt.rz.satfinite.pzo.f16.f32 %f16_0, %f32_0;", "positive"),
        ("cvt.rz.satfinite.scaled::n1::ue8m0.e5m2x2.f32 %b16_0, %f32_1, %f32_2, %b8_3;", "scale"),
        ("cvt.rp.ue5m3x2.bf16x2 %b16_0, %b32_1;", "ue5m3"),
        ("add.rz.f32x2.bf16x2.f32x2 %b64_0, %b32_1, %b64_2;", "several types"),
        ("set.lt.u8x4 %b32_0, %b32_1, %b32_2;", "packed integers"),
        ("mbarrier.expect_tx.multicast::cluster::32b.b64 [%b64_39], %u32_0, %u32_1;", "32 CTAs"),
    ],
)
def test_words_that_change_an_older_form_are_refused(statement, why):
    text, _ = ptxas.module([statement], version("9.4"), target("sm_107a"))
    (finding,) = unsupported(parse(text))
    assert why in finding.message
