"""Carries, packed integers, dot products, masks, narrow floats, conversions: against plain Python."""

import math
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from isa.types import u32
from ptxgen.build import Module, pointer
from ptxgen.simulate import simulate
from ptxgen.simulate.formats import BF16, FORMATS, decoded
from tests.simulate.elementwise import THREADS, run
from tests.simulate.exact import rounded

RNG = np.random.default_rng(11)
WORDS = RNG.integers(0, 1 << 32, (3, 4 * THREADS), dtype=np.uint32)
WORDS[:, ::5] = RNG.choice([0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 31, 32, 33, 0x00FF00FF], (3, len(WORDS[0, ::5])))


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def parts(word: int, width: int, is_signed: bool) -> list[int]:
    made = [(word >> shift) & ((1 << width) - 1) for shift in range(0, 32, width)]
    return [signed(each, width) if is_signed else each for each in made]


def joined(values: list[int], width: int) -> int:
    return sum((value & ((1 << width) - 1)) << (width * place) for place, value in enumerate(values))


def clamped(value: int, width: int, is_signed: bool) -> int:
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)
    return max(low, min(high, value))


PACKED: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "min": min, "max": max,
}  # fmt: skip


@pytest.mark.parametrize("name", [
    "add.u16x2", "add.s16x2", "min.s16x2", "max.u16x2", "min.relu.s16x2", "max.relu.s16x2", "add.sat.u16x2",
    "add.sat.s16x2", "add.u8x4", "add.sat.s8x4", "sub.sat.u8x4", "sub.s8x4", "min.s8x4", "max.relu.s8x4", "add.sat.u32",
    "min.relu.s32",
])  # fmt: skip
def test_packed_integers(name):
    words = name.split(".")
    kind, _, _ = words[-1].partition("x")
    width, is_signed = int(kind[1:]), kind[0] == "s"
    found = run(name, list(WORDS[:2]), "u32", target="sm_120a" if "8x4" in name or ".sat" in name else "sm_90")
    for a, b, got in zip(*WORDS[:2].tolist(), found.tolist(), strict=True):
        wanted = [
            PACKED[words[0]](x, y) for x, y in zip(parts(a, width, is_signed), parts(b, width, is_signed), strict=True)
        ]
        wanted = [clamped(each, width, is_signed) for each in wanted] if "sat" in words else wanted
        wanted = [max(each, 0) for each in wanted] if "relu" in words else wanted
        assert got == joined(wanted, width), (hex(a), hex(b))


@pytest.mark.parametrize("atype", ["u32", "s32"])
@pytest.mark.parametrize("btype", ["u32", "s32"])
def test_dot_products(atype, btype):
    four = run(f"dp4a.{atype}.{btype}", list(WORDS), "u32")
    two = {half: run(f"dp2a.{half}.{atype}.{btype}", list(WORDS), "u32") for half in ("lo", "hi")}
    for place, (a, b, c) in enumerate(WORDS.T.tolist()):
        left, right = parts(a, 8, atype == "s32"), parts(b, 8, btype == "s32")
        halves = parts(a, 16, atype == "s32")
        assert four[place] == (c + sum(x * y for x, y in zip(left, right, strict=True))) % (1 << 32)
        for half, first in (("lo", 0), ("hi", 2)):
            product = sum(x * y for x, y in zip(halves, right[first : first + 2], strict=True))
            assert two[half][place] == (c + product) % (1 << 32)


def test_masks_extensions_and_places_of_ones():
    a, b = WORDS[0], np.where(WORDS[1] % 3 == 0, WORDS[1], WORDS[1] % 40).astype(np.uint32)
    start = (WORDS[2] % 36).astype(np.uint32)
    found = {name: run(name, (start, b), "u32") for name in ("bmsk.clamp.b32", "bmsk.wrap.b32")}
    extended = {name: run(name, (a, b), "u32") for name in ("szext.clamp.u32", "szext.wrap.s32", "szext.clamp.s32")}
    for place, (value, count, first) in enumerate(zip(a.tolist(), b.tolist(), start.tolist(), strict=True)):
        mask = ((1 << min(count, 32)) - 1) << first if first < 32 else 0
        assert found["bmsk.clamp.b32"][place] == mask % (1 << 32)
        assert found["bmsk.wrap.b32"][place] == (((1 << count % 32) - 1) << first % 32) % (1 << 32)
        for name, got in extended.items():
            kept = count % 32 if "wrap" in name else min(count, 32)
            field = value & ((1 << kept) - 1)
            field = signed(field, kept) if name.endswith("s32") and kept else field
            assert got[place] == field % (1 << 32), (name, hex(value), count)


def place_of_one(mask: int, base: int, offset: int) -> int:
    if offset == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    ones = [place for place in range(32) if mask >> place & 1]
    ones = [each for each in ones if each >= base] if offset > 0 else [each for each in ones if each <= base][::-1]
    return ones[abs(offset) - 1] if len(ones) >= abs(offset) else 0xFFFFFFFF


def test_the_nth_one():
    base = (WORDS[1] % 32).astype(np.uint32)
    offset = (WORDS[2] % 21).astype(np.int32) - 10
    found = run("fns.b32", (WORDS[0], base, offset), "u32")
    for mask, first, count, got in zip(WORDS[0].tolist(), base.tolist(), offset.tolist(), found.tolist(), strict=True):
        assert got == place_of_one(mask, first, count), (hex(mask), first, count)


def test_products_without_carries():
    a, b, c = RNG.integers(0, 1 << 64, (3, 64), dtype=np.uint64)
    low, high = (run(f"clmad.{half}.u64", (a, b, c), "u64", target="sm_100") for half in ("lo", "hi"))
    for place, (x, y, z) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        product = 0
        for bit in range(64):
            product ^= (x << bit) if y >> bit & 1 else 0
        assert (low[place], high[place]) == ((product % (1 << 64)) ^ z, (product >> 64) ^ z)


def long_arithmetic(k, a, b, c):
    """The 96-bit a + b, a - b, and the low 64 bits of a * b + c of two-word values, from 32-bit words."""
    total = [k.add.cc.u32(a[0], b[0]), k.addc.cc.u32(a[1], b[1]), k.addc.u32(a[2], b[2])]
    difference = [k.sub.cc.u32(a[0], b[0]), k.subc.cc.u32(a[1], b[1]), k.subc.u32(a[2], b[2])]
    product = [k.mad.lo.cc.u32(a[0], b[0], c[0]), k.madc.hi.u32(a[0], b[0], c[1])]
    return [*total, *difference, *product]


def test_carries_run_through_long_words():
    module = Module("sm_70")
    words = RNG.choice([0, 1, 0xFFFFFFFF, 0x80000000, 5], (9, 64)).astype(np.uint32)
    out = np.zeros((8, 64), np.uint32)
    with module.kernel("long", words=pointer(u32), out=pointer(u32)) as k:
        source, target = (k.add.s64(each, k.mul.wide.u32(k.tid.x, 4)) for each in (k.args.words, k.args.out))
        loaded = [k.ld.global_.u32(source + 256 * place) for place in range(9)]
        for place, value in enumerate(long_arithmetic(k, loaded[:3], loaded[3:6], loaded[6:])):
            k.st.global_.u32(target + 256 * place, value)
    simulate(module.build(), grid=1, block=64, args=(words, out)).raise_findings()

    def number(columns) -> int:
        return sum(int(word) << (32 * place) for place, word in enumerate(columns))

    for lane in range(64):
        a, b = (number(words[start : start + 3, lane]) for start in (0, 3))
        assert number(out[:3, lane]) == (a + b) % (1 << 96)
        assert number(out[3:6, lane]) == (a - b) % (1 << 96)
        product = int(words[0, lane]) * int(words[3, lane]) + number(words[6:8, lane])
        assert number(out[6:, lane]) == product % (1 << 64)


BF = np.array([*range(0, 1 << 16, 173), 0x7F80, 0xFF80, 0x7FC0, 0x8000, 1, 0x7F7F, 0x0080, 0x3F80] * 2, np.uint16)
BF_B, BF_C = np.roll(BF, 7), np.roll(BF[::-1], 3)


def bf16_of(value: float | Fraction) -> int:
    if isinstance(value, float):
        return int(np.array([value]).astype(ml_dtypes.bfloat16).view(np.uint16)[0]) if not math.isnan(value) else 0x7FFF
    exact = float(rounded(value, 7, -126, 127))
    return int(np.array([exact]).astype(ml_dtypes.bfloat16).view(np.uint16)[0])


@pytest.mark.parametrize("name", ["add.rn.bf16", "sub.rn.bf16", "mul.rn.bf16", "fma.rn.bf16", "fma.rn.relu.bf16"])
def test_bf16_arithmetic_rounds_once(name):
    inputs = (BF, BF_B, BF_C)[: 3 if "fma" in name else 2]
    found = run(name, inputs, "b16", target="sm_90")
    values = [decoded(each, BF16).tolist() for each in inputs]
    for place, given in enumerate(zip(*values, strict=True)):
        if not all(map(math.isfinite, given)):
            continue
        exact = [Fraction(each) for each in given]
        match name.split(".")[0]:
            case "add":
                result = exact[0] + exact[1]
            case "sub":
                result = exact[0] - exact[1]
            case "mul":
                result = exact[0] * exact[1]
            case _:
                result = exact[0] * exact[1] + exact[2]
        if "relu" in name and result < 0:
            result = Fraction(0)
        if result:
            assert found[place] == bf16_of(result), given


@pytest.mark.parametrize("name, target", [
    ("min.xorsign.abs.f32", "sm_86"), ("max.NaN.xorsign.abs.f32", "sm_86"), ("max.NaN.abs.f32", "sm_100"),
    ("min.f32", "sm_100"),
])  # fmt: skip
def test_extremes_of_two_and_three(name, target):
    specials = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -3.0, np.inf, -np.inf, np.nan], np.float32)
    grids = [each.ravel() for each in np.meshgrid(specials, specials, specials)]
    inputs = grids[: 2 if "xorsign" in name else 3]
    found = run(name, inputs, "f32", target=target).view(np.float32)
    pick = min if name.startswith("min") else max
    for given, got in zip(zip(*(each.tolist() for each in inputs), strict=True), found.tolist(), strict=True):
        sizes = [abs(each) if "abs" in name else each for each in given]
        numbers = [each for each in sizes if not math.isnan(each)]
        if not numbers or ("NaN" in name and len(numbers) < len(sizes)):
            assert math.isnan(got)
            continue
        wanted = pick(numbers, key=lambda each: (each, math.copysign(1, each)))
        if "xorsign" in name:
            negative = (math.copysign(1, given[0]) < 0) != (math.copysign(1, given[1]) < 0)
            wanted = math.copysign(wanted, -1 if negative else 1)
        assert (got, math.copysign(1, got)) == (wanted, math.copysign(1, wanted)), given


FLOATS = np.array(
    [0.0, -0.0, 1.0, -1.0, 1e-10, 448.0, 464.0, 465.0, 57344.0, 61440.0, 7e4, -7e4, 3.4e38, np.inf, -np.inf, np.nan,
     7.75, 0.0625, 0.03125, 6.0, 5.0, 28.0, 30.0, 2.0**-17, 1.5 * 2.0**-17, 0.0099, -0.3, 240.1, 1e38], np.float32
)  # fmt: skip


@pytest.mark.parametrize("to, target", [
    ("e4m3x2", "sm_89"), ("e5m2x2", "sm_89"), ("e2m3x2", "sm_100a"), ("e3m2x2", "sm_100a"),
])  # fmt: skip
@pytest.mark.parametrize("relu", ["", ".relu"])
def test_to_pairs_of_tiny_floats(to, target, relu):
    a, b = (each.ravel() for each in np.meshgrid(FLOATS, FLOATS))
    found = run(f"cvt.rn.satfinite{relu}.{to}.f32", (a, b), "b16", target=target)
    of = FORMATS[to[:-2]]
    largest = float(decoded(np.array([of.largest]), of)[0])
    for x, y, got in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
        for value, code in ((x, got >> 8), (y, got & 0xFF)):
            if math.isnan(value):
                assert code == of.nan
                continue
            value = max(value, 0.0) if relu and not value > 0 else value
            value = max(-largest, min(largest, value))
            exact = float(rounded(Fraction(value), of.fraction_bits, of.least_exponent, 100))
            wanted = math.copysign(min(largest, abs(exact)), value if not relu else 1)
            back = float(decoded(np.array([code]), of)[0])
            assert (back, math.copysign(1, back)) == (wanted, math.copysign(1, wanted)), value


@pytest.mark.parametrize("mode", ["rz", "rm", "rp", "rn"])
def test_wide_integers_to_f64(mode):
    values = np.array([(1 << 63) - 1, 1 << 62, (1 << 53) + 1, -(1 << 53) - 1, -(1 << 63), -5, (1 << 60) + 7], np.int64)
    found = run(f"cvt.{mode}.f64.s64", (values,), "f64").view(np.float64)
    for value, got in zip(values.tolist(), found.tolist(), strict=True):
        assert got == float(rounded(Fraction(value), 52, -1022, 1023, mode))


def test_saturating_packs():
    a, b, c = WORDS[0].view(np.int32), (WORDS[1] % 600).astype(np.int32) - 300, WORDS[2]
    found = run("cvt.pack.sat.s8.s32.b32", (a, b, c), "u32", target="sm_80")
    pairs = run("cvt.pack.sat.u16.s32", (a, b), "u32", target="sm_80")
    for place, (x, y, z) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        low, high = clamped(y, 8, True) & 0xFF, clamped(x, 8, True) & 0xFF
        assert found[place] == (z << 16 | high << 8 | low) % (1 << 32)
        assert pairs[place] == clamped(x, 16, False) << 16 | clamped(y, 16, False)
