"""Narrow formats against ml_dtypes and exact rounding; float64 in every rounding against fractions."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from ptxgen.simulate import doubles
from ptxgen.simulate.formats import FORMATS, Format, Overflow, decoded, encoded
from ptxgen.simulate.rounding import Rounding
from tests.simulate.exact import double, rounded

OTHERS = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn, "e2m1": ml_dtypes.float4_e2m1fn,
}  # fmt: skip


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("name", OTHERS)
def test_every_code_there_and_back(name):
    of = FORMATS[name]
    codes = np.arange(1 << of.bits).astype(of.dtype)
    values = decoded(codes, of)
    assert np.array_equal(values, codes.view(OTHERS[name]).astype(np.float64), equal_nan=True)
    number = ~np.isnan(values)
    assert (encoded(values, of)[number] == codes[number]).all()
    assert (encoded(np.array([np.nan]), of) == of.nan).all()


def in_format(value: float, of: Format, mode: str, finite: bool, largest: float) -> float:
    exact = float(rounded(Fraction(value), of.fraction_bits, of.least_exponent, 300, mode))
    if abs(exact) <= largest:
        return exact
    away = mode == "rn" or (mode == "rp" and value > 0) or (mode == "rm" and value < 0)
    if finite or of.overflow is Overflow.NOTHING or not away:
        return math.copysign(largest, exact)
    return math.copysign(math.inf if of.overflow is Overflow.INFINITY else math.nan, exact)


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("finite", [False, True])
def test_rounding_in_every_mode(name, finite):
    of = FORMATS[name]
    every = decoded(np.arange(1 << of.bits).astype(of.dtype), of)
    every = every[np.isfinite(every)]
    rng = np.random.default_rng(of.bits)
    values = rng.choice(every, 250) + rng.choice(every, 250) * rng.choice([0, 0.5, 0.25, 2.0**-12], 250)
    for mode in Rounding:
        found = decoded(encoded(values, of, mode, finite=finite), of)
        wanted = np.array([in_format(value, of, mode.value, finite, every.max()) for value in values.tolist()])
        assert np.array_equal(found, wanted, equal_nan=True), mode


def doubles_of_every_size(rng, count: int) -> np.ndarray:
    exponents = rng.choice(
        [0, 1, 2, 50, 100, 500, 900, 980, 1022, 1023, 1024, 1070, 1500, 1900, 2040, 2045, 2046], count
    )
    fractions = rng.integers(0, 1 << 52, count, dtype=np.uint64)
    fractions[::3] &= np.uint64(0xF << 48)
    fractions[::7] = 0
    fractions[1::11] = (1 << 52) - 1
    signs = rng.integers(0, 2, count).astype(np.uint64) << np.uint64(63)
    made: np.ndarray = (signs | (exponents.astype(np.uint64) << np.uint64(52)) | fractions).view(np.float64)
    return made


@pytest.mark.parametrize("mode", Rounding)
def test_float64_in_every_mode(mode):
    rng = np.random.default_rng(7)
    a, b, c = (doubles_of_every_size(rng, 600) for _ in range(3))
    c[::4] = np.nan_to_num(-(a * b)[::4], posinf=1, neginf=1)
    c[1::8] = np.nextafter(c[1::8], 0)
    b[5::9], b[6::9] = -a[5::9], np.nextafter(-a[6::9], 0)
    b[b == 0] = 3
    results = {
        "add": doubles.add_f64(a, b, mode), "mul": doubles.mul_f64(a, b, mode), "fma": doubles.fma_f64(a, b, c, mode),
        "div": doubles.div_f64(a, b, mode),
    }  # fmt: skip
    for place, (x, y, z) in enumerate(zip(*(map(Fraction, each.tolist()) for each in (a, b, c)), strict=True)):
        exact = {"add": x + y, "mul": x * y, "fma": x * y + z, "div": x / y}
        for name, value in exact.items():
            assert double(value, mode.value) == results[name][place], (name, a[place], b[place], c[place])


@pytest.mark.parametrize("mode", Rounding)
def test_square_roots_lie_on_the_right_side(mode):
    a = np.abs(doubles_of_every_size(np.random.default_rng(8), 600))
    for value, root in zip(a.tolist(), doubles.sqrt_f64(a, mode).tolist(), strict=True):
        exact, this = Fraction(value), Fraction(root)
        below, above = Fraction(float(np.nextafter(root, 0))), Fraction(float(np.nextafter(root, np.inf)))
        match mode:
            case Rounding.UP:
                assert this * this >= exact
                assert below * below < exact or not value
            case Rounding.NEAREST:
                assert ((this + above) / 2) ** 2 >= exact >= ((this + below) / 2) ** 2
            case _:
                assert this * this <= exact < above * above


def test_downwards_a_sum_of_zero_is_negative():
    zero = np.array([1.0, -0.0])
    assert np.signbit(doubles.add_f64(zero, -zero, Rounding.DOWN)).all()
    assert not np.signbit(doubles.add_f64(zero, -zero, Rounding.ZERO)).any()
