"""Video instructions against models of their own, number by number in Python.

Those with several parts follow the manual's pseudocode. Scalar ones follow the pairs of words in the integer
instructions that ptxas makes of them for sm_90; `hardware_bits.txt` has what an H200 gave.
"""

import random
from collections.abc import Callable

import numpy as np
import pytest

from tests.simulate.statements import results

EDGES = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80808080, 0x7F80FF01]
CHANCE = np.random.default_rng(3)
A, B, C = (
    np.concatenate(
        [CHANCE.permutation(np.array(EDGES * 3, np.uint32)), CHANCE.integers(0, 1 << 32, 60, dtype=np.uint32)]
    )
    for _ in range(3)
)
PARTS = ["", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"]
TYPES = ["u32", "s32"]
COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__,
}  # fmt: skip


def field(word: int, part: str, kind: str) -> int:
    bits = 32 if not part else 8 if part[1] == "b" else 16
    value = (word >> (bits * int(part[2]) if part else 0)) & ((1 << bits) - 1)
    return value - (1 << bits) if kind == "s32" and value >> bits - 1 else value


def clamp(value: int, bits: int, kind: str) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "s32" else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def operated(name: str, x: int, y: int) -> int:
    match name:
        case "vadd":
            return x + y
        case "vsub":
            return x - y
        case "vabsdiff":
            return abs(x - y)
        case "vmin":
            return min(x, y)
        case "vmax":
            return max(x, y)
        case "vavrg":
            return (x + y + 1 if x + y >= 0 else x + y) >> 1
        case "vshl.clamp":
            return x << min(y, 32)
        case "vshl.wrap":
            return x << (y & 31)
        case "vshr.clamp":
            return x >> min(y, 32)
        case "vshr.wrap":
            return x >> (y & 31)
        case _:
            return int(COMPARE[name](x, y))


def finished(value: int, c: int, dpart: str) -> int:
    if not dpart:
        return value & 0xFFFFFFFF
    bits = 8 if dpart[1] == "b" else 16
    shift = bits * int(dpart[2])
    mask = ((1 << bits) - 1) << shift
    return (c & ~mask) | ((value << shift) & mask)


def halves(value: int) -> tuple[int, int]:
    """The upper and the lower word of a number's 64 bits."""
    return divmod(value % (1 << 64), 1 << 32)


def sign_of(word: int) -> int:
    return 0xFFFFFFFF if word >> 31 else 0


def clamped_pair(high: int, low: int, kind: str) -> int:
    """The word that a pair of words is clamped to."""
    if kind == "u32":
        return 0 if sign_of(high) else 0xFFFFFFFF if high else low
    return low if high == sign_of(low) else 0x80000000 if sign_of(high) else 0x7FFFFFFF


def saturated(name: str, high: int, low: int, dpart: str, kind: str) -> tuple[int, int]:
    if name.startswith(("vshl", "vshr")):
        high = high & 3 | (0xFFFFFFFC if high & 2 else 0)
        return 0, clamped_pair(high, low, kind)
    if dpart:
        bits = (8 if dpart[1] == "b" else 16) - (kind == "s32")
        return 0, min(0xFFFFFFFF if high else low, (1 << bits) - 1)
    if kind == "s32":
        return 0, clamped_pair(high, low, kind)
    return (0, 0) if sign_of(high) else (high, low)


def second_of_pairs(second: str, pair: tuple[int, int], c: int, kind: str) -> int:
    other = (sign_of(c) if kind == "s32" else 0, c)
    if second == "add":
        return (pair[1] + c) & 0xFFFFFFFF
    turned = 0x80000000 if kind == "s32" else 0
    ordered = sorted([pair, other], key=lambda each: (each[0] ^ turned, each[1]))
    return ordered[0 if second == "min" else 1][1]


def check(cases: list[tuple[str, Callable[[int, int, int], int]]]) -> None:
    found = results([statement for statement, _ in cases], A, B, C)
    for (statement, exact), row in zip(cases, found, strict=True):
        for a, b, c, value in zip(A.tolist(), B.tolist(), C.tolist(), row.tolist(), strict=True):
            assert value == exact(a, b, c), (statement, hex(a), hex(b), hex(c), hex(value), hex(exact(a, b, c)))


def scalar(name: str, drawn: random.Random) -> tuple[str, Callable[[int, int, int], int]]:
    shift = name in ("vshl", "vshr")
    dtype, atype, btype = (drawn.choice(TYPES) for _ in range(3))
    mode = drawn.choice(["clamp", "wrap"]) if shift else ""
    btype = "u32" if shift else btype
    sat = drawn.choice(["", ".sat"])
    apart, bpart = drawn.choice(PARTS), drawn.choice(PARTS)
    dpart, second = drawn.choice(
        [("", ""), *((part, "") for part in PARTS[1:]), *(("", op) for op in ("add", "min", "max"))]
    )
    key = f"{name}.{mode}" if shift else name
    compare = drawn.choice(list(COMPARE)) if name == "vset" else ""
    typed = f"{atype}.{btype}.{compare}" if compare else f"{dtype}.{atype}.{btype}{sat}"
    dtype = atype if compare else dtype
    spelled = f"{name}.{typed}{'.' + mode if mode else ''}{'.' + second if second else ''}"
    operands = f"%d{dpart}, %a{apart}, %b{bpart}{', %c' if dpart or second else ''}"

    def exact(a: int, b: int, c: int) -> int:
        high, low = halves(operated(compare or key, field(a, apart, atype), field(b, bpart, btype)))
        clamps = sat and not compare
        high, low = saturated(key, high, low, dpart, dtype) if clamps else (high, low)
        if name in ("vadd", "vsub") or (clamps and (shift or dtype == "s32")):
            high = sign_of(low)
        return second_of_pairs(second, (high, low), c, dtype) if second else finished(low, c, dpart)

    return f"{spelled} {operands};", exact


@pytest.mark.parametrize("name", ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"])
def test_one_part(name: str):
    drawn = random.Random(name)
    check([scalar(name, drawn) for _ in range(25)])


def simd(name: str, count: int, drawn: random.Random) -> tuple[str, Callable[[int, int, int], int]]:
    letter, bits = ("h", 16) if count == 2 else ("b", 8)
    dtype, atype, btype = (drawn.choice(TYPES) for _ in range(3))
    ending = drawn.choice(["", ".sat", ".add"])
    compare = drawn.choice(list(COMPARE)) if name == "vset" else ""
    if compare:
        dtype, ending = "u32", drawn.choice(["", ".add"])
    lanes = sorted(drawn.sample(range(count), drawn.randint(1, count)), reverse=True)
    mask = drawn.choice(["", f".{letter}{''.join(map(str, lanes))}"])
    lanes = lanes if mask else list(range(count))
    picks = [[drawn.randrange(2 * count) for _ in range(count)] for _ in range(2)]
    spelled_picks = [drawn.choice(["", f".{letter}{''.join(map(str, reversed(each)))}"]) for each in picks]
    for which, text in enumerate(spelled_picks):
        picks[which] = picks[which] if text else [lane + count * which for lane in range(count)]
    typed = f"{atype}.{btype}.{compare}" if compare else f"{dtype}.{atype}.{btype}"
    statement = f"{name}{count}.{typed}{ending} %d{mask}, %a{spelled_picks[0]}, %b{spelled_picks[1]}, %c;"

    def exact(a: int, b: int, c: int) -> int:
        def lane(pick: int, kind: str) -> int:
            return field(a if pick < count else b, f".{letter}{pick % count}", kind)

        result = c
        for place in lanes:
            value = operated(compare or name, lane(picks[0][place], atype), lane(picks[1][place], btype))
            value = clamp(value, bits, dtype) if ending == ".sat" else value
            if ending == ".add":
                result += value
            else:
                result = finished(value, result, f".{letter}{place}")
        return result & 0xFFFFFFFF

    return statement, exact


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("name", ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg", "vset"])
def test_several_parts_at_once(name: str, count: int):
    drawn = random.Random(f"{name}{count}")
    check([simd(name, count, drawn) for _ in range(20)])


def product(drawn: random.Random) -> tuple[str, Callable[[int, int, int], int]]:
    dtype, atype, btype = (drawn.choice(TYPES) for _ in range(3))
    po = drawn.random() < 0.3
    minus_a, minus_b, minus_c = drawn.choice([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]) if not po else (0, 0, 0)
    sat, scale = drawn.choice(["", ".sat"]), drawn.choice([0, 7, 15])
    apart, bpart = drawn.choice(PARTS), drawn.choice(PARTS)
    name = f"vmad.{dtype}.{atype}.{btype}{'.po' if po else ''}{sat}{f'.shr{scale}' if scale else ''}"
    statement = f"{name} %d, {'-' * minus_a}%a{apart}, {'-' * minus_b}%b{bpart}, {'-' * minus_c}%c;"

    def exact(a: int, b: int, c: int) -> int:
        signed = "s32" in (atype, btype) or bool(minus_a or minus_b or minus_c)
        x, y = (
            field(word, part, kind if part else "s32") for word, part, kind in ((a, apart, atype), (b, bpart, btype))
        )
        total, addend, last = x * y, field(c, "", "s32"), 0
        if po:
            last = 1
        elif minus_a != minus_b:
            total, last = ~total, 1
        elif minus_c:
            addend, last = ~addend, 1
        whole = total + addend + last
        high, low = halves(whole >> scale if signed else whole % (1 << 64) >> scale)
        return clamped_pair(high, low, "s32" if signed else "u32") if sat else low

    return statement, exact


def test_products():
    drawn = random.Random("vmad")
    check([product(drawn) for _ in range(60)])
