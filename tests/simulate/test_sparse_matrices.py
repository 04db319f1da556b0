"""Products with a sparse A: every type, shape, selector and form of metadata against whole numbers."""

import numpy as np
import pytest

from ptxgen.simulate import simulate
from tests.device.products import Product, module_of
from tests.device.sparse_products import ANY, RISING, WARP, kinds, meeting, operands
from tests.simulate.integer_products import multiplied
from tests.simulate.pictures import WIDTHS, kept_columns, operand_registers, sum_registers

# products that a block adds, and bits of fraction below the largest exponent: those of the dense products
BLOCKS = {
    ("sm_80", "f16"): (8, 24), ("sm_80", "bf16"): (8, 24), ("sm_80", "tf32"): (4, 24), ("sm_89", "e4m3"): (16, 13),
    ("sm_90", "f16"): (16, 25), ("sm_90", "bf16"): (16, 25), ("sm_90", "tf32"): (8, 25),
}  # fmt: skip


def signed(bits: np.ndarray, element: str) -> np.ndarray:
    """Integers of their bits."""
    values: np.ndarray = bits.astype(np.int64)
    return values - ((values >> WIDTHS[element] - 1) << WIDTHS[element]) if element[0] == "s" else values


def in_integers(product: Product, a: np.ndarray, met: np.ndarray, c: np.ndarray) -> np.ndarray:
    total = np.einsum("nrk,nrck->nrc", signed(a, product.a), signed(met, product.b)) + signed(c, "s32")
    limits = np.iinfo(np.int32)
    kept: np.ndarray = np.clip(total, limits.min, limits.max) if product.words else total
    return kept.astype(np.uint32)


def added(made: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Sums of f32 to nearest."""
    with np.errstate(all="ignore"):
        total = made.view(np.float32) + c.view(np.float32)
    return np.where(np.isnan(total), np.uint32(0x7FFFFFFF), total.view(np.uint32))


def expected(product: Product, a: np.ndarray, met: np.ndarray, c: np.ndarray) -> np.ndarray:
    """D by another way than the simulator's."""
    if product.d == "s32":
        return in_integers(product, a, met, c)
    types = product.a, product.b, product.d
    if (product.on, product.a) in BLOCKS:
        into = "f32/13" if product.on == "sm_89" else ""
        return multiplied(a, met, c, types, *BLOCKS[product.on, product.a], into)
    made = np.zeros_like(c)
    for part in (np.arange(product.kept) % 4 < 2, np.arange(product.kept) % 4 >= 2):
        made = multiplied(a[..., part], met[..., part], made, types, 16, 25)
    return added(made, c)


def judge(product: Product, kind: str | int, seed: int, rows: int = 16) -> None:
    """Some rows of a product, equal to what they have to be."""
    a, b, c, metadata, told = operands(seed, product, kind, 1)
    kept = kept_columns(told, product.a)
    some = np.random.default_rng(seed).permutation(product.rows)[:rows]
    found = product.simulated(a, b, c, metadata)[:, some]
    wanted = expected(product, a[:, some], meeting(b, kept[:, some]), c[:, some])
    assert np.array_equal(found, wanted), kind


@pytest.mark.parametrize("at, product", list(enumerate(WARP)), ids=str)
def test_random_numbers_and_some_edges(at, product):
    spread, *_ = every = kinds(product)
    for seed, kind in enumerate((spread, "one special in 30", every[at % len(every)])):
        judge(product, kind, seed, 5)


@pytest.mark.slow
@pytest.mark.parametrize("product", WARP, ids=str)
def test_random_numbers_and_every_edge(product):
    for seed, kind in enumerate(kinds(product)):
        judge(product, kind, seed)


@pytest.mark.parametrize("product", [
    Product(16, 8, 32, "f16", "f16", "f32", sparse=RISING, on="sm_80"),
    Product(16, 8, 16, "f16", "f16", "f16", sparse=ANY, selector=3, on="sm_80"),
    Product(16, 8, 32, "bf16", "bf16", "f32", sparse=ANY, selector=1, on="sm_80"),
    Product(16, 8, 16, "tf32", "tf32", "f32", sparse=RISING, selector=1, on="sm_80"),
    Product(16, 8, 64, "e4m3", "e5m2", "f32", sparse=RISING, on="sm_89"),
], ids=str)  # fmt: skip
def test_blocks_of_older_cores(product):
    for seed, kind in enumerate(kinds(product)):
        judge(product, kind, seed, 3)


def test_what_a_does_not_keep_is_not_multiplied():
    """Infinities of B beside zeros that A leaves out make no NaN."""
    product = Product(16, 8, 16, "f16", "f16", "f32", sparse=RISING)
    a = np.full((1, 16, 8), 0x3C00, np.uint16)
    b = np.full((1, 8, 16), 0x3C00, np.uint16)
    b[..., 2:4] = 0x7C00
    c = np.zeros((1, 16, 8), np.uint32)
    metadata = np.full((1, 1, 32), 0x44444444, np.uint32)
    assert (product.simulated(a, b, c, metadata) == np.float32(8).view(np.uint32)).all()


@pytest.mark.parametrize("sparse, bits, faulty", [
    (RISING, 0b0001, True), (ANY, 0b0001, False), (ANY, 0b0101, True), (RISING, 0b1010, True), (RISING, 0b1110, False),
])  # fmt: skip
def test_metadata_without_a_meaning_is_found(sparse, bits, faulty):
    product = Product(16, 8, 16, "f16", "f16", "f32", sparse=sparse, selector=2)
    zeros = np.zeros((1, 16, 8), np.uint16), np.zeros((1, 8, 16), np.uint16), np.zeros((1, 16, 8), np.uint32)
    metadata = np.full((1, 1, 32), 0x44444444, np.uint32)
    metadata[0, 0, [4, 5, 7]] = 0
    metadata[0, 0, 6] = 0x44444444 & ~0xF000 | bits << 12
    made = np.zeros((1, 4, 32), np.uint32)
    registers = operand_registers(zeros[0], "f16", is_a=True), operand_registers(zeros[1], "f16", is_a=False)
    args = [*registers, sum_registers(zeros[2], "f32"), metadata, made]
    found = simulate(module_of(product), grid=1, block=32, args=args).findings
    assert [each.code for each in found] == (["mma.metadata"] if faulty else [])


def test_tf32_knows_two_places_only():
    product = Product(16, 8, 8, "tf32", "tf32", "f32", sparse=ANY)
    args = [np.zeros((1, 2, 32), np.uint32), np.zeros((1, 2, 32), np.uint32), np.zeros((1, 4, 32), np.uint32),
            np.full((1, 1, 32), 0x44444444, np.uint32), np.zeros((1, 4, 32), np.uint32)]  # fmt: skip
    assert not simulate(module_of(product), grid=1, block=32, args=args).findings
    args[3] = np.full((1, 1, 32), 0x44444484, np.uint32)
    assert [each.code for each in simulate(module_of(product), grid=1, block=32, args=args).findings]
