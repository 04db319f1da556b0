"""What recorded outputs cannot tell of sm_90's tensor cores: directed sums, told as the GPU answers them.

Each test prints the answers (`pytest -s`) and fails where the simulator gives another one.
"""

import numpy as np
import pytest

from tests.device.products import Product
from tests.device.questions import Code, Question, answers
from tests.device.values import EDGES, random

F16, F16_F16 = Product(16, 8, 16, "f16", "f16", "f32"), Product(16, 8, 16, "f16", "f16", "f16")
BF16, TF32 = Product(16, 8, 16, "bf16", "bf16", "f32"), Product(16, 8, 8, "tf32", "tf32", "f32")
E4M3, E5M2 = Product(16, 8, 32, "e4m3", "e4m3", "f32"), Product(16, 8, 32, "e5m2", "e5m2", "f32")
E5M2_F16 = Product(16, 8, 32, "e5m2", "e5m2", "f16")


def grouped(of: Product) -> Product:
    """The same product by `wgmma`."""
    return Product(64, 8, of.depth, of.a, of.b, of.d, warpgroup=True)


def both(*products: Product) -> list[Product]:
    return [each for of in products for each in (of, grouped(of))]


def power(exponent: int) -> float:
    return float(2.0**exponent)


def split(exponent: int, least: int) -> tuple[float, float]:
    """Two numbers that multiply to 2**exponent, neither below 2**least."""
    first = max(exponent // 2, least)
    return power(first), power(exponent - first)


GREATEST = {"f16": 15, "bf16": 127, "tf32": 127, "e5m2": 15}
LEAST = {"f16": -14, "bf16": -126, "tf32": -126, "e4m3": -6, "e5m2": -14}
SUBNORMAL = {"f16": -24, "bf16": -133, "tf32": -136, "e4m3": -9, "e5m2": -16}
CODES = {  # infinity and NaNs: quiet, with a payload, negative, signalling
    "f16": (0x7C00, (0x7E00, 0x7E01, 0xFFFF, 0x7C01)), "bf16": (0x7F80, (0x7FC0, 0x7FC1, 0xFFFF, 0x7F81)),
    "tf32": (0x7F800000, (0x7FC00000, 0x7FC02000, 0xFFFFFFFF, 0x7F802000)),
    "f32": (0x7F800000, (0x7FC00000, 0x7FC00001, 0xFFFFFFFF, 0x7F800001)),
    "e5m2": (0x7C, (0x7E, 0x7D, 0xFF)), "e4m3": (0, (0x7F, 0xFF)),
}  # fmt: skip


@pytest.mark.parametrize("product", both(F16, BF16, TF32, E5M2), ids=str)
def test_the_exponent_of_a_zero_operand(product: Product) -> None:
    """0 times the greatest power beside two products of 2**-p: if the zero had an exponent, small ones were lost."""
    great, least = GREATEST[product.a], LEAST[product.a]
    asked = []
    for p in range(2, 25 if product.a == "e5m2" else 34, 2):
        x, y = split(-p, least)
        about = f"0 * 2**{great} + 2 * 2**-{p}"
        asked.append(Question(about, (0.0, x, x), (power(great), y, y)))
    found = answers(product, asked)
    lost = [each.about for each, bits in zip(asked, found, strict=True) if not bits]
    print("  => zeros have no exponent: nothing is lost" if not lost else f"  => lost beside a zero: {lost}")


@pytest.mark.parametrize("product", both(F16, BF16, TF32, E5M2), ids=str)
def test_the_exponent_of_a_subnormal_operand(product: Product) -> None:
    """The least subnormal times 2**q beside two products of 2**-p: where they are lost tells the exponent taken."""
    great, least, tiny = GREATEST[product.a], LEAST[product.a], SUBNORMAL[product.a]
    asked = []
    for p in range(4, 25 if product.a == "e5m2" else 34):
        x, y = split(-p, least)
        asked.append(Question(f"2**{tiny} * 2**{great} + 2 * 2**-{p}", (power(tiny), x, x), (power(great), y, y)))
    answers(product, asked)


@pytest.mark.parametrize("product", both(BF16, TF32), ids=str)
def test_a_floor_under_the_exponents(product: Product) -> None:
    """Products below the least subnormal of f32, which only together reach it: a floor on E would lose them."""
    asked = [Question(f"8 * 2**-{e}", (power(-70),) * 8, (power(70 - e),) * 8) for e in range(146, 155)]
    asked += [
        Question(f"2**-149 + 8 * 2**-{e}", (power(-70),) * 8, (power(70 - e),) * 8, power(-149))
        for e in range(148, 155)
    ]
    asked += [
        Question(f"2**-{e} * 2**-{e}, the least subnormals times 2**{up}", (power(-e),), (power(up - e),))
        for e, up in ((-SUBNORMAL[product.a], 118), (-SUBNORMAL[product.a], 120))
    ]
    found = answers(product, asked)
    lost = [each.about for each, bits in zip(asked[:7], found, strict=False) if not bits]
    print("  => no floor on E: 8 * 2**-152 is 2**-149" if not lost else f"  => a floor on E loses {lost}")


@pytest.mark.parametrize("product", both(F16, E5M2, E4M3), ids=str)
def test_the_least_products(product: Product) -> None:
    tiny = SUBNORMAL[product.a]
    least = power(tiny)
    asked = [Question(f"{n} * 2**{tiny} * 2**{tiny}", (least,) * n, (least,) * n) for n in (1, 2, 3, 7, 8)]
    asked += [
        Question(f"2**{e} + the same", (least,), (least,), power(e)) for e in range(2 * tiny - 3, 2 * tiny + 28, 3)
    ]
    answers(product, asked)


@pytest.mark.parametrize("product", both(F16, F16_F16, BF16, TF32, E4M3, E5M2, E5M2_F16), ids=str)
def test_the_bits_of_a_nan(product: Product) -> None:
    asked = []
    for nan in CODES[product.a][1]:
        asked.append(Question(f"NaN {nan:#x} in A", (Code(nan),), (1.0,)))
        asked.append(Question(f"NaN {nan:#x} in A times 0", (Code(nan),), (0.0,), 1.0))
        asked.append(Question(f"NaN {nan:#x} in B", (1.0,), (Code(nan),)))
    asked += [Question(f"NaN {nan:#x} in C", (1.0,), (1.0,), Code(nan)) for nan in CODES[product.d][1]]
    found = set(answers(product, asked))
    print(f"  => NaNs are {sorted(map(hex, found))}")


@pytest.mark.parametrize("product", both(F16, F16_F16, BF16, TF32, E5M2, E5M2_F16), ids=str)
def test_infinities(product: Product) -> None:
    infinity, sign = CODES[product.a][0], {8: 0x80, 16: 0x8000, 32: 1 << 31}[8 if product.a == "e5m2" else
                     32 if product.a == "tf32" else 16]  # fmt: skip
    inf, minus = Code(infinity), Code(infinity | sign)
    total = CODES[product.d][0]
    c_inf, c_minus = Code(total), Code(total | (0x8000 if product.d == "f16" else 1 << 31))
    tiny = power(SUBNORMAL[product.a])
    answers(product, [
        Question("0 * inf", (0.0,), (inf,)), Question("inf * 0", (inf,), (0.0,)), Question("-0 * inf", (-0.0,), (inf,)),
        Question("0 * inf + inf", (0.0,), (inf,), c_inf), Question("0 * inf + 1", (0.0,), (inf,), 1.0),
        Question("subnormal * inf", (tiny,), (inf,)), Question("inf * inf", (inf,), (inf,)),
        Question("inf * -inf", (inf,), (minus,)), Question("inf - inf", (inf, minus), (1.0, 1.0)),
        Question("inf + inf", (inf, inf), (1.0, 1.0)), Question("inf - c inf", (inf,), (1.0,), c_minus),
        Question("c inf", (1.0,), (1.0,), c_inf), Question("c -inf", (1.0,), (1.0,), c_minus),
        Question("inf - greatest c", (inf,), (1.0,), -65504.0), Question("-inf * 1 + 1", (minus,), (1.0,), 1.0),
        Question("inf far apart from -inf", (inf, 0.0, 0.0, 0.0, minus), (1.0,) * 5),
    ])  # fmt: skip


@pytest.mark.parametrize("product", both(TF32), ids=str)
def test_the_dropped_bits_of_tf32(product: Product) -> None:
    """Is a NaN whose fraction is only in the 13 dropped bits an infinity, and are numbers cut and not rounded?"""
    answers(product, [
        Question("0x7f800001 (NaN, dropped bits only) * 1", (Code(0x7F800001),), (1.0,)),
        Question("0x7f801fff (NaN, dropped bits only) * 0", (Code(0x7F801FFF),), (0.0,)),
        Question("0xff801fff (NaN, dropped bits only) * 1", (Code(0xFF801FFF),), (1.0,)),
        Question("0x3f801fff * 1", (Code(0x3F801FFF),), (1.0,)),
        Question("0x3f803fff * 1", (Code(0x3F803FFF),), (1.0,)),
        Question("0x00001fff (subnormal, dropped bits only) * 2**127", (Code(0x1FFF),), (power(127),)),
        Question("0x00001fff * inf: is it zero?", (Code(0x1FFF),), (Code(0x7F800000),)),
        Question("0x7f7fffff * 1", (Code(0x7F7FFFFF),), (1.0,)),
    ])  # fmt: skip


@pytest.mark.parametrize("product", both(F16, F16_F16, BF16, TF32, E4M3, E5M2, E5M2_F16), ids=str)
def test_the_sign_of_a_zero(product: Product) -> None:
    depth = product.depth
    asked = [
        Question("all products -0, c -0", (-0.0,) * depth, (1.0,) * depth, -0.0),
        Question("all products -0, c +0", (-0.0,) * depth, (1.0,) * depth, 0.0),
        Question("all products +0, c -0", (0.0,) * depth, (1.0,) * depth, -0.0),
        Question("one product -0, c -0", (-0.0,), (1.0,), -0.0),
        Question("-0 * -0 everywhere, c -0", (-0.0,) * depth, (-0.0,) * depth, -0.0),
        Question("1 - 1, c -0", (1.0, -1.0), (1.0, 1.0), -0.0),
        Question("1 - 1, c +0", (1.0, -1.0), (1.0, 1.0), 0.0),
        Question("1 - c", (1.0,), (1.0,), -1.0),
    ]
    asked += _vanishing(product)
    answers(product, asked)


def _vanishing(product: Product) -> list[Question]:
    """Negative sums that vanish as they are rounded or cut."""
    if product.d == "f16":
        x = power(-12)
        return [
            Question("-2**-24, c -0", (-x,), (x,), -0.0), Question("-2**-25", (-x,), (x / 2,)),
            Question("-2**-26", (-x / 2,), (x / 2,)), Question("-3 * 2**-26", (-x / 2,) * 3, (x / 2,) * 3),
            Question("2**-26", (x / 2,), (x / 2,)), Question("2**-25", (x,), (x / 2,)),
            Question("3 * 2**-26", (x / 2,) * 3, (x / 2,) * 3),
            Question("-2**-26, c -2**-24", (-x / 2,), (x / 2,), -x * x),
        ]  # fmt: skip
    if product.a in ("bf16", "tf32"):
        x = power(-75)
        return [
            Question("-2**-150, c +0", (-x,), (x,)),
            Question("-2**-150, c -0", (-x,), (x,), -0.0),
            Question("2**-150", (x,), (x,)),
            Question("-2**-149 - 2**-150", (-2 * x, -x), (x, x)),
            Question("1 - 1 - 2**-40", (1.0, -1.0, -power(-40)), (1.0,) * 3),
            Question("-2**-40 beside -1 and c 1", (-1.0, -power(-40)), (1.0, 1.0), 1.0),
        ]
    x = power(SUBNORMAL[product.a])
    return [Question("1 - 1 - least * least", (1.0, -1.0, -x), (1.0, 1.0, x)),
            Question("-least * least - 1 + c 1", (-1.0, -x), (1.0, x), 1.0)]  # fmt: skip


@pytest.mark.parametrize("product", both(BF16, TF32), ids=str)
def test_overflow_of_single_sums(product: Product) -> None:
    """Truncation by the book stops at the greatest number; the cores give infinity, or not?"""
    top, largest, half = power(127), float(np.finfo(np.float32).max), power(64)
    asked = []
    for sign in (1.0, -1.0):
        s = sign
        asked += [
            Question(f"{s:+.0f} * (2**127 + 2**127)", (s * top, s * top), (1.0, 1.0)),
            Question(f"{s:+.0f} * (greatest c + 2**103)", (s * power(103),), (1.0,), s * largest),
            Question(f"{s:+.0f} * (greatest c + 2**104)", (s * power(104),), (1.0,), s * largest),
            Question(f"{s:+.0f} * (greatest c + 3 * 2**102)", (s * power(102),) * 3, (1.0,) * 3, s * largest),
            Question(f"{s:+.0f} * (2**127 + 2**127 - 2**127)", (s * top, s * top, -s * top), (1.0,) * 3),
            Question(f"{s:+.0f} * (2**127 + 2**127 - 2**104)", (s * top, s * top, -s * power(104)), (1.0,) * 3),
            Question(f"{s:+.0f} * (2**127 + 2**127 - 2**103)", (s * top, s * top, -s * power(103)), (1.0,) * 3),
            Question(f"{s:+.0f} * 2**128 of one product", (s * half,), (half,)),
            Question(f"{s:+.0f} * 2**254 of one product", (s * top,), (top,)),
            Question(f"{s:+.0f} * (2**254 - 2**254) + 1", (s * top, -s * top), (top, top), 1.0),
            Question(f"{s:+.0f} * (2**128 - c 2**127)", (s * half,), (half,), -s * top),
        ]
    answers(product, asked)


@pytest.mark.parametrize("product", both(F16_F16, E5M2_F16), ids=str)
def test_overflow_of_half_sums(product: Product) -> None:
    largest, asked = 65504.0, []
    for s in (1.0, -1.0):
        asked += [
            Question(f"{s:+.0f} * (65504 + {n})", (s * 4.0,) * 4, (n / 16,) * 4, s * largest)
            for n in (8, 12, 14, 16, 20)
        ]
        asked += [
            Question(f"{s:+.0f} * 256 * 256", (s * 256.0,), (256.0,)),
            Question(f"{s:+.0f} * 2**30", (s * power(15),), (power(15),)),
            Question(f"{s:+.0f} * (256 * 256 - 256 * 256) + 1", (s * 256.0, -s * 256.0), (256.0,) * 2, 1.0),
            Question(f"{s:+.0f} * (256 * 256 - c 65504)", (s * 256.0,), (256.0,), -s * largest),
            Question(f"{s:+.0f} * (256 * 256 at k 0 - 256 * 256 at k 2)", (s * 256.0, 0, -s * 256.0), (256.0,) * 3),
        ]
    answers(product, asked)


def test_products_of_bytes_by_mma() -> None:
    """With f32 sums: parts in f16 or in f32, and how C is added? (`ptxas` unpacks them to f16 products.)"""
    asked = [
        Question("448 * 448: infinite if the parts were halves", (448.0,), (448.0,)),
        Question("1 + 2**-12 at k 1: 1 if the parts were halves", (1.0, power(-6)), (1.0, power(-6))),
        Question("1 + 2**-12 at k 2", (1.0, 0.0, power(-6)), (1.0, 0.0, power(-6))),
        Question("1 + 2**-12 at k 4", (1.0, 0, 0, 0, power(-6)), (1.0, 0, 0, 0, power(-6))),
        Question("1 + 2**-18 at k 1", (1.0, power(-9)), (1.0, power(-9))),
        Question("256**2 + 2**-9 at k 1", (256.0, power(-9)), (256.0, 1.0)),
        Question("256**2 + 2**-8 at k 1", (256.0, power(-8)), (256.0, 1.0)),
        Question("256**2 + 2**-9 at k 2", (256.0, 0, power(-9)), (256.0, 0, 1.0)),
        Question("256**2 + 2**-8 at k 2", (256.0, 0, power(-8)), (256.0, 0, 1.0)),
    ]  # fmt: skip
    answers(E4M3, asked)
    x = power(-12)
    beside = [
        Question("c 1 + 3 * 2**-25: 1 + 2**-23 if to nearest", (1.5 * x,), (x,), 1.0),
        Question("c 1 + 2**-24, a tie", (x,), (x,), 1.0),
        Question("c 1 + 2**-24 at k 0 and 2**-25 at k 2", (x, 0, x), (x, 0, x / 2), 1.0),
        Question("c 1 + 2**-24 at k 0 and 2**-25 at k 1", (x, x), (x, x / 2), 1.0),
        Question("c 1 + 2**-24 at k 0 and 2**-25 at k 4", (x, 0, 0, 0, x), (x, 0, 0, 0, x / 2), 1.0),
        Question("c -1 - 3 * 2**-25", (-1.5 * x,), (x,), -1.0),
        Question("c 1 - 2**-25 - 2**-26", (-x / 2, -x / 4), (x, x), 1.0),
        Question("1 + 3 * 2**-25 at k 1", (1.0, 1.5 * x), (1.0, x)),
        Question("1 + 3 * 2**-25 at k 2", (1.0, 0, 1.5 * x), (1.0, 0, x)),
    ]  # fmt: skip
    answers(E5M2, beside)


@pytest.mark.parametrize("product", [F16, F16_F16, BF16, TF32], ids=str)
def test_wgmma_equals_mma(product: Product) -> None:
    """The same matrices by both, on the GPU: random ones and at every edge."""
    rng, one = np.random.default_rng(8), grouped(product)
    kinds = {**{f"exponents within {n}": n for n in (3, 12, 40)}, **EDGES}
    differing = {}
    compared = 0
    for about, kind in kinds.items():
        a, b, c = random(rng, one, 256, kind) if isinstance(kind, int) else kind(rng, one, 256)
        together = one.on_gpu(a, b, c)
        quarters = [product.on_gpu(a[:, rows], b, c[:, rows]) for rows in (slice(n, n + 16) for n in range(0, 64, 16))]
        apart = np.concatenate(quarters, axis=1)
        compared += together.size
        differing[about] = int((together != apart).sum())
    print(f"\n{one.name} and four {product.name}: {compared} sums compared, that differ: {sum(differing.values())}")
    assert not any(differing.values()), differing
