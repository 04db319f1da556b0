"""One rounding: against fractions, above all where two roundings would differ."""

from fractions import Fraction

import numpy as np
import pytest

from ptxgen.simulate import doubles, rounding
from ptxgen.simulate.rounding import Rounding
from tests.simulate.exact import double, half, single

MODES = [Rounding.NEAREST, Rounding.ZERO, Rounding.DOWN, Rounding.UP]


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def singles(rng, count: int) -> np.ndarray:
    """Finite float32 values of all exponents."""
    bits = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    bits[(bits & 0x7F800000) == 0x7F800000] ^= 0x40000000
    values: np.ndarray = bits.view(np.float32)
    return values


def crafted(rng, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Triples whose product and sum lie next to a tie of float32: the product is one, plus a term far below."""
    odd = rng.integers(1 << 23, 1 << 24, count) | 1
    a = (odd * 2.0**-23).astype(np.float32)
    b = np.float32(1.0) + (rng.integers(0, 2, count) * 2.0**-23).astype(np.float32)
    c = ((rng.integers(1, 4, count) * 2.0**-24) * rng.choice([-1, 1], count)).astype(np.float32)
    far = rng.random(count) < 0.7
    tiny = (2.0 ** -rng.integers(50, 120, count) * rng.choice([-1, 1], count)).astype(np.float32)
    a2 = np.where(far, np.float32(2.0**-12) * (rng.integers(0, 1 << 11, count) * 2 + 1).astype(np.float32), a)
    b2 = np.where(far, np.float32(2.0**-13) + np.float32(1.0), b)
    return a2.astype(np.float32), b2.astype(np.float32), np.where(far, tiny, c).astype(np.float32)


@pytest.mark.parametrize("mode", MODES)
def test_fma_of_random_and_crafted_operands(mode):
    rng = np.random.default_rng(1)
    triples = [tuple(singles(rng, 800) for _ in range(3)), crafted(rng, 800)]
    near = singles(rng, 800) * np.float32(2.0**-60)
    triples.append((near, singles(rng, 800) * np.float32(2.0**-66), singles(rng, 800) * np.float32(2.0**-126)))
    for a, b, c in triples:
        found = rounding.fma_f32(a, b, c, mode)
        for x, y, z, d in zip(a, b, c, found, strict=True):
            exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
            assert float(d) == single(exact, mode.value), (x, y, z)


def test_plain_double_rounding_is_wrong_on_the_crafted_operands():
    """The crafted operands do their work: without the repair many of them fail."""
    a, b, c = ties(400)
    naive = (a.astype(np.float64) * b + c).astype(np.float32)
    right = rounding.fma_f32(a, b, c)
    exact = [
        single(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))) for x, y, z in zip(a, b, c, strict=True)
    ]
    assert right.tolist() == exact
    assert (naive != right).sum() > 100


def ties(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The product is exactly half way between two float32 values, the addend decides and is lost in float64."""
    rng = np.random.default_rng(3)
    a = (2**12 + 2 * rng.integers(0, 2**10, count) + 1).astype(np.float32)
    b = np.full(count, 2**12 + 1, np.float32)
    c = (rng.choice([-1.0, 1.0], count) * 2.0**-60).astype(np.float32)
    return a, b, c


def test_ties_among_subnormals():
    """c lies on the grid of subnormals and a * b just below half a step, by less than float64 holds beside c."""
    steps = np.arange(1 << 21, (1 << 21) + 200)
    c = (steps * 2.0**-149).astype(np.float32)
    a = np.full(200, 2.0**-75 * (1 + 2.0**-20), np.float32)
    b = np.full(200, 2.0**-75 * (1 - 2.0**-20), np.float32)
    found = rounding.fma_f32(a, b, c)
    assert found.tolist() == c.tolist()
    assert ((a.astype(np.float64) * b + c).astype(np.float32) != c).sum() == 100


@pytest.mark.parametrize("mode", MODES)
def test_basic_operations(mode):
    rng = np.random.default_rng(2)
    a, b = singles(rng, 1500), singles(rng, 1500)
    b[:500] = a[:500] * rng.uniform(0.2, 5, 500).astype(np.float32)
    for x, y, s, p in zip(a, b, rounding.add_f32(a, b, mode), rounding.mul_f32(a, b, mode), strict=True):
        assert float(s) == single(Fraction(float(x)) + Fraction(float(y)), mode.value)
        assert float(p) == single(Fraction(float(x)) * Fraction(float(y)), mode.value)


@pytest.mark.parametrize("mode", MODES)
def test_quotients_and_roots(mode):
    rng = np.random.default_rng(4)
    a, b = singles(rng, 800), singles(rng, 800)
    b[:400] = (rng.integers(1, 1 << 24, 400)).astype(np.float32)
    a[:400] = (rng.integers(1, 1 << 24, 400)).astype(np.float32)
    for x, y, q in zip(a, b, rounding.div_f32(a, b, mode), strict=True):
        if y:
            assert float(q) == single(Fraction(float(x)) / Fraction(float(y)), mode.value), (x, y)
    for x, root in zip(np.abs(a), rounding.sqrt_f32(np.abs(a), mode), strict=True):
        assert brackets(Fraction(float(x)), float(root), mode.value)


def brackets(square: Fraction, root: float, mode: str) -> bool:
    """True if `root` is the float32 square root, judged by squares of its neighbours and midpoints."""
    here = np.float32(root)
    low, high = (Fraction(float(np.nextafter(here, np.float32(end)))) for end in (-1, np.inf))
    middle = Fraction(root)
    match mode:
        case "rn":
            return ((low + middle) / 2) ** 2 <= square <= ((middle + high) / 2) ** 2
        case "rp":
            return low**2 < square <= middle**2
        case _:
            return middle**2 <= square < high**2


def test_half_fma_and_conversion():
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 1 << 16, (3, 3000), dtype=np.uint16)
    bits[(bits & 0x7C00) == 0x7C00] ^= 0x4000
    a, b, c = bits.view(np.float16)
    c[:1500] *= np.float16(2.0**-10)
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    rounded = rounding.f16_from_odd(rounding.odd_sum(product, addend))
    for x, y, z, d in zip(a, b, c, rounded, strict=True):
        assert float(d) == half(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))), (x, y, z)


@pytest.mark.parametrize("mode", MODES)
def test_narrowing_to_half(mode):
    rng = np.random.default_rng(6)
    values = rng.standard_normal(3000) * 2.0 ** rng.integers(-30, 18, 3000)
    values[:300] = (rng.integers(0, 4096, 300) + 0.5) * 2.0**-24
    for x, d in zip(values, rounding.f16_from_odd(values, mode), strict=True):
        assert float(d) == half(Fraction(x), mode.value), x


def test_double_fma():
    rng = np.random.default_rng(8)
    a, b = (rng.standard_normal(2000) * 2.0 ** rng.integers(-50, 50, 2000) for _ in range(2))
    c = -(a * b) * (1 + rng.integers(-2, 3, 2000) * 2.0**-52) * 2.0 ** rng.integers(-60, 2, 2000)
    for x, y, z, d in zip(a, b, c, doubles.fma_f64(a, b, c), strict=True):
        assert float(d) == double(Fraction(x) * Fraction(y) + Fraction(z)), (x, y, z)


def test_the_sign_of_a_zero_sum():
    """Opposite terms give +0, but -0 downwards; seen on a GPU."""
    a = np.array([0.0, -0.0, -0.0, 0.0, 1.5], np.float32)
    b = np.array([-0.0, 0.0, -0.0, 0.0, -1.5], np.float32)
    signs = {Rounding.NEAREST: [0, 0, 1, 0, 0], Rounding.UP: [0, 0, 1, 0, 0], Rounding.DOWN: [1, 1, 1, 0, 1]}
    for mode, wanted in signs.items():
        assert np.signbit(rounding.add_f32(a, b, mode)).astype(int).tolist() == wanted
        assert np.signbit(rounding.fma_f32(a, np.ones_like(a), b, mode)).astype(int).tolist() == wanted
    assert np.signbit(doubles.fma_f64(np.array([-0.0]), np.array([1.0]), np.array([-0.0])))[0]


def test_saturation_and_flushing():
    values = np.array([-1.0, -0.0, 0.5, 2.0, np.nan, np.inf, 1e-40, -1e-40], np.float32)
    assert rounding.saturate(values).tolist()[:6] == [0.0, 0.0, 0.5, 1.0, 0.0, 1.0]
    flushed = rounding.flush_f32(values)
    assert flushed.view(np.uint32)[-2:].tolist() == [0, 0x80000000]
