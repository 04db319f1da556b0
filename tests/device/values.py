"""Operands of products as bits: random ones of many magnitudes, and ones at every edge of their formats."""

from collections.abc import Callable

import numpy as np

from tests.device.products import Product
from tests.simulate.pictures import WIDTHS

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]
Made = Callable[[np.random.Generator, Product, int], Matrices]
Range = tuple[int, int]
# bits of the fraction, bias, greatest exponent field of a number
FIELDS = {"f16": (10, 15, 30), "bf16": (7, 127, 254), "tf32": (23, 127, 254), "f32": (23, 127, 254),
          "f64": (52, 1023, 2046), "e4m3": (3, 7, 15), "e5m2": (2, 15, 30)}  # fmt: skip


def shapes_of(product: Product, count: int) -> tuple[tuple[int, int, int], ...]:
    """The shapes of A, B and C."""
    of = product
    return (count, of.rows, of.kept), (count, of.columns, of.depth), (count, of.rows, of.columns)


def any_bits(rng: np.random.Generator, element: str, shape: tuple[int, ...]) -> np.ndarray:
    """All codes alike."""
    dtype = np.dtype(f"u{max(8, WIDTHS[element]) // 8}")
    bits = np.frombuffer(rng.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)
    made: np.ndarray = bits & dtype.type((1 << WIDTHS[element]) - 1)
    return made


def between(rng: np.random.Generator, element: str, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
    """Numbers of either sign whose exponent fields are from low to high; 0 is a subnormal."""
    fraction, _, greatest = FIELDS[element]
    bits = any_bits(rng, element, shape)
    kept = (1 << fraction) - 1 | 1 << (WIDTHS[element] - 1)
    fields = np.clip(rng.integers(low, high + 1, shape), 0, greatest).astype(bits.dtype)
    made: np.ndarray = bits & bits.dtype.type(kept) | fields << bits.dtype.type(fraction)
    if element == "e4m3":
        made[(made & 0x7F) == 0x7F] ^= 1
    return made


def random(rng: np.random.Generator, product: Product, count: int, spread: int) -> Matrices:
    """Numbers with exponents within `spread` of 1, a tenth zeros; integers of any bits."""
    made = []
    for element, shape in zip((product.a, product.b, product.d), shapes_of(product, count), strict=True):
        if element not in FIELDS:
            made.append(any_bits(rng, element, shape))
            continue
        bias = FIELDS[element][1]
        bits = between(rng, element, shape, bias - spread, bias + spread)
        bits[rng.random(shape, np.float32) < 0.1] = 0
        made.append(bits)
    return made[0], made[1], made[2]


def specials(element: str) -> list[int]:
    """Zeros, subnormals, least and greatest numbers, infinities and NaNs, or the extremes of an integer."""
    width = WIDTHS[element]
    if element not in FIELDS:
        return [0, 1, (1 << width) - 1, (1 << width - 1) - 1, 1 << width - 1]
    fraction, bias, greatest = FIELDS[element]
    step = 1 << 13 if element == "tf32" else 1
    largest = 0x7E if element == "e4m3" else (greatest << fraction | (1 << fraction) - 1)
    beyond = [0x7F] if element == "e4m3" else [greatest + 1 << fraction, greatest + 1 << fraction | 1 << fraction - 1]
    positive = [0, step, (1 << fraction) - step, 1 << fraction, bias << fraction, largest, *beyond]
    return [code | sign for code in positive for sign in (0, 1 << width - 1)]


def sprinkled(share: float) -> Made:
    """Random numbers, of which a share is special."""

    def made(rng: np.random.Generator, product: Product, count: int) -> Matrices:
        matrices = random(rng, product, count, 4)
        for bits, element in zip(matrices, (product.a, product.b, product.d), strict=True):
            chosen = rng.random(bits.shape) < share
            bits[chosen] = rng.choice(np.array(specials(element), bits.dtype), int(chosen.sum()))
        return matrices

    return made


def at_exponents(
    place: Callable[[str, str], tuple[Range, Range]],
) -> Made:
    """Numbers whose exponent fields lie where `place` says, of an operand and of the sum; integers at their ends."""

    def made(rng: np.random.Generator, product: Product, count: int) -> Matrices:
        elements = product.a, product.b, product.d
        parts = []
        for at, (element, shape) in enumerate(zip(elements, shapes_of(product, count), strict=True)):
            if element in FIELDS:
                parts.append(between(rng, element, shape, *place(element, product.d)[at == 2]))
            else:
                parts.append(rng.choice(np.array(specials(element), f"u{max(8, WIDTHS[element]) // 8}"), shape))
        return parts[0], parts[1], parts[2]

    return made


def subnormal(element: str, total: str) -> tuple[Range, Range]:
    """All subnormals or least numbers."""
    return (0, 1), (0, 1)


def underflowing(element: str, total: str) -> tuple[Range, Range]:
    """Products about the least subnormal of the sums, and sums there."""
    (fraction, total_bias, _), bias = FIELDS[total], FIELDS[element][1]
    middle = bias - (total_bias + fraction) // 2
    return (middle - 3, middle + 8), (0, 3)


def overflowing(element: str, total: str) -> tuple[Range, Range]:
    """Products a little below the greatest sum, and sums there."""
    (_, total_bias, greatest), bias = FIELDS[total], FIELDS[element][1]
    middle = bias + total_bias // 2
    return (middle - 3, middle), (greatest - 3, greatest)


def greatest_of_all(element: str, total: str) -> tuple[Range, Range]:
    """The greatest exponents of each format."""
    top, sums = FIELDS[element][2], FIELDS[total][2]
    return (top - 1, top), (sums - 1, sums)


def cancelling(rng: np.random.Generator, product: Product, count: int) -> Matrices:
    """Each second product is the opposite of the one before, or differs from that in its last bits."""
    a, b, c = random(rng, product, count, 6)
    for bits, element in ((a, product.a), (b, product.b)):
        last = bits.dtype.type(1 << 13 if element == "tf32" else 1)
        moved = rng.random(bits[..., 1::2].shape) < 0.15
        bits[..., 1::2] = bits[..., ::2] ^ np.where(moved, last, bits.dtype.type(0))
    sign = a.dtype.type(1 << WIDTHS[product.a] - 1)
    a[..., 1::2] = (
        a[..., 1::2] ^ sign if product.a in FIELDS else (0 - a[..., 1::2]) & a.dtype.type((1 << WIDTHS[product.a]) - 1)
    )
    tiny = rng.random(c.shape) < 0.5
    c[tiny] &= c.dtype.type(1 << WIDTHS[product.d] - 1) if product.d in FIELDS else c.dtype.type(0xFF)
    return a, b, c


def zeros(rng: np.random.Generator, product: Product, count: int) -> Matrices:
    """Nearly only zeros of either sign."""
    a, b, c = random(rng, product, count, 4)
    for bits, share in ((a, 0.97), (b, 0.5), (c, 0.9)):
        bits[rng.random(bits.shape) < share] &= bits.dtype.type(1 << 8 * bits.itemsize - 1)
    return a, b, c


def of_any_bits(rng: np.random.Generator, product: Product, count: int) -> Matrices:
    """All codes alike, in every matrix."""
    a, b, c = shapes_of(product, count)
    return any_bits(rng, product.a, a), any_bits(rng, product.b, b), any_bits(rng, product.d, c)


EDGES: dict[str, Made] = {
    "one special in 300": sprinkled(1 / 300),
    "one special in 30": sprinkled(1 / 30),
    "one special in 3": sprinkled(1 / 3),
    "zeros": zeros,
    "subnormals": at_exponents(subnormal),
    "underflow": at_exponents(underflowing),
    "overflow": at_exponents(overflowing),
    "greatest": at_exponents(greatest_of_all),
    "cancellation": cancelling,
    "any bits": of_any_bits,
}
