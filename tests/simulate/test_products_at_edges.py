"""Dense products of random numbers and at every edge of their formats, against whole numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.device.products import Product
from tests.device.test_ten_million_sums import WARP, WARPGROUP
from tests.device.values import EDGES, random
from tests.simulate.integer_products import multiplied
from tests.simulate.test_sparse_matrices import added, in_integers

BLOCKS = {"f16": (16, 25), "bf16": (16, 25), "tf32": (8, 25), "e4m3": (32, 13), "e5m2": (32, 13)}
BYTES = ("e4m3", "e5m2")
NAN = 0x7FF8_0000_0000_0000


def fused(a: float, b: float, c: float) -> float:
    """a * b + c rounded once."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return c if math.isfinite(a) and math.isfinite(b) else a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    sign = 1.0 if exact > 0 else -1.0
    if not exact:
        return a * b + c if 0.0 in (a, b) else 0.0
    try:
        return math.copysign(float(abs(exact)), sign)
    except OverflowError:
        return sign * math.inf


def chain(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Fused multiply-adds in ascending k, as bits."""
    values = [each.view(np.float64) for each in (a, b, c)]
    made = np.zeros(c.shape)
    for n, row, column in np.ndindex(*c.shape):
        so_far = float(values[2][n, row, column])
        for x, y in zip(values[0][n, row].tolist(), values[1][n, column].tolist(), strict=True):
            so_far = fused(x, y, so_far)
        made[n, row, column] = so_far
    return made.view(np.uint64)


def expected(product: Product, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    met = np.broadcast_to(b[:, None], (len(b), a.shape[1], *b.shape[1:]))
    if product.d == "s32":
        return in_integers(product, a, met, c)
    types = product.a, product.b, product.d
    if product.warpgroup or product.a not in BYTES:
        into = "f32/13" if product.a in BYTES and product.d == "f32" else ""
        return multiplied(a, met, c, types, *BLOCKS[product.a], into)
    made, at = np.zeros_like(c), np.arange(product.depth) % 4
    for part in (at < 2, at >= 2):
        made = multiplied(a[..., part], met[..., part], made, types, 16, 25)
    return added(made, c) if product.d == "f32" else added_halves(made, c)


def added_halves(made: np.ndarray, c: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        total = made.view(np.float16) + c.view(np.float16)
    return np.where(np.isnan(total), np.uint16(0x7FFF), total.view(np.uint16))


@pytest.mark.parametrize("product", [*WARP, *WARPGROUP], ids=str)
def test_equal_bits(product):
    spreads: list[str | int] = [2, 4, 6] if product.d == "f16" else [3, 12, 40]
    for seed, kind in enumerate([*spreads, *EDGES]):
        rng = np.random.default_rng(seed)
        a, b, c = random(rng, product, 1, kind) if isinstance(kind, int) else EDGES[kind](rng, product, 1)
        rows, columns = rng.permutation(product.rows)[:4], rng.permutation(product.columns)[:8]
        found = product.simulated(a, b, c)[:, rows[:, None], columns]
        wanted = chain if product.d == "f64" else lambda *each: expected(product, *each)
        right = wanted(a[:, rows], b[:, columns], c[:, rows[:, None], columns])
        if product.d == "f64":
            right, found = (np.where(np.isnan(each.view(np.float64)), NAN, each) for each in (right, found))
        assert np.array_equal(found, right), kind
