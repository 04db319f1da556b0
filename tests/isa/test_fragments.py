"""Fragment maps: they cover each tile once, give back matrix products, and equal the formulas of the manual."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.forms import resolve
from isa.fragments import Fragment, fragment

VOLTA = [(a, b, c) for a in ("row", "col") for b in ("row", "col") for c in ("f16", "f32")]
REGULAR = [
    ("m16n8k8", "f16", "f32"),
    ("m16n8k16", "f16", "f16"),
    ("m16n8k16", "bf16", "f32"),
    ("m16n8k4", "tf32", "f32"),
    ("m16n8k8", "tf32", "f32"),
    ("m8n8k16", "s8", "s32"),
    ("m16n8k16", "u8", "s32"),
    ("m16n8k32", "s8", "s32"),
    ("m16n8k32", "e4m3", "f32"),
    ("m8n8k4", "f64", "f64"),
    ("m16n8k4", "f64", "f64"),
    ("m16n8k8", "f64", "f64"),
    ("m16n8k16", "f64", "f64"),
]
ALL = [
    *(("m8n8k4", op, "f16", layout) for op in "ab" for layout in ("row", "col")),
    *(("m8n8k4", "c", kind, "") for kind in ("f16", "f32")),
    *(
        (shape, op, kind, "")
        for shape, inputs, out in REGULAR
        for op, kind in (("a", inputs), ("b", inputs), ("d", out))
    ),
]


def filled(of: Fragment, matrices: np.ndarray) -> np.ndarray:
    """What each lane holds of `matrices[tile, row, column]`."""
    held = np.zeros((32, of.values), matrices.dtype)
    for lane in range(32):
        for value in range(of.values):
            held[lane, value] = matrices[of.place(lane, value)]
    return held


def spread(of: Fragment, held: np.ndarray) -> np.ndarray:
    """The matrices that the lanes hold."""
    matrices = np.zeros((of.tiles, of.rows, of.columns), held.dtype)
    for tile in range(of.tiles):
        for row in range(of.rows):
            for column in range(of.columns):
                matrices[tile, row, column] = held[of.holder(row, column, tile)]
    return matrices


@pytest.mark.parametrize("shape, operand, element, layout", ALL)
def test_each_element_has_one_place(shape: str, operand: str, element: str, layout: str):
    of = fragment(shape, operand, element, layout)
    places = [of.place(lane, value) for lane in range(32) for value in range(of.values)]
    wanted = {(t, r, c) for t in range(of.tiles) for r in range(of.rows) for c in range(of.columns)}
    assert len(places) == len(wanted)
    assert set(places) == wanted


@given(st.sampled_from(ALL), st.integers(0, 31), st.integers(0, 31), st.integers(0, 15), st.integers(0, 15))
def test_the_maps_are_linear_over_f2(of: tuple[str, str, str, str], lane: int, other: int, value: int, second: int):
    at = fragment(*of)
    value, second = value % at.values, second % at.values
    one, two, both = at.place(lane, value), at.place(other, second), at.place(lane ^ other, value ^ second)
    assert both == tuple(a ^ b for a, b in zip(one, two, strict=True))


@given(st.sampled_from(ALL), st.integers(0, 31), st.integers(0, 15))
def test_holder_is_the_inverse(of: tuple[str, str, str, str], lane: int, value: int):
    at = fragment(*of)
    tile, row, column = at.place(lane, value % at.values)
    assert at.holder(row, column, tile) == (lane, value % at.values)
    assert (at.position(lane, value % at.values), at.tile(lane)) == ((row, column), tile)


@pytest.mark.parametrize("a_layout, b_layout, accumulator", VOLTA)
def test_volta_multiplies_through_the_formulas_of_the_manual(a_layout: str, b_layout: str, accumulator: str):
    """The manual's per-lane formulas, written out here, place random matrices; ours read the product."""
    drawn = np.random.default_rng(1)
    a, b = drawn.integers(-9, 9, (4, 8, 4)), drawn.integers(-9, 9, (4, 4, 8))
    of_a, of_b = fragment("m8n8k4", "a", "f16", a_layout), fragment("m8n8k4", "b", "f16", b_layout)
    of_c = fragment("m8n8k4", "c", accumulator)
    held_a, held_b, product = filled(of_a, a), filled(of_b, b), a @ b
    for lane in range(32):
        quad_pair, high = lane >> 2 & 3, lane >> 4
        for i in range(4):
            row, k = (lane % 4 + 4 * high, i) if a_layout == "row" else (i + 4 * high, lane % 4)
            assert held_a[lane, i] == a[quad_pair, row, k]
            k, column = (lane % 4, i + 4 * high) if b_layout == "row" else (i, lane % 4 + 4 * high)
            assert held_b[lane, i] == b[quad_pair, k, column]
        for i in range(8):
            row, column = lane % 4 + 4 * high, i
            if accumulator == "f32":
                row, column = (lane & 1) + (i & 2) + 4 * high, (i & 4) + (lane & 2) + (i & 1)
            assert filled(of_c, product)[lane, i] == product[quad_pair, row, column]
    assert (spread(of_c, filled(of_c, product)) == spread(of_a, held_a) @ spread(of_b, held_b)).all()


@pytest.mark.parametrize("shape, element, accumulator", REGULAR)
def test_row_groups_follow_the_one_formula(shape: str, element: str, accumulator: str):
    of_a, of_b, of_c = (fragment(shape, *each) for each in (("a", element), ("b", element), ("c", accumulator)))
    packed = of_a.values_per_register
    tall = of_a.rows == 16
    for lane in range(32):
        group, thread = lane >> 2, lane & 3
        for i in range(of_a.values):
            register, within = divmod(i, packed)
            half, step = (register & 1, register >> 1) if tall else (0, register)
            assert of_a.position(lane, i) == (group + 8 * half, packed * thread + within + 4 * packed * step)
        for i in range(of_b.values):
            register, within = divmod(i, packed)
            assert of_b.position(lane, i) == (packed * thread + within + 4 * packed * register, group)
        for i in range(of_c.values):
            assert of_c.position(lane, i) == (group + 8 * (i >> 1), 2 * thread + (i & 1))


@pytest.mark.parametrize("shape, element, accumulator", [("m8n8k4", "f16", "f32"), ("m8n8k4", "f16", "f16"), *REGULAR])
def test_registers_are_as_many_as_the_rows_take(shape: str, element: str, accumulator: str):
    (form,) = resolve(f"mma.sync.aligned.{shape}.row.col.{accumulator}.{element}.{element}.{accumulator}")
    for slot in form.signatures[0].slots:
        kind = accumulator if slot.name in "cd" else element
        layout = {"a": "row", "b": "col"}.get(slot.name, "")
        assert slot.count == fragment(shape, slot.name, kind, layout).registers


def test_unknown_operands_and_layouts_are_refused():
    with pytest.raises(ValueError, match="'row' or 'col'"):
        fragment("m8n8k4", "a", "f16")
    with pytest.raises(ValueError, match="no layout 'col'"):
        fragment("m16n8k16", "a", "f16", "col")
    with pytest.raises(ValueError, match="no fragment 'e'"):
        fragment("m16n8k16", "e", "f16")
