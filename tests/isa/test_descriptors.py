"""Descriptors hold the manual's bits, come back from them, and refuse what does not fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.descriptors import InvalidDescriptor, Product, ScaledProduct, SharedMatrix, Swizzle, TensorCoreMatrix

UNITS = st.integers(0, (1 << 14) - 1).map(lambda unit: unit * 16)


def test_the_examples_of_the_manual_and_of_cutlass():
    tf32 = SharedMatrix(0, 64 * 4, 32 * 4)
    assert (tf32.bits >> 16 & 0x3FFF, tf32.bits >> 32 & 0x3FFF) == (16, 8)
    tile = SharedMatrix(0x2000, 16, 1024, Swizzle.BYTES_128)
    assert tile.bits == 0x4000_0040_0001_0200
    assert tile.advanced(32).bits - tile.bits == 2
    assert TensorCoreMatrix(0x2000, 16, 1024, Swizzle.BYTES_128).bits == 0x4000_4040_0001_0200


@pytest.mark.parametrize(
    ("swizzle", "of_wgmma", "of_tcgen05"),
    [
        (Swizzle.NONE, 0, 0),
        (Swizzle.BYTES_32, 3, 6),
        (Swizzle.BYTES_64, 2, 4),
        (Swizzle.BYTES_128, 1, 2),
    ],
)
def test_the_codes_of_swizzles_differ_between_generations(swizzle: Swizzle, of_wgmma: int, of_tcgen05: int):
    assert SharedMatrix(0, 16, 16, swizzle).bits >> 62 == of_wgmma
    assert TensorCoreMatrix(0, 16, 16, swizzle).bits >> 61 == of_tcgen05
    assert TensorCoreMatrix(0, 16, 16, Swizzle.BYTES_128_BY_32).bits >> 61 == 1


def test_products_hold_their_fields():
    made = Product("f16", 128, 256, "f32", "bf16", "bf16")
    assert made.bits == 1 << 4 | 1 << 7 | 1 << 10 | (256 >> 3) << 17 | (128 >> 4) << 24
    assert Product("i8", 64, 8, "s32", "s8", "u8", saturate=True, shift=32).bits >> 30 == 3
    scaled = ScaledProduct("mxf8f6f4", 128, 128, "e4m3", "e2m1", "ue8m0", a_scale_id=3, b_scale_id=1)
    assert scaled.bits == 1 << 4 | 5 << 10 | 16 << 17 | 1 << 23 | 1 << 27 | 3 << 29
    fours = ScaledProduct("mxf4nvf4", 256, 8, "e2m1", "e2m1", "ue4m3", long_k=True)
    assert fours.bits == 1 << 7 | 1 << 10 | 1 << 17 | 2 << 27 | 1 << 31


OF_MATRICES = [each for each in Swizzle if each.value <= Swizzle.BYTES_128_BY_32.value]


@given(UNITS, UNITS, UNITS, st.sampled_from(OF_MATRICES), st.integers(0, 7))
def test_matrices_come_back(start: int, leading: int, stride: int, swizzle: Swizzle, base: int):
    made = TensorCoreMatrix(start, leading, stride, swizzle, base)
    assert TensorCoreMatrix.of(made.bits) == made
    if swizzle is not Swizzle.BYTES_128_BY_32:
        shared = SharedMatrix(start, leading, stride, swizzle, base)
        assert SharedMatrix.of(shared.bits) == shared
        assert shared.bits & (1 << 46) - 1 == made.bits & (1 << 46) - 1


@given(
    st.sampled_from(
        [("f16", "f16", "bf16"), ("f16", "f32", "f16"), ("f8f6f4", "f32", "e3m2"), ("tf32", "f32", "tf32")]
    ),
    st.sampled_from([32, 64, 128, 256]),
    st.integers(1, 32),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.integers(0, 3),
)
def test_products_come_back(types: tuple[str, str, str], rows: int, eighths: int, flags: list[bool], selector: int):
    kind, result, element = types
    names = ("negate_a", "negate_b", "transpose_a", "transpose_b")
    options = dict(zip(names, flags, strict=True))
    made = Product(kind, rows, 8 * eighths, result, element, element, **options, sparse=selector > 0, selector=selector)
    assert Product.of(kind, made.bits) == made


@pytest.mark.parametrize("swizzle", Swizzle)
def test_swizzles_permute_whole_units_within_their_repeat(swizzle: Swizzle):
    for first in (0, 4096):
        around = range(first, first + max(swizzle.repeat, 1024))
        assert sorted(swizzle.place(address) for address in around) == list(around)
    assert all(swizzle.place(address) // 128 == address // 128 for address in range(4096))
    together = 8 if swizzle is Swizzle.BYTES_128_BY_32_FLIPPED else swizzle.unit
    moved = {(address, swizzle.place(address)) for address in range(0, 2048, together)}
    assert all(swizzle.place(a + 5) == b + 5 for a, b in moved)


def test_the_swizzle_of_128_bytes_makes_a_column_free_of_conflicts():
    banks = {Swizzle.BYTES_128.place(row * 128) // 16 % 8 for row in range(8)}
    assert banks == set(range(8))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SharedMatrix(8, 16, 16), "start must be a multiple of 16"),
        (lambda: SharedMatrix(0, 1 << 18, 16), "leading dimension offset"),
        (lambda: SharedMatrix(0, 16, 16, Swizzle.BYTES_128_BY_32), "swizzle must be one of"),
        (lambda: SharedMatrix(0, 16, 16, base_offset=8), "base offset"),
        (lambda: SharedMatrix.of(1 << 46), "bits that must be zero"),
        (lambda: TensorCoreMatrix.of(0), "bits that must be zero"),
        (lambda: TensorCoreMatrix.of(3 << 61 | 1 << 46), "no meaning for 3"),
        (lambda: TensorCoreMatrix(0, 16, 16, absolute=True), "128 bytes"),
        (lambda: Product("f16", 96, 8, "f32", "f16", "f16"), "M must be one of 32, 64, 128, 256, not 96"),
        (lambda: Product("f16", 64, 12, "f32", "f16", "f16"), "N must be a multiple of 8"),
        (lambda: Product("f16", 64, 8, "f32", "e4m3", "f16"), "type of A must be one of f16, bf16, not e4m3"),
        (lambda: Product("i8", 64, 8, "s32", "s8", "s8", negate_a=True), "negated"),
        (lambda: Product("f16", 64, 8, "f32", "f16", "f16", saturate=True), "only integers saturate"),
        (lambda: Product("f16", 64, 8, "f32", "f16", "f16", selector=1), "sparse A"),
        (lambda: Product("mxf4", 64, 8, "f32", "e2m1", "e2m1"), "kind must be one of"),
        (lambda: Product.of("f16", 1 << 23), "M must be one of"),
        (lambda: ScaledProduct("mxf4", 128, 8, "e2m1", "e2m1", "ue8m0", a_scale_id=1), "no scale id 1 of A"),
        (lambda: ScaledProduct("mxf4", 128, 8, "e2m1", "e2m1", "ue4m3"), "type of the scales"),
        (lambda: ScaledProduct("mxf4", 128, 8, "e2m1", "e2m1", "ue8m0", transpose_a=True), "transposes nothing"),
        (lambda: ScaledProduct("mxf8f6f4", 128, 8, "e4m3", "e4m3", "ue8m0", long_k=True), "K of 96"),
    ],
)
def test_what_does_not_fit_is_told(make, words: str):
    with pytest.raises(InvalidDescriptor, match=words):
        make()


def test_descriptors_print_what_they_say():
    assert "swizzle bytes_128" in str(SharedMatrix(64, 16, 1024, Swizzle.BYTES_128))
    assert str(Product("tf32", 64, 8, "f32", "tf32", "tf32")).endswith("tf32 64x8 f32 = tf32 * tf32")
    assert "ue4m3" in str(ScaledProduct("mxf4nvf4", 128, 8, "e2m1", "e2m1", "ue4m3"))
