"""Products with a sparse A: metadata of every kind beside the operands."""

import numpy as np

from tests.device.products import Product
from tests.device.values import EDGES, Matrices, random
from tests.simulate.pictures import ORDERED, UNORDERED, chunk_of, metadata_registers

Sparse = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
ANY, RISING = "sp", "sp::ordered_metadata"
_SHAPES = [
    (16, "f16", "f16", "f32"), (32, "f16", "f16", "f32"), (16, "f16", "f16", "f16"), (32, "f16", "f16", "f16"),
    (16, "bf16", "bf16", "f32"), (32, "bf16", "bf16", "f32"), (8, "tf32", "tf32", "f32"), (16, "tf32", "tf32", "f32"),
    (32, "s8", "u8", "s32"), (64, "s8", "s8", "s32"), (64, "u8", "s8", "s32"), (64, "s4", "s4", "s32"),
    (128, "u4", "s4", "s32"), (128, "s4", "u4", "s32"), (64, "e4m3", "e4m3", "f32"), (64, "e5m2", "e4m3", "f32"),
    (64, "e4m3", "e5m2", "f32"),
]  # fmt: skip


def selectors(depth: int, element: str) -> range:
    """The selectors of a shape: lanes with metadata are 1, 2 or all 4 of each 4."""
    return range(4 // (depth // chunk_of(element) // 4))


WARP = [
    Product(16, 8, depth, a, b, d, "satfinite." if (a, b) == ("u8", "s8") else "", sparse=word, selector=selector)
    for depth, a, b, d in _SHAPES
    for word in (ANY, RISING)
    for selector in selectors(depth, a)
]
WARPGROUP = [
    Product(64, 32, depth, a, b, d, "satfinite." if (a, b) == ("u8", "s8") else "", True, ANY, selector)
    for depth, a, b, d in (
        (32, "f16", "f16", "f32"), (32, "f16", "f16", "f16"), (32, "bf16", "bf16", "f32"), (16, "tf32", "tf32", "f32"),
        (64, "e4m3", "e4m3", "f32"), (64, "e5m2", "e4m3", "f16"), (64, "s8", "s8", "s32"), (64, "u8", "s8", "s32"),
    )
    for selector in selectors(depth, a)
]  # fmt: skip


def chunks(rng: np.random.Generator, product: Product, count: int) -> np.ndarray:
    """Meaningful metadata, four bits a chunk, [n, rows, chunks]."""
    chunk = chunk_of(product.a)
    allowed = (ORDERED if product.sparse == RISING else UNORDERED)[chunk]
    return rng.choice(np.array(allowed, np.uint8), (count, product.rows, product.depth // chunk))


def of_kind(rng: np.random.Generator, product: Product, kind: str | int, count: int) -> Matrices:
    """Numbers within 2**kind of 1, or at an edge."""
    return random(rng, product, count, kind) if isinstance(kind, int) else EDGES[kind](rng, product, count)


def kinds(product: Product) -> list[str | int]:
    """What to multiply: three spreads and every edge."""
    spreads: list[str | int] = [2, 4, 6] if product.d == "f16" else [3, 12, 40]
    return [*spreads, *EDGES]


def operands(seed: int, product: Product, kind: str | int, count: int) -> Sparse:
    """A, B, C, metadata registers, and the metadata of each chunk."""
    rng = np.random.default_rng(seed)
    a, b, c = of_kind(rng, product, kind, count)
    told = chunks(rng, product, count)
    return a, b, c, metadata_registers(rng, told, product.a, product.selector), told


Work = tuple[int, Product, str | int, int]


def simulated(work: Work) -> np.ndarray:
    """D as the simulator has it."""
    _, product, *_ = work
    return product.simulated(*operands(*work)[:4])


def meeting(b: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The elements of B [n, columns, K] that the kept ones [n, rows, kept] meet: [n, rows, columns, kept]."""
    return np.stack([each[:, places].swapaxes(0, 1) for each, places in zip(b, kept, strict=True)])
