"""Tensor cores against recorded hardware, and against the algorithm written out in fractions."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from isa.numerics import numerics
from isa.targets import target
from ptxgen.simulate.exact_products import chained, emulated_bytes, operand
from ptxgen.simulate.formats import FORMATS
from ptxgen.simulate.tensor import dot, halves

RECORDED = [
    ("V100", "sm_70", "m8n8k4"),
    ("A100", "sm_80", "m16n8k8"),
    ("Ada", "sm_89", "m16n8k8"),
    ("H200", "sm_90", "m16n8k16"),
]


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("device, name, shape", RECORDED)
def test_all_recorded_outputs(shared_folder: Path, device, name, shape):
    recorded = np.load(shared_folder / "vectors" / f"{device}.npz")
    bits = numerics(target(name), "mma", shape, "f16").fraction_bits
    a, b = (halves(recorded[f"fp16_{each}"].view(np.float32).T.astype(np.float16)) for each in "ab")
    c = recorded["fp16_c_f32"].view(np.float32)
    single = dot(a, b, c, bits, to_f16=False).view(np.uint32)
    assert int((single == recorded["fp16_d_fp32"]).sum()) == 5000
    half = dot(a, b, c.astype(np.float16), bits, to_f16=True).astype(np.float32).view(np.uint32)
    assert int((half == recorded["fp16_d_fp16"]).sum()) == 5000


FORMATS_OF = {
    "V100": ("sm_70", {"fp16": "m8n8k4"}),
    "A100": ("sm_80", {"fp16": "m16n8k8", "bf16": "m16n8k8", "tf32": "m16n8k4"}),
    "Ada": ("sm_89", {"fp16": "m16n8k8", "bf16": "m16n8k8", "tf32": "m16n8k4", "E4M3": "m16n8k32", "E5M2": "m16n8k32"}),
    "H200": ("sm_90", {"fp16": "m16n8k16", "bf16": "m16n8k16", "tf32": "m16n8k4", "E4M3": "wgmma", "E5M2": "wgmma"}),
}
NAMES = {"fp16": "f16", "bf16": "bf16", "tf32": "tf32", "E4M3": "e4m3", "E5M2": "e5m2"}


@pytest.mark.parametrize(
    "device, kind", [(device, kind) for device, (_, kinds) in FORMATS_OF.items() for kind in kinds]
)
def test_every_recorded_format(shared_folder: Path, device, kind):
    recorded = np.load(shared_folder / "vectors" / f"{device}.npz")
    name, shapes = FORMATS_OF[device]
    element = NAMES[kind]
    least = FORMATS[element].least_exponent
    a, b = (recorded[f"{kind}_{each}"].view(np.float32).astype(np.float64).T[:, None] for each in "ab")
    c = recorded[f"{kind}_c_f32"].view(np.float32)[None, None]
    wgmma = shapes[kind] == "wgmma"
    record = numerics(target(name), "wgmma" if wgmma else "mma", shapes[kind], element)
    single = chained(operand(a, least), operand(b, least), np.zeros_like(c) if wgmma else c, record, False)
    assert int((single[0, 0].view(np.uint32) == recorded[f"{kind}_d_fp32"]).sum()) == 5000
    if f"{kind}_d_fp16" in recorded:
        start = c.astype(np.float16)
        if wgmma:
            half = emulated_bytes(a, b, start, numerics(target(name), "mma", "m16n8k16", "f16"), True)
        else:
            half = chained(operand(a, least), operand(b, least), start, record, True)
        found = half[0, 0].astype(np.float32).view(np.uint32)
        assert int((found == recorded[f"{kind}_d_fp16"]).sum()) == 5000


def by_the_book(a: list[float], b: list[float], c: float, bits: int, c_least: int) -> Fraction:
    """The exact sum after alignment, from the published description."""
    terms = [(Fraction(x) * Fraction(y), exponent_of(x, -14) + exponent_of(y, -14)) for x, y in zip(a, b, strict=True)]
    terms.append((Fraction(c), exponent_of(c, c_least)))
    terms = [term for term in terms if term[0]]
    if not terms:
        return Fraction(0)
    top = max(exponent for _, exponent in terms)
    unit = Fraction(2) ** (top - bits)
    whole: int = sum(math.trunc(value / unit) for value, _ in terms)
    return Fraction(whole * unit)


def exponent_of(value: float, least: int) -> int:
    return max(math.frexp(value)[1] - 1, least) if value else -(10**6)


def toward_zero(value: Fraction) -> float:
    if not value:
        return 0.0
    exponent = math.frexp(float(value))[1] - 1
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    result = math.trunc(value / unit) * unit
    return float(result) if abs(result) < 2**128 else math.copysign(math.inf, result)


def extremes(rng, count: int) -> np.ndarray:
    """Halves of all magnitudes, with many zeros and subnormals."""
    bits = rng.integers(0, 1 << 16, count, dtype=np.uint16)
    bits[(bits & 0x7C00) == 0x7C00] &= 0x83FF
    bits[rng.random(count) < 0.2] &= 0x8000
    values: np.ndarray = bits.view(np.float16)
    return values


@pytest.mark.parametrize("bits, length", [(23, 4), (24, 8), (25, 16)])
def test_blocks_of_every_magnitude(bits, length):
    rng = np.random.default_rng(bits)
    count = 600
    a, b = (extremes(rng, count * length).reshape(length, count) for _ in range(2))
    exponents = rng.integers(-149, 40, count)
    c = (rng.standard_normal(count) * 2.0**exponents).astype(np.float32)
    c[rng.random(count) < 0.2] = 0
    found = dot(halves(a), halves(b), c, bits, to_f16=False)
    for i in range(count):
        exact = by_the_book(a[:, i].tolist(), b[:, i].tolist(), float(c[i]), bits, -126)
        assert float(found[i]) == toward_zero(exact), (a[:, i], b[:, i], c[i])


def test_half_accumulators_round_once_to_nearest_even():
    rng = np.random.default_rng(7)
    count = 600
    a, b = (extremes(rng, count * 4).reshape(4, count) * np.float16(0.01) for _ in range(2))
    c = extremes(rng, count)
    found = dot(halves(a), halves(b), c, 23, to_f16=True)
    for i in range(count):
        exact = by_the_book(a[:, i].tolist(), b[:, i].tolist(), float(c[i]), 23, -14)
        assert np.float16(float(exact)) == found[i]


def test_specials_are_canonical():
    infinity, nan = math.inf, math.nan
    a = np.array([[infinity, infinity, 0.0, 1.0, nan, 65504.0]] + [[0.0] * 6] * 3, np.float16)
    b = np.array([[1.0, 1.0, infinity, -1.0, 1.0, 65504.0]] + [[0.0] * 6] * 3, np.float16)
    c = np.array([0.0, -infinity, 0.0, -infinity, 0.0, 3.4e38], np.float32)
    found = dot(halves(a), halves(b), c, 23, to_f16=False)
    assert found.view(np.uint32)[[1, 2, 4]].tolist() == [0x7FFFFFFF] * 3
    assert found[[0, 3]].tolist() == [infinity, -infinity]
    half = dot(halves(a), halves(b), c.astype(np.float16), 23, to_f16=True)
    assert half.view(np.uint16)[[1, 2, 4]].tolist() == [0x7FFF] * 3
    assert half[5] == infinity
