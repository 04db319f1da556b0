"""Integer instructions against Python integers."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.simulate.elementwise import run

EDGES = {
    16: [0, 1, 2, 0x7FFF, 0x8000, 0xFFFF, 0x8001, 5],
    32: [0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80000001, 31, 32, 33, 255],
    64: [0, 1, 2, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 0xFFFFFFFF, 1 << 32, 63, 64],
}


def words(bits: int, seed: int, signed: bool = False) -> np.ndarray:
    """Every edge and random values of all lengths, shuffled."""
    rng = np.random.default_rng(seed)
    values = EDGES[bits] * 6 + [int(rng.integers(0, 1 << 62)) >> int(rng.integers(0, 62)) for _ in range(150)]
    values += [int.from_bytes(rng.bytes(8), "little") for _ in range(150)]
    array = np.array([value & ((1 << bits) - 1) for value in values], np.uint64).astype(f"u{bits // 8}")
    return rng.permutation(array).view(f"{'i' if signed else 'u'}{bits // 8}")


def expect(found: np.ndarray, wanted: list[int], bits: int) -> None:
    assert found.tolist() == [value & ((1 << bits) - 1) for value in wanted]


def wrap_signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "min": min,
    "max": max,
    "mul.lo": lambda a, b: a * b,
    "div": lambda a, b: truncated(a, b) if b else -1,
    "rem": lambda a, b: a - b * truncated(a, b) if b else -1,
}


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("kind", ["u", "s"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, kind, bits):
    a, b = words(bits, 1, kind == "s"), words(bits, 2, kind == "s")
    found = run(f"{name}.{kind}{bits}", [a, b], f"{kind}{bits}")
    expect(found, [BINARY[name](int(x), int(y)) for x, y in zip(a, b, strict=True)], bits)


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("kind", ["u", "s"])
def test_high_and_wide_products(kind, bits):
    a, b, c = (words(bits, seed, kind == "s") for seed in (3, 4, 5))
    products = [int(x) * int(y) for x, y in zip(a, b, strict=True)]
    expect(run(f"mul.hi.{kind}{bits}", [a, b], f"{kind}{bits}"), [each >> bits for each in products], bits)
    sums = [(each >> bits) + int(z) for each, z in zip(products, c, strict=True)]
    expect(run(f"mad.hi.{kind}{bits}", [a, b, c], f"{kind}{bits}"), sums, bits)
    if bits < 64:
        wide = f"{kind}{2 * bits}"
        expect(run(f"mul.wide.{kind}{bits}", [a, b], wide), products, 2 * bits)
        addend = np.resize(words(2 * bits, 6, kind == "s"), len(a))
        expected = [each + int(z) for each, z in zip(products, addend, strict=True)]
        expect(run(f"mad.wide.{kind}{bits}", [a, b, addend], wide), expected, 2 * bits)


def test_saturating_sums():
    a, b, c = (words(32, seed, True) for seed in (7, 8, 9))

    def clamp(value):
        return min(max(value, -(1 << 31)), (1 << 31) - 1)

    pairs = list(zip(a.tolist(), b.tolist(), c.tolist(), strict=True))
    expect(run("add.sat.s32", [a, b], "s32"), [clamp(x + y) for x, y, _ in pairs], 32)
    expect(run("sub.sat.s32", [a, b], "s32"), [clamp(x - y) for x, y, _ in pairs], 32)
    expect(run("mad.hi.sat.s32", [a, b, c], "s32"), [clamp((x * y >> 32) + z) for x, y, z in pairs], 32)


@pytest.mark.parametrize("half", ["lo", "hi"])
@pytest.mark.parametrize("kind", ["u", "s"])
def test_products_of_24_bits(kind, half):
    a, b, c = (words(32, seed, kind == "s") for seed in (10, 11, 12))

    def low(value):
        return wrap_signed(int(value), 24) if kind == "s" else int(value) & 0xFFFFFF

    shift = 16 if half == "hi" else 0
    wanted = [low(x) * low(y) >> shift for x, y in zip(a, b, strict=True)]
    expect(run(f"mul24.{half}.{kind}32", [a, b], f"{kind}32"), wanted, 32)
    sums = [each + int(z) for each, z in zip(wanted, c, strict=True)]
    expect(run(f"mad24.{half}.{kind}32", [a, b, c], f"{kind}32"), sums, 32)


def test_absolute_differences():
    a, b, c = (words(32, seed, True) for seed in (13, 14, 15))
    wanted = [int(z) + abs(int(x) - int(y)) for x, y, z in zip(a, b, c, strict=True)]
    expect(run("sad.s32", [a, b, c], "s32"), wanted, 32)
    expect(run("abs.s32", [a], "s32"), [abs(int(x)) for x in a], 32)
    expect(run("neg.s64", [words(64, 1, True)], "s64"), [-int(x) for x in words(64, 1, True)], 64)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_shifts(bits):
    a, signed = words(bits, 16), words(bits, 17, True)
    amount = np.resize(np.array([0, 1, 5, bits - 1, bits, bits + 1, 200, 0xFFFFFFFF], np.uint32), len(a))
    by = amount.tolist()
    expect(
        run(f"shl.b{bits}", [a, amount], f"b{bits}"),
        [int(x) << s if s < bits else 0 for x, s in zip(a, by, strict=True)],
        bits,
    )
    expect(
        run(f"shr.u{bits}", [a, amount], f"u{bits}"), [int(x) >> min(s, bits) for x, s in zip(a, by, strict=True)], bits
    )
    wanted = [int(x) >> min(s, bits) for x, s in zip(signed, by, strict=True)]
    expect(run(f"shr.s{bits}", [signed, amount], f"s{bits}"), wanted, bits)


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_funnel_shifts(mode):
    a, b, amount = words(32, 18), words(32, 19), words(32, 20) % 70

    def count(s):
        return s & 31 if mode == "wrap" else min(s, 32)

    rows = [(int(x) | int(y) << 32, count(int(s))) for x, y, s in zip(a, b, amount, strict=True)]
    expect(run(f"shf.l.{mode}.b32", [a, b, amount], "b32"), [pair << s >> 32 for pair, s in rows], 32)
    expect(run(f"shf.r.{mode}.b32", [a, b, amount], "b32"), [pair >> s for pair, s in rows], 32)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_logic(bits):
    a, b = words(bits, 21), words(bits, 22)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    expect(run(f"and.b{bits}", [a, b], f"b{bits}"), [x & y for x, y in pairs], bits)
    expect(run(f"or.b{bits}", [a, b], f"b{bits}"), [x | y for x, y in pairs], bits)
    expect(run(f"xor.b{bits}", [a, b], f"b{bits}"), [x ^ y for x, y in pairs], bits)
    expect(run(f"not.b{bits}", [a], f"b{bits}"), [~x for x, _ in pairs], bits)
    expect(run(f"cnot.b{bits}", [a], f"b{bits}"), [int(x == 0) for x, _ in pairs], bits)


@pytest.mark.parametrize("table", [0x00, 0xFF, 0x80, 0xE8, 0x96, 0x1D, 0x3C])
def test_any_function_of_three(table):
    a, b, c = words(32, 23), words(32, 24), words(32, 25)

    def function(x, y, z):
        return sum((table >> ((x >> i & 1) * 4 + (y >> i & 1) * 2 + (z >> i & 1)) & 1) << i for i in range(32))

    wanted = [function(*row) for row in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    expect(run("lop3.b32", [a, b, c], "b32", immediates=(table,)), wanted, 32)


@pytest.mark.parametrize("bits", [32, 64])
def test_counting(bits):
    a, s = words(bits, 26), words(bits, 27, True)
    expect(run(f"popc.b{bits}", [a], "u32"), [int(x).bit_count() for x in a], 32)
    expect(run(f"clz.b{bits}", [a], "u32"), [bits - int(x).bit_length() for x in a], 32)
    expect(run(f"brev.b{bits}", [a], f"b{bits}"), [int(f"{int(x):0{bits}b}"[::-1], 2) for x in a], bits)
    expect(run(f"bfind.u{bits}", [a], "u32"), [int(x).bit_length() - 1 for x in a], 32)

    def highest(x):
        return (~x if x < 0 else x).bit_length() - 1

    expect(run(f"bfind.s{bits}", [s], "u32"), [highest(int(x)) for x in s], 32)
    wanted = [bits - 1 - highest(int(x)) if highest(int(x)) >= 0 else -1 for x in s]
    expect(run(f"bfind.shiftamt.s{bits}", [s], "u32"), wanted, 32)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("kind", ["u", "s"])
def test_fields(kind, bits):
    """The loop of the manual, position and length at most 255; the sign is that of the field's last bit in the word."""
    a, b = words(bits, 28), words(bits, 29)
    rng = np.random.default_rng(30)
    start, length = (rng.choice([0, 1, 7, bits - 1, bits, 200, 255, 12], len(a)).astype(np.uint32) for _ in range(2))
    extracted, inserted = [], []
    for x, y, pos, count in zip(a.tolist(), b.tolist(), start.tolist(), length.tolist(), strict=True):
        last = min(pos + count - 1, bits - 1)
        sign = 0 if kind == "u" or count == 0 else x >> last & 1
        value = 0
        for i in range(bits):
            value |= (x >> (pos + i) & 1 if i < count and pos + i < bits else sign) << i
        extracted.append(value)
        for i in range(count):
            if pos + i < bits:
                y = y & ~(1 << pos + i) | (x >> i & 1 if i < bits else 0) << pos + i
        inserted.append(y)
    expect(
        run(f"bfe.{kind}{bits}", [a.view(f"{'i' if kind == 's' else 'u'}{bits // 8}"), start, length], f"{kind}{bits}"),
        extracted,
        bits,
    )
    expect(run(f"bfi.b{bits}", [a, b, start, length], f"b{bits}"), inserted, bits)


def test_byte_permutation():
    a, b, c = words(32, 31), words(32, 32), words(32, 33)

    def permuted(x, y, control):
        pair, result = x | y << 32, 0
        for byte in range(4):
            nibble = control >> 4 * byte & 15
            value = pair >> 8 * (nibble & 7) & 255
            result |= (value if nibble < 8 else 255 * (value >> 7)) << 8 * byte
        return result

    rows = list(zip(a.tolist(), b.tolist(), c.tolist(), strict=True))
    expect(run("prmt.b32", [a, b, c], "b32"), [permuted(*row) for row in rows], 32)
    forward = [(x | y << 32) >> 8 * (s & 3) for x, y, s in rows]
    expect(run("prmt.b32.f4e", [a, b, c], "b32"), forward, 32)
    replicated = [(x >> 8 * (s & 3) & 255) * 0x01010101 for x, _, s in rows]
    expect(run("prmt.b32.rc8", [a, b, c], "b32"), replicated, 32)


COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@pytest.mark.parametrize("of", ["u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("word", COMPARISONS)
def test_comparisons(word, of):
    bits = int(of[1:])
    a, b = words(bits, 34, of[0] == "s"), words(bits, 35, of[0] == "s")
    b[::3] = a[::3]
    wanted = [eval(f"{x} {COMPARISONS[word]} {y}") for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert run(f"setp.{word}.{of}", [a, b], "pred").tolist() == wanted


def test_selection_and_joined_comparison():
    a, b = words(32, 36, True), words(32, 37, True)
    p = np.random.default_rng(1).random(len(a)) < 0.5
    rows = list(zip(a.tolist(), b.tolist(), p.tolist(), strict=True))
    expect(run("selp.s32", [a, b, p], "s32"), [x if t else y for x, y, t in rows], 32)
    expect(run("slct.s32.s32", [a, b, a], "s32"), [x if x >= 0 else y for x, y, _ in rows], 32)
    assert run("setp.lt.and.s32", [a, b, p], "pred").tolist() == [x < y and t for x, y, t in rows]
    assert run("setp.lt.xor.s32", [a, b, p], "pred").tolist() == [(x < y) != t for x, y, t in rows]
    expect(run("set.lt.u32.s32", [a, b], "u32"), [-(x < y) for x, y, _ in rows], 32)


@pytest.mark.parametrize("source", ["u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("to", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_integer_conversion(to, source):
    bits, wide = int(to[1:]), int(source[1:])
    a = words(wide, 38, source[0] == "s")
    expect(run(f"cvt.{to}.{source}", [a], to), [int(x) for x in a], bits)
    low, high = (0, (1 << bits) - 1) if to[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
    narrows = bits < wide or (bits == wide and to[0] != source[0]) or (source[0] == "s" and to[0] == "u")
    if narrows:
        expect(run(f"cvt.sat.{to}.{source}", [a], to), [min(max(int(x), low), high) for x in a], bits)
