"""Indices of sparse matrices and scales of blocks: each held once, with inverses, as CuTe lays them out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from isa.forms import resolve
from isa.metadata import Scales, metadata
from isa.operands import Range

SPARSE = [
    ("m16n8k16", "f16"), ("m16n8k32", "bf16"), ("m16n8k8", "tf32"), ("m16n8k16", "tf32"), ("m16n8k32", "s8"),
    ("m16n8k64", "u8"), ("m16n8k64", "e4m3"), ("m16n8k64", "s4"), ("m16n8k128", "u4"), ("m64n8k32", "f16"),
    ("m64n8k16", "tf32"), ("m64n8k64", "s8"), ("m16n8k64", "e2m3"),
]  # fmt: skip
NAMED = {
    "f16": "f32.f16.f16.f32", "bf16": "f32.bf16.bf16.f32", "tf32": "f32.tf32.tf32.f32", "s8": "s32.s8.s8.s32",
    "u8": "s32.u8.u8.s32", "e4m3": "f32.e4m3.e4m3.f32", "s4": "s32.s4.s4.s32", "u4": "s32.u4.u4.s32",
}  # fmt: skip


@pytest.mark.parametrize("shape, element", SPARSE)
def test_every_index_is_held_once(shape: str, element: str):
    of = metadata(shape, element)
    for selector in range(of.selectors):
        lanes = [lane for lane in range(32) if of.holds(lane, selector)]
        assert len(lanes) == 8 * of.lanes
        places = {of.place(lane, index, selector): (lane, index) for lane in lanes for index in range(of.held)}
        assert set(places) == {
            (row, chunk, which) for row in range(16) for chunk in range(of.chunks) for which in range(of.indices)
        }
        assert all(of.holder(*place, selector) == holder for place, holder in places.items())


@pytest.mark.parametrize("shape, element", [each for each in SPARSE if each[0].startswith("m16") and each[1] in NAMED])
def test_selectors_are_as_many_as_the_rows_take(shape: str, element: str):
    (form,) = resolve(f"mma.sp.sync.aligned.{shape}.row.col.{NAMED[element]}")
    domain = form.signatures[0].slots[-1].domain
    assert domain == Range(0, metadata(shape, element).selectors - 1)


PLACES = [("m16n8k16", "f16", 4), ("m16n8k64", "s8", 4), ("m16n8k8", "tf32", 2), ("m16n8k64", "u4", 8)]


@pytest.mark.parametrize("shape, element, width", PLACES)
def test_half_of_each_chunk_is_kept(shape: str, element: str, width: int):
    """The manual's meaningful values: half of a chunk each, all different, in rising order."""
    of = metadata(shape, element)
    ordered = [bits for bits in range(16) if of.meaningful(bits, True)]
    assert ordered == ([0b0100, 0b1110] if width == 2 else [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110])
    assert [bits for bits in range(16) if not of.meaningful(bits, False)] == (
        [bits for bits in range(16) if bits not in ordered] if width == 2 else [0b0000, 0b0101, 0b1010, 0b1111]
    )
    kept = [tuple(of.column(place, bits) for place in range(width // 2)) for bits in ordered]
    assert len(set(kept)) == len(ordered)
    assert all(list(each) == sorted(set(each)) and each[-1] < width for each in kept)
    assert of.column(width // 2, ordered[0]) == width


def test_columns_are_those_of_the_manual_s_examples():
    assert [metadata("m16n8k16", "f16").column(place, 0b1101) for place in (0, 1, 6, 7)] == [1, 3, 13, 15]
    assert [metadata("m16n8k64", "s4").column(place, 0b1101) for place in (0, 1, 2, 3)] == [2, 3, 6, 7]
    assert [metadata("m16n8k8", "tf32").column(2, bits) for bits in (0b0100, 0b1110)] == [4, 5]


def cute(shape: tuple[int, ...], stride: tuple[int, ...]) -> Callable[[int], int]:
    """A layout of CuTe: the coordinate's digits, the first fastest, times the strides."""

    def at(index: int) -> int:
        total = 0
        for extent, step in zip(shape, stride, strict=True):
            index, digit = divmod(index, extent)
            total += digit * step
        return total

    return at


@pytest.mark.parametrize(
    "shape, element, lanes, values",
    [
        ("m64n8k64", "s8", ((2, 2, 8), (8, 2048, 1)), ((32,), (64,))),
        ("m64n8k32", "f16", ((2, 2, 8), (1024, 0, 1)), ((16, 2), (64, 8))),
        ("m64n8k16", "tf32", ((2, 2, 8), (512, 0, 1)), ((8, 2), (64, 8))),
    ],
)
def test_indices_of_a_warp_are_those_of_cute(shape, element, lanes, values):
    """CuTe counts the elements that a register tells of, rows fastest in 64; an index stands for some of them."""
    of, lane_at, value_at = metadata(shape, element), cute(*lanes), cute(*values)
    elements = 2 * of.held
    for lane in range(32):
        for value in range(elements):
            column, row = divmod(lane_at(lane) + value_at(value), 64)
            selector = lane % 4 // of.lanes
            place = of.place(lane, value * of.held // elements, selector)
            assert place[:2] == (row, column // of.width)


@pytest.mark.parametrize("blocks", [1, 2, 4])
@pytest.mark.parametrize("operand", ["a", "b"])
def test_every_scale_is_held_once(operand: str, blocks: int):
    of = Scales(operand, blocks)
    for thread_id in range(of.threads):
        for byte_id in of.bytes:
            held = {of.holder(line, block, thread_id, byte_id) for line in range(of.extent) for block in range(blocks)}
            assert len(held) == of.extent * blocks
            for lane, byte in held:
                assert of.holder(*of.place(lane, byte, thread_id, byte_id), thread_id, byte_id) == (lane, byte)


def test_scales_are_those_of_cute():
    rows, columns = cute((2, 2, 8), (8, 0, 1)), cute((4, 8), (0, 1))
    of_a, of_b = Scales("a", 4), Scales("b", 4)
    for lane in range(32):
        assert of_a.place(lane, 0, lane % 4 // 2)[0] == rows(lane)
        assert of_b.place(lane, 0, lane % 4)[0] == columns(lane)


def test_what_is_not_there_is_refused_by_name():
    with pytest.raises(ValueError, match="no sparse A of f64"):
        metadata("m16n8k16", "f64")
    with pytest.raises(ValueError, match="m16n8k8"):
        metadata("m16n8k8", "s8")
    with pytest.raises(ValueError, match="lane 2 has no index"):
        metadata("m16n8k16", "f16").place(2, 0, 0)
    with pytest.raises(ValueError, match="with 3 a row"):
        Scales("a", 3)
    with pytest.raises(ValueError, match="not read"):
        Scales("b", 1).place(1, 0)
