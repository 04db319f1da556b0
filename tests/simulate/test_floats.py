"""Floating-point instructions against fractions and plain definitions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.simulate.elementwise import run
from tests.simulate.exact import half, single

EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    math.inf,
    -math.inf,
    math.nan,
    1e-40,
    -1e-45,
    3.4028235e38,
    1.17549435e-38,
    0.3,
    2.5,
    3.5,
    -2.5,
]


def singles(seed: int, count: int = 300) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(count) * 2.0 ** rng.integers(-40, 40, count)
    return np.concatenate([values, np.repeat(EDGES, 3)])[rng.permutation(count + 3 * len(EDGES))].astype(np.float32)


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    """Equal bits, every NaN the canonical one."""
    bits = wanted.view(f"u{wanted.itemsize}").copy()
    bits[np.isnan(wanted)] = {2: 0x7FFF, 4: 0x7FFFFFFF}[wanted.itemsize]
    wrong = np.flatnonzero(found != bits)
    assert not len(wrong), [(hex(found[i]), hex(bits[i])) for i in wrong[:5]]


def by_fractions(function, *operands: np.ndarray) -> np.ndarray:
    """`function` of fractions rounded to float32 where all operands are finite; numpy's float64 where one is not."""
    results = []
    with np.errstate(all="ignore"):
        for row in zip(*(each.tolist() for each in operands), strict=True):
            if all(map(math.isfinite, row)):
                exact = function(*map(Fraction, row))
                results.append(single(exact) if exact else float(function(*map(np.float64, row))))
            else:
                results.append(float(function(*map(np.float64, row))))
    return np.array(results, np.float64).astype(np.float32)


def test_sums_products_and_fma():
    a, b, c = singles(1), singles(2), singles(3)
    same(run("add.rn.f32", [a, b], "f32"), by_fractions(lambda x, y: x + y, a, b))
    same(run("sub.f32", [a, b], "f32"), by_fractions(lambda x, y: x - y, a, b))
    same(run("mul.rn.f32", [a, b], "f32"), by_fractions(lambda x, y: x * y, a, b))
    same(run("fma.rn.f32", [a, b, c], "f32"), by_fractions(lambda x, y, z: x * y + z, a, b, c))


def test_flushing_and_saturation():
    tiny = np.array([1e-40, -1e-40, 1e-38 * 0.9, 2.0**-126, 2.0**-100, 0.7, -3.0, math.nan, 5.0], np.float32)
    one = np.ones_like(tiny)
    flushed = np.where(np.abs(tiny) < 2.0**-126, np.copysign(0, tiny), tiny).astype(np.float32)
    same(run("mul.ftz.f32", [tiny, one], "f32"), flushed)
    half_of = np.full_like(tiny, 0.5)
    wanted = np.where(np.abs(flushed * 0.5) < 2.0**-126, np.copysign(0, tiny), flushed * np.float32(0.5))
    same(run("mul.ftz.f32", [tiny, half_of], "f32"), wanted.astype(np.float32))
    clamped = np.where(np.isnan(tiny), 0, np.clip(tiny, 0, 1)).astype(np.float32)
    same(run("add.sat.f32", [tiny, np.zeros_like(tiny)], "f32"), np.where(clamped > 0, clamped, 0).astype(np.float32))


@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes(name):
    a, b = singles(4), singles(5)
    a[:20], b[:20] = np.float32(0.0), np.float32(-0.0)
    a[20:40], b[20:40] = np.float32(-0.0), np.float32(0.0)
    pick = min if name == "min" else max

    def chosen(x, y):
        if math.isnan(x) or math.isnan(y):
            return y if math.isnan(x) else x
        return pick((x, y), key=lambda v: (v, math.copysign(1, v)))

    same(
        run(f"{name}.f32", [a, b], "f32"),
        np.array([chosen(*row) for row in zip(a.tolist(), b.tolist(), strict=True)], np.float32),
    )


def test_signs():
    a = singles(6)
    same(run("neg.f32", [a], "f32"), (a.view(np.uint32) ^ 0x80000000).view(np.float32))
    same(run("abs.f32", [a], "f32"), (a.view(np.uint32) & 0x7FFFFFFF).view(np.float32))


def test_quotients():
    a, b = singles(7), singles(8)
    b[b == 0] = 3.0
    wanted = by_fractions(lambda x, y: x / y, a, b)
    for name in ("div.rn.f32", "div.approx.f32", "div.full.f32"):
        same(run(name, [a, b], "f32"), wanted)
    same(run("rcp.rn.f32", [b], "f32"), by_fractions(lambda y: 1 / y, b))
    same(run("rcp.approx.f32", [b], "f32"), by_fractions(lambda y: 1 / y, b))


TRANSCENDENTAL = {"ex2": lambda x: 2.0**x, "lg2": math.log2, "sin": math.sin, "cos": math.cos,
                  "rsqrt": lambda x: 1 / math.sqrt(x), "sqrt": math.sqrt, "tanh": math.tanh}  # fmt: skip


@pytest.mark.parametrize("name", TRANSCENDENTAL)
def test_approximations_are_correctly_rounded(name):
    x = np.abs(np.random.default_rng(9).uniform(0.01, 30, 500)).astype(np.float32)
    wanted = np.array([TRANSCENDENTAL[name](value) for value in x.tolist()]).astype(np.float32)
    same(run(f"{name}.approx.f32", [x], "f32", target="sm_75" if name == "tanh" else "sm_70"), wanted)


def halves(seed: int, count: int = 500) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 16, count, dtype=np.uint16).view(np.float16)


def half_by_fractions(function, *operands: np.ndarray) -> np.ndarray:
    results = []
    with np.errstate(all="ignore"):
        for row in zip(*(each.tolist() for each in operands), strict=True):
            exact = function(*map(Fraction, row)) if all(map(math.isfinite, row)) else None
            results.append(half(exact) if exact else float(function(*map(np.float64, row))))
        return np.array(results).astype(np.float16)


HALF = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y}


@pytest.mark.parametrize("name", HALF)
def test_halves_one_and_two_at_a_time(name):
    a, b = halves(10), halves(11)
    wanted = half_by_fractions(HALF[name], a, b)
    same(run(f"{name}.f16", [a, b], "f16"), wanted)
    found = run(f"{name}.f16x2", [a.view(np.uint32), b.view(np.uint32)], "f16x2")
    same(found.view(np.uint16), wanted)


def test_half_fma():
    a, b, c = halves(12), halves(13), halves(14)
    wanted = half_by_fractions(lambda x, y, z: x * y + z, a, b, c)
    same(run("fma.rn.f16", [a, b, c], "f16"), wanted)
    found = run("fma.rn.f16x2", [each.view(np.uint32) for each in (a, b, c)], "f16x2")
    same(found.view(np.uint16), wanted)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_narrowing(mode):
    a = singles(15)
    a[:100] = (np.random.default_rng(1).integers(0, 1 << 14, 100) * 2.0**-13 * 1.5).astype(np.float32)
    wanted = [half(Fraction(x), mode) if math.isfinite(x) and x else x for x in a.tolist()]
    same(run(f"cvt.{mode}.f16.f32", [a], "f16"), np.array(wanted).astype(np.float16))
    d = np.random.default_rng(2).standard_normal(300) * 2.0 ** np.random.default_rng(3).integers(-150, 127, 300)
    same(run(f"cvt.{mode}.f32.f64", [d], "f32"), np.array([single(Fraction(x), mode) for x in d.tolist()], np.float32))


def test_widening():
    a = np.arange(1 << 16, dtype=np.uint16).view(np.float16)[::7].copy()
    same(run("cvt.f32.f16", [a], "f32"), a.astype(np.float32))


WHOLE = {"rni": lambda x: round(x), "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


@pytest.mark.parametrize("mode", WHOLE)
@pytest.mark.parametrize("to", ["s32", "u32", "s64", "u64", "s16", "u16"])
def test_float_to_integer(to, mode):
    bits = int(to[1:])
    a = np.concatenate(
        [singles(16), np.array([2.0**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 65535.5], np.float32)]
    )
    low, high = (0, (1 << bits) - 1) if to[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)

    def whole(x):
        if math.isnan(x):
            return 1 << 63 if bits == 64 else 0
        if math.isinf(x):
            return high if x > 0 else low
        return min(max(WHOLE[mode](Fraction(x)), low), high)

    found = run(f"cvt.{mode}.{to}.f32", [a], to)
    assert found.tolist() == [whole(x) & ((1 << bits) - 1) for x in a.tolist()]


@pytest.mark.parametrize("source", ["s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("mode", ["rn", "rz", "rp"])
def test_integer_to_float(source, mode):
    rng = np.random.default_rng(17)
    bits = int(source[1:])
    values = np.array(
        [int.from_bytes(rng.bytes(8), "little") >> int(rng.integers(64 - bits, 64)) for _ in range(400)], np.uint64
    )
    a = values.astype(f"u{bits // 8}").view(f"{'i' if source[0] == 's' else 'u'}{bits // 8}")
    wanted = [single(Fraction(x), mode) for x in a.tolist()]
    same(run(f"cvt.{mode}.f32.{source}", [a], "f32"), np.array(wanted, np.float32))
    small = (a >> a.dtype.type(bits - 17)) if bits == 32 else (a >> a.dtype.type(46))
    same(
        run(f"cvt.{mode}.f16.{source}", [small], "f16"),
        np.array([half(Fraction(x), mode) for x in small.tolist()]).astype(np.float16),
    )


def test_whole_numbers_stay_floats():
    a = singles(18)
    same(run("cvt.rni.f32.f32", [a], "f32"), np.rint(a))
    same(run("cvt.rmi.f32.f32", [a], "f32"), np.floor(a))


FLOAT_COMPARISONS = {"eq": lambda x, y: x == y, "ne": lambda x, y: x < y or x > y, "lt": lambda x, y: x < y,
                     "geu": lambda x, y: not x < y, "neu": lambda x, y: x != y, "ltu": lambda x, y: not x >= y,
                     "num": lambda x, y: x == x and y == y, "nan": lambda x, y: x != x or y != y}  # fmt: skip


@pytest.mark.parametrize("word", FLOAT_COMPARISONS)
def test_comparisons(word):
    a, b = singles(19), singles(20)
    b[::3] = a[::3]
    wanted = [FLOAT_COMPARISONS[word](x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert run(f"setp.{word}.f32", [a, b], "pred").tolist() == wanted
