"""Maps cropped to extents that are no powers of two: a bijection onto the tile, or refused by name."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from isa.layouts import warpgroup_layout
from ptxgen.compute import BinaryOp
from ptxgen.derive.boxes import by_one_thread
from ptxgen.derive.iterations import with_parts
from ptxgen.derive.layouts import swizzled
from ptxgen.derive.pieces import Pieces
from ptxgen.tile import Coordinate, CroppingError, Distribution, SharedLayout
from ptxgen.tile.machine.folding import fold
from ptxgen.tile.machine.geometry import StrayError, offsets, points

LANES = ((0, 2), (0, 4), (1, 0), (2, 0), (4, 0))
some = settings(deadline=None, max_examples=30)
EXTENTS = st.sampled_from([8, 16, 24, 40, 48, 64, 80, 96, 112, 128, 144, 160, 192, 200, 224, 240, 256])


def warpgroups(groups: int, columns: int) -> Distribution:
    """What warpgroups hold of their sums, written by hand from the manual's figure: 16 rows a warp, 64 a group."""
    values = [(0, 1), (8, 0), *((0, 8 << bit) for bit in range((columns // 8 - 1).bit_length()))]
    warps = [(16, 0), (32, 0), *((64 << bit, 0) for bit in range((groups - 1).bit_length()))]
    return Distribution((64 * groups, columns), tuple(values), LANES, tuple(warps))


@some
@given(st.integers(1, 5), EXTENTS)
def test_every_element_of_the_sums_is_held_once(groups: int, columns: int) -> None:
    held = warpgroups(groups, columns)
    assert (held.warp_count, held.value_count) == (4 * groups, columns // 2)
    found = np.concatenate([points(held, warp) for warp in range(4 * groups)])
    assert is_whole(found, (64 * groups, columns))


@some
@given(st.integers(1, 5), EXTENTS)
def test_a_value_is_where_the_instruction_has_it(groups: int, columns: int) -> None:
    held, own = warpgroups(groups, columns), warpgroup_layout(f"m64n{columns}k16", "d", "f32")
    assert own.values == held.value_count
    for warp, lane, value in product((0, 3, 4 * groups - 1), (0, 9, 31), range(held.value_count)):
        row, column = own.position(32 * (warp % 4) + lane, value)
        assert held.coordinate(warp, lane, value) == (64 * (warp // 4) + row, column)


@some
@given(st.integers(1, 5), EXTENTS, st.sampled_from([1, 2, 8, 32, 64, 128]))
def test_parts_and_projections(groups: int, columns: int, part: int) -> None:
    held = warpgroups(groups, columns)
    rows, own = held.project((0,)), held.project((1,), (part,))
    assert {c for warp in range(4 * groups) for (c,) in points(rows, warp).tolist()} == set(range(64 * groups))
    assert {c for (c,) in points(own, 0).tolist()} == {column // part for column in range(columns)}


@some
@given(EXTENTS, st.sampled_from([8, 16, 32, 64, 128]))
def test_sums_over_a_part_of_the_columns(columns: int, part: int) -> None:
    held = with_parts(warpgroups(1, columns), ((1, part),))
    matrix = np.arange(64 * columns, dtype=np.float32).reshape(64, columns) % 13
    row, column, _ = points(held, 3).T
    if columns % part and columns > part:
        with pytest.raises(StrayError, match="other values of one kept coordinate"):
            fold(matrix[row, column], held, (0, 2), BinaryOp.ADD)
        return
    rows, parts = points(held.project((0, 2)), 3).T
    sums = np.add.reduceat(matrix, range(0, columns, part), axis=1)
    assert np.array_equal(fold(matrix[row, column], held, (0, 2), BinaryOp.ADD), sums[rows, parts])


def is_whole(coordinates: NDArray[np.int64], shape: Coordinate) -> bool:
    """Whether these are all coordinates inside a shape, each once."""
    if not ((coordinates >= 0) & (coordinates < np.array(shape))).all():
        return False
    counts = np.zeros(shape, np.int64)
    np.add.at(counts, tuple(coordinates.T), 1)
    return bool((counts == 1).all())


def check_layout(layout: SharedLayout) -> None:
    found = offsets(layout, corner_of(layout.shape))
    assert layout.size == prod(layout.shape)
    assert is_whole(found.reshape(-1, 1), (layout.size,))


def corner_of(shape: Coordinate) -> NDArray[np.int64]:
    """All coordinates inside a shape."""
    return np.array(list(np.ndindex(*shape)), np.int64)


@some
@given(EXTENTS, st.sampled_from([16, 32, 64]), st.sampled_from([32, 64, 128]), st.booleans())
def test_swizzled_tiles_are_filled_without_gaps(extent: int, depth: int, span: int, along: bool) -> None:
    """Operands that lie along k, and across it: the extent is that of rows, or of what is beside each other."""
    shape = (extent, depth) if along else (depth, extent)
    if shape[1] * 2 % span or (along and depth * 2 > span and extent & extent - 1):
        with pytest.raises(ValueError, match=r"no multiple of|fewer than|do not lie behind"):
            swizzled(shape, 1, 2, span)
        return
    check_layout(swizzled(shape, 1, 2, span))


@some
@given(EXTENTS, EXTENTS)
def test_linear_tiles(first: int, second: int) -> None:
    if second & second - 1:
        with pytest.raises(CroppingError, match="do not lie behind"):
            SharedLayout.linear((first, second), 1)
    else:
        check_layout(SharedLayout.linear((first, second), 1))


@some
@given(st.integers(1, 5), EXTENTS, st.sampled_from([8, 16, 32, 64]))
def test_pieces_cover_the_tile_once(groups: int, columns: int, piece: int) -> None:
    if columns % piece:
        return
    held, rows = warpgroups(groups, columns), 64 * groups
    pieces = Pieces.of((rows, columns), (64, columns), {1: piece})
    assert pieces.packed_shape == (rows, piece)
    within, box = pieces.within(held), pieces.unpacked(by_one_thread(pieces.packed_shape))
    assert within is not None
    for moved, warps in ((within, range(4 * groups)), (box, range(1))):
        own = np.unique(np.concatenate([points(moved, warp) for warp in warps]), axis=0)
        assert is_whole(own, (rows, piece))
    assert [corner[1] for corner in pieces.corners] == list(range(0, columns, piece))
    layout = pieces.laid_out(swizzled((rows, piece), 1, 4, min(32, piece * 4), apart=True))
    assert layout.size == rows * piece
    for corner in pieces.corners:
        moved = corner_of((rows, piece)) + np.array(corner)
        assert is_whole(offsets(layout, moved).reshape(-1, 1), (layout.size,))


def spread(shape: Coordinate, **groups: tuple[Coordinate, ...]) -> Distribution:
    given = {"values": (), "lanes": ((0,) * len(shape),) * 5, "warps": ()} | groups
    return Distribution(shape, given["values"], given["lanes"], given["warps"])


REFUSED: dict[str, tuple[dict[str, tuple[Coordinate, ...]], str]] = {
    "lanes": ({"lanes": ((1, 0), (2, 0), (4, 0), (8, 0), (16, 0))}, "would leave lanes of a warp without a part"),
    "warps and values": (
        {"values": ((1, 0), (2, 0), (4, 0), (8, 0)), "warps": ((16, 0),)},
        "dimension 0 of extent 24: its last bits belong to different indices",
    ),
    "values in front": (
        {"values": ((8, 0), (16, 0), (1, 0), (2, 0), (4, 0))},
        "dimension 0 of extent 24: its multiples of 8 are not moved by the last bits of an index",
    ),
    "values upside down": ({"values": ((1, 0), (2, 0), (4, 0), (16, 0), (8, 0))}, "not moved by the last bits"),
    "two bits at once": ({"values": ((1, 0), (2, 0), (4, 0), (8, 0), (24, 0))}, "not moved by the last bits"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_cropped_is_refused(name: str) -> None:
    groups, words = REFUSED[name]
    with pytest.raises(CroppingError, match=words):
        spread((24, 1), **groups)


def test_two_extents_of_one_index_cannot_be_cropped() -> None:
    with pytest.raises(CroppingError, match="not moved by the last bits"):
        by_one_thread((24, 40))


def test_what_never_leaves_the_tile_is_not_cropped() -> None:
    """Corners of boxes: some bits of a tile, none of which come together above its extent."""
    corners = spread((192, 1), values=((64, 0),))
    assert corners.value_count == 2


@pytest.mark.parametrize("shape", [(64, 0), (0, 8), (64, -8)])
def test_a_tile_without_elements_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(CroppingError, match=f"a tile of {shape[0]}x{shape[1]} has no elements"):
        Distribution(shape, ((0, 1), (8, 0)), LANES, ((16, 0), (32, 0)))


@pytest.mark.parametrize("image", [(64, 0), (0, 8), (1 << 40, 0)])
def test_an_image_outside_of_the_tile_is_refused(image: tuple[int, int]) -> None:
    with pytest.raises(CroppingError, match=rf"\({image[0]}, {image[1]}\) lies outside of a tile of 64x8"):
        Distribution((64, 8), ((0, 1), image), LANES, ((16, 0), (32, 0)))
