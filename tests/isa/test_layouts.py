"""Maps of ldmatrix, wgmma and tensor memory: each place once, with inverses, equal to formulas written elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from isa.forms import resolve
from isa.fragments import Fragment, fragment
from isa.layouts import matrix_layout, tensor_memory_layout, warpgroup_layout

MATRICES = [
    *(("m8n8", number, trans) for number in (1, 2, 4) for trans in (False, True)),
    *(("m8n16", number, False) for number in (1, 2, 4)),
    *(("m16n16", number, True) for number in (1, 2)),
    *(("m16n8", number, True) for number in (1, 2, 4)),
]
TENSOR_MEMORY = [("32x32b", 32), ("32x32b", 1), ("16x64b", 8), ("16x128b", 16), ("16x256b", 8), ("16x32bx2", 16)]
WARPGROUP = [
    *((f"m64n{columns}k16", "d", kind) for columns in (8, 24, 136, 256) for kind in ("f32", "f16")),
    ("m64n8k16", "a", "f16"),
    ("m64n8k8", "a", "tf32"),
    ("m64n8k32", "a", "e4m3"),
    ("m64n8k256", "a", "b1"),
]


def covers(of: Fragment, lanes: int) -> bool:
    places = [of.place(lane, value) for lane in range(lanes) for value in range(of.values)]
    wanted = {(t, r, c) for t in range(of.tiles) for r in range(of.rows) for c in range(of.columns)}
    back = all(of.place(*of.holder(row, column, tile)) == (tile, row, column) for tile, row, column in wanted)
    return len(places) == len(wanted) and set(places) == wanted and back


@pytest.mark.parametrize("shape, number, trans", MATRICES)
def test_matrices_are_covered_once(shape: str, number: int, trans: bool):
    assert covers(matrix_layout(shape, number, transposed=trans), 32)


@pytest.mark.parametrize("shape, number", TENSOR_MEMORY)
def test_tensor_memory_is_covered_once(shape: str, number: int):
    of = tensor_memory_layout(shape, number)
    assert covers(of, 32)
    (form,) = resolve(f"tcgen05.ld.sync.aligned.{shape}.x{number}.b32")
    assert form.signatures[0].slots[0].count == of.registers


@pytest.mark.parametrize("shape, operand, element", WARPGROUP)
def test_warpgroups_cover_their_matrices_once(shape: str, operand: str, element: str):
    of = warpgroup_layout(shape, operand, element)
    assert all(
        of.holder(*of.position(lane, value)) == (lane, value) for lane in range(128) for value in range(of.values)
    )
    assert 128 * of.values == of.rows * of.columns


@pytest.mark.parametrize("columns, kind", [(8, "f32"), (24, "f16"), (248, "f32")])
def test_accumulators_follow_the_formula_and_the_rows(columns: int, kind: str):
    of = warpgroup_layout(f"m64n{columns}k16", "d", kind)
    for thread in range(128):
        for v in range(of.values):
            warp, lane = divmod(thread, 32)
            row, column = 16 * warp + lane // 4 + 8 * (v // 2 % 2), 8 * (v // 4) + 2 * (lane % 4) + v % 2
            assert of.position(thread, v) == (row, column)
    slots = resolve(f"wgmma.mma_async.sync.aligned.m64n{columns}k16.{kind}.f16.f16")[0].signatures[0].slots
    assert slots[0].count == of.registers


def test_a_of_a_warpgroup_is_that_of_mma_a_warp_each():
    for shape, of_mma, kind in (("m64n8k16", "m16n8k16", "f16"), ("m64n8k32", "m16n8k32", "e4m3")):
        wide, narrow = warpgroup_layout(shape, "a", kind), fragment(of_mma, "a", kind)
        for thread in range(128):
            for value in range(narrow.values):
                row, column = narrow.position(thread % 32, value)
                assert wide.position(thread, value) == (row + 16 * (thread // 32), column)


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
    "shape, number, width, lanes, registers",
    [
        ("16x64b", 1, 64, ((2, 2, 8), (512, 32, 64)), ((1,), (0,))),
        ("16x64b", 128, 8192, ((2, 2, 8), (65536, 32, 8192)), ((128,), (64,))),
        ("16x128b", 1, 128, ((4, 8), (32, 128)), ((2,), (1024,))),
        ("16x128b", 64, 8192, ((4, 8), (32, 8192)), ((2, 64), (65536, 128))),
        ("16x256b", 32, 8192, ((4, 8), (64, 8192)), ((2, 2, 32), (32, 65536, 256))),
    ],
)
def test_tensor_memory_is_that_of_cute(shape, number, width, lanes, registers):
    of, lane_at, register_at = tensor_memory_layout(shape, number), cute(*lanes), cute(*registers)
    for lane in range(32):
        for register in range(of.values):
            row, bit = divmod(lane_at(lane) + register_at(register), width)
            assert of.position(lane, register) == (row, bit // 32)


def test_ldmatrix_gives_the_fragments_of_mma():
    stored = np.arange(256).reshape(16, 16)
    of, wanted = matrix_layout("m8n8", 4), fragment("m16n8k16", "a", "f16")
    for lane in range(32):
        for value in range(8):
            matrix, row, column = of.place(lane, value)
            assert stored[row + 8 * (matrix % 2), column + 8 * (matrix // 2)] == stored[wanted.position(lane, value)]


def test_transposed_bytes_give_b_of_mma():
    of, wanted = matrix_layout("m16n16", 1, transposed=True), fragment("m16n8k16", "b", "e4m3")
    for lane in range(32):
        for value in range(4):
            assert of.position(lane, value) == wanted.position(lane, value)
            row, column = wanted.position(lane, value)
            assert of.position(lane, value + 4) == (row, column + 8)


def test_stored_bytes_are_the_accumulators_transposed():
    of, wanted = matrix_layout("m16n8", 1, transposed=True), fragment("m16n8k32", "d", "f32")
    assert all(of.position(lane, v) == wanted.position(lane, v)[::-1] for lane in range(32) for v in range(4))


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: matrix_layout("m16n16", 4, transposed=True), "x4"),
        (lambda: matrix_layout("m16n8", 1), "not transposed"),
        (lambda: matrix_layout("m8n32", 1), "m8n32"),
        (lambda: tensor_memory_layout("16x256b", 64), "up to 32"),
        (lambda: tensor_memory_layout("8x8b", 1), "32x32b"),
        (lambda: warpgroup_layout("m64n12k16", "d", "f32"), "m64n12k16"),
        (lambda: warpgroup_layout("m64n8k8", "a", "f16"), "256 bits"),
    ],
)
def test_what_is_not_there_is_refused_by_name(make: Callable[[], Fragment], words: str):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("kind", ["e2m1", "e2m3"])
def test_small_floats_lie_in_bytes_and_packed_nibbles_do_not(kind: str):
    assert fragment("m16n8k32", "a", kind).registers == 4
    assert fragment("m16n8k64", "a", "e2m1").registers == 4
