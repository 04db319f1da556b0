"""Ten million random sums and a million at the edges of each matrix instruction: the simulator and the GPU agree."""

from collections.abc import Iterator
from concurrent.futures import Executor

import numpy as np
import pytest

from tests.device.products import Product
from tests.device.values import EDGES, Matrices, random

pytestmark = pytest.mark.slow
RANDOM, AT_EACH_EDGE, AT_ONCE = 10_000_000, 100_000, 250_000
SPREADS = {"f16": (2, 4, 6)}  # else many sums are infinite
WARP = [
    Product(16, 8, 16, "f16", "f16", "f32"), Product(16, 8, 16, "f16", "f16", "f16"),
    Product(16, 8, 16, "bf16", "bf16", "f32"), Product(16, 8, 8, "tf32", "tf32", "f32"),
    Product(16, 8, 32, "s8", "s8", "s32"), Product(16, 8, 32, "u8", "u8", "s32"),
    Product(16, 8, 32, "s8", "u8", "s32", "satfinite."),
    Product(16, 8, 32, "e4m3", "e4m3", "f32"), Product(16, 8, 32, "e5m2", "e5m2", "f32"),
    Product(16, 8, 32, "e4m3", "e5m2", "f16"),
    Product(8, 8, 4, "f64", "f64", "f64"), Product(16, 8, 16, "f64", "f64", "f64"),
]  # fmt: skip
WARPGROUP = [
    Product(64, 128, depth, a, b, d, "satfinite." if a != b and d == "s32" else "", True)
    for depth, a, b, d in (
        (16, "f16", "f16", "f32"), (16, "f16", "f16", "f16"), (16, "bf16", "bf16", "f32"), (8, "tf32", "tf32", "f32"),
        (32, "e4m3", "e4m3", "f32"), (32, "e5m2", "e5m2", "f32"), (32, "e4m3", "e5m2", "f16"), (32, "s8", "s8", "s32"),
        (32, "u8", "s8", "s32"),
    )
]  # fmt: skip


def made(product: Product, kind: str | int, seed: int, count: int) -> Matrices:
    rng = np.random.default_rng(seed)
    return random(rng, product, count, kind) if isinstance(kind, int) else EDGES[kind](rng, product, count)


def simulated(work: tuple[Product, str | int, int, int]) -> np.ndarray:
    return work[0].simulated(*made(*work))


def works(product: Product) -> Iterator[tuple[Product, str | int, int, int]]:
    """What to compare: kind of the numbers, seed and how many products at once."""
    each, spreads = product.rows * product.columns, SPREADS.get(product.d, (3, 12, 40))
    at_once = AT_ONCE // each
    for seed in range(-(-RANDOM // (at_once * each))):
        yield product, spreads[seed % len(spreads)], seed, at_once
    for seed, kind in enumerate(EDGES):
        yield product, kind, seed, -(-AT_EACH_EDGE // each)


@pytest.mark.parametrize("product", [*WARP, *WARPGROUP], ids=str)
def test_equal_bits(product: Product, pool: Executor) -> None:
    counts, wrong = {"random": 0, "edge": 0}, []
    todo = list(works(product))
    for work, here in zip(todo, pool.map(simulated, todo), strict=True):
        there = product.on_gpu(*made(*work))
        counts["random" if isinstance(work[1], int) else "edge"] += there.size
        if not np.array_equal(here, there):
            places = np.argwhere(here != there)
            shown = [(place.tolist(), hex(here[*place]), hex(there[*place])) for place in places[:3]]
            wrong.append(f"{work[1:3]}: {len(places)} of {here.size}; place, simulated, on the GPU: {shown}")
    print(f"\n{product}: {counts['random']} random and {counts['edge']} edge-valued sums, {len(wrong)} launches differ")
    assert not wrong, "\n".join(wrong)
