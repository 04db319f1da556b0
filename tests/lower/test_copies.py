"""Copies through registers and shared memory, judged by numpy."""

from __future__ import annotations

import numpy as np
import pytest

from polyhedral import var
from ptxgen.compute import f16, f32
from ptxgen.errors import UnsupportedError
from ptxgen.lower import dynamic_shared_bytes, lower
from ptxgen.tile import Distribution, Meet, Outside, Sequence, SharedLayout
from tests.lower.programs import (
    array,
    at,
    copy,
    program,
    registers,
    row_major,
    run,
    shared,
    spread,
    text,
    tiles,
)
from tests.lower.volta import congruous, crosswise

KINDS = {f16: np.float16, f32: np.float32}
SWAPPED = SharedLayout((32, 8), ((1, 2 ^ 4, 8, 16, 32), (64 ^ 2, 4, 128 ^ 1)))


def values(shape, kind, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(kind)


@pytest.mark.parametrize("element, vector, pad", [(f16, 8, 8), (f16, 2, 2), (f16, 1, 3), (f32, 4, 4), (f32, 1, 1)])
@pytest.mark.parametrize("rows, columns", [(1, 1), (32, 64), (31, 63), (33, 65), (70, 136), (100, 40)])
def test_a_guarded_copy_touches_only_the_array(element, vector, pad, rows, columns) -> None:
    if vector > 1 and columns % vector:
        columns = -(-columns // vector) * vector
    held = row_major((32, 64), vector, warps=2)
    source = array("A", element, ("M", "N"), ("lda", 1))
    target = array("D", element, ("M", "N"), ("ldd", 1))
    tile = registers("A.registers", element, held)
    origin = var("cta.i") * 32, var("cta.j") * 64
    body = Sequence(
        (
            copy(at(source, *origin), at(tile), held, vector, (0, 1), Outside.ZERO),
            copy(at(tile), at(target, *origin), held, vector, (0, 1)),
        )
    )
    made = program(
        (source, target), tiles(i=("M", 32), j=("N", 64)), body, tile, warps=2, alignment=element.byte_count * vector
    )
    a = values((rows, columns + pad), KINDS[element])
    d = np.full((rows, columns + 2 * pad), 7, KINDS[element])
    report = run(made, {"A": a, "D": d, "M": rows, "N": columns, "lda": columns + pad, "ldd": columns + 2 * pad})
    assert (d[:, :columns] == a[:, :columns]).all()
    assert (d[:, columns:] == 7).all()
    assert not report.findings


def test_zeros_stand_for_what_is_outside() -> None:
    held = row_major((16, 16), 2)
    source, target = array("A", f16, ("M", "N"), ("lda", 1)), array("D", f16, (16, 16), (16, 1))
    tile = registers("A.registers", f16, held)
    body = Sequence((copy(at(source), at(tile), held, 2, (0, 1), Outside.ZERO), copy(at(tile), at(target), held, 2)))
    made = program((source, target), (), body, tile)
    a, d = values((5, 6), np.float16), np.full((16, 16), 7, np.float16)
    run(made, {"A": a, "D": d, "M": 5, "N": 6, "lda": 6})
    assert (d[:5, :6] == a).all()
    assert (d[5:] == 0).all()
    assert (d[:, 6:] == 0).all()


def transposition(element, layout, put_vector, get_vector, read_as):
    """32 x 8 tiles through shared memory, read back by other lanes and written transposed."""
    held = row_major((32, 8), max(put_vector, 2 if element is f16 else 1))
    source = array("A", element, ("M", 8), (8, 1))
    target = array("D", element, ("M", 8), (1, "M"))
    first, second = registers("A.first", element, held), registers("A.second", element, read_as)
    tile = shared("A.shared", element, layout)
    origin = var("cta.i") * 32, 0
    body = Sequence(
        (
            copy(at(source, *origin), at(first), held, put_vector),
            copy(at(first), at(tile), held, put_vector),
            Meet(0, ()),
            copy(at(tile), at(second), read_as, get_vector),
            copy(at(second), at(target, *origin), read_as, get_vector),
        )
    )
    return program((source, target), tiles(i=("M", 32)), body, first, second, tile)


def columns_first(vector: int) -> Distribution:
    """Values along rows, then lanes along rows and columns."""
    own = vector.bit_length() - 1
    order = [(0, 1 << bit) for bit in range(5)] + [(1, 1), (1, 2), (1, 4)]
    return spread((32, 8), order[:own] + order[own + 5 :] + order[own : own + 5], 3)


@pytest.mark.parametrize(
    "element, layout, put_vector, get_vector",
    [
        (f32, SharedLayout.linear((32, 8), 1), 4, 1),
        (f32, SharedLayout.linear((32, 8), 0), 1, 4),
        (f16, SharedLayout.linear((32, 8), 0), 1, 8),
        (f16, SharedLayout.linear((32, 8), 1), 8, 1),
        (f16, SWAPPED, 1, 1),
    ],
)
def test_a_tile_is_transposed_through_shared_memory(element, layout, put_vector, get_vector) -> None:
    made = transposition(element, layout, put_vector, get_vector, columns_first(get_vector))
    a, d = values((96, 8), KINDS[element]), np.zeros((8, 96), KINDS[element])
    run(made, {"A": a, "D": d, "M": 96})
    assert (d == a.T).all()


@pytest.mark.parametrize(
    "offsets, vector",
    [
        (((8, 16, 32, 64, 128), (1, 2, 4)), 8),
        (((8 ^ 4, 16, 32, 64, 128), (1, 2, 4)), 4),
        (((8, 16 ^ 6, 32 ^ 4, 64, 128), (2, 4, 1)), 8),
        (((8, 16, 32, 64, 128 ^ 1), (1, 2, 4)), 8),
    ],
)
def test_elements_of_a_vector_that_lie_in_another_order_are_renamed(offsets, vector) -> None:
    """Lanes along rows; higher value bits (rows 8 and 16) change the order of the elements within a vector."""
    own = ((0, 1), (0, 2), (0, 4), (8, 0), (16, 0), (2, 0))
    held = Distribution((32, 8), own, ((1, 0), (4, 0), (0, 0), (0, 0), (0, 0)), ())
    back = row_major((32, 8), 2)
    layout = SharedLayout((32, 8), offsets)
    source, target = array("A", f16, (32, 8), (8, 1)), array("D", f16, (32, 8), (8, 1))
    first, second = registers("A.first", f16, held), registers("A.second", f16, back)
    tile = shared("A.shared", f16, layout)
    body = Sequence(
        (
            copy(at(source), at(first), held, 8),
            copy(at(first), at(tile), held, vector),
            Meet(0, ()),
            copy(at(tile), at(second), back, 1),
            copy(at(second), at(target), back, 2),
        )
    )
    if offsets[0][2] == 32 ^ 4:
        with pytest.raises(UnsupportedError, match="belong to different lanes"):
            lower(program((source, target), (), body, first, second, tile))
        return
    a, d = values((32, 8), np.float16), np.zeros((32, 8), np.float16)
    run(program((source, target), (), body, first, second, tile), {"A": a, "D": d})
    assert (d == a).all()


@pytest.mark.parametrize("last", [128, 128 ^ 1, 128 ^ 2, 128 ^ 7])
def test_elements_that_arrive_in_another_order_are_put_in_place(last) -> None:
    """Row 16, a value bit, changes the order of the elements within a vector that is loaded."""
    own = ((0, 1), (0, 2), (0, 4), (8, 0), (16, 0), (2, 0))
    held = Distribution((32, 8), own, ((1, 0), (4, 0), (0, 0), (0, 0), (0, 0)), ())
    front = row_major((32, 8), 2)
    tile = shared("A.shared", f16, SharedLayout((32, 8), ((8, 16, 32, 64, last), (1, 2, 4))))
    source, target = array("A", f16, (32, 8), (8, 1)), array("D", f16, (32, 8), (8, 1))
    first, second = registers("A.first", f16, front), registers("A.second", f16, held)
    body = Sequence(
        (
            copy(at(source), at(first), front, 2),
            copy(at(first), at(tile), front, 1),
            Meet(0, ()),
            copy(at(tile), at(second), held, 8),
            copy(at(second), at(target), held, 8),
        )
    )
    a, d = values((32, 8), np.float16), np.zeros((32, 8), np.float16)
    run(program((source, target), (), body, first, second, tile), {"A": a, "D": d})
    assert (d == a).all()


def test_rows_known_to_be_outside_cost_nothing() -> None:
    held = Distribution((8, 32), ((1, 0), (2, 0), (4, 0)), ((0, 1), (0, 2), (0, 4), (0, 8), (0, 16)), ())
    source, target = array("A", f32, (5, 32), (32, 1)), array("D", f32, (8, 32), (32, 1))
    tile = registers("A.registers", f32, held)
    body = Sequence((copy(at(source), at(tile), held, 1, (0,), Outside.ZERO), copy(at(tile), at(target), held, 1)))
    made = program((source, target), (), body, tile)
    a, d = values((5, 32), np.float32), np.full((8, 32), 7, np.float32)
    run(made, {"A": a, "D": d})
    assert (d[:5] == a).all()
    assert (d[5:] == 0).all()
    assert text(made).count("ld.global") == 5
    assert "setp" not in text(made)


def test_replicas_store_once() -> None:
    held = Distribution((8, 2), ((0, 1),), ((1, 0), (0, 0), (2, 0), (0, 0), (4, 0)), ((0, 0),))
    source, target = array("A", f16, (8, 2), (2, 1)), array("D", f16, (8, 2), (2, 1))
    tile = registers("A.registers", f16, held)
    body = Sequence((copy(at(source), at(tile), held, 2), copy(at(tile), at(target), held, 2)))
    made = program((source, target), (), body, tile, warps=2)
    a, d = values((8, 2), np.float16), np.zeros((8, 2), np.float16)
    report = run(made, {"A": a, "D": d})
    assert (d == a).all()
    [store] = [s for s in report.statements if s.instruction.form.opcode == "st"]
    assert (store.global_.requests, store.global_.bytes) == (1, 32)


def test_a_part_of_a_register_tile_is_moved_and_renamed() -> None:
    whole, half = row_major((32, 16), 8), row_major((16, 16), 8)
    source, target = array("A", f16, (32, 16), (16, 1)), array("D", f16, (16, 16), (16, 1))
    tile, other = registers("A.registers", f16, whole), registers("A.other", f16, half)
    body = Sequence(
        (
            copy(at(source), at(tile), whole, 8),
            copy(at(tile, 16, 0), at(other), half),
            copy(at(other), at(target), half, 8),
        )
    )
    a, d = values((32, 16), np.float16), np.zeros((16, 16), np.float16)
    run(program((source, target), (), body, tile, other), {"A": a, "D": d})
    assert (d == a[16:]).all()


def test_batches_and_strides_of_any_dimension() -> None:
    held = Distribution((1, 8, 16), ((0, 0, 1), (0, 0, 2)), ((0, 0, 4), (0, 0, 8), (0, 1, 0), (0, 2, 0), (0, 4, 0)), ())
    source = array("A", f32, ("Z", "M", 16), ("sz", "lda", 1))
    target = array("D", f32, ("Z", "M", 16), (1, "Z", "sd"))
    tile = registers("A.registers", f32, held)
    origin = var("cta.z"), var("cta.i") * 8, 0
    body = Sequence(
        (
            copy(at(source, *origin), at(tile), held, 4, (1,), Outside.ZERO),
            copy(at(tile), at(target, *origin), held, 1, (1,)),
        )
    )
    made = program((source, target), tiles(z=("Z", 1), i=("M", 8)), body, tile)
    a, d = values((3, 13, 20), np.float32), np.full(3 * 13 + 45 * 15, 7, np.float32)
    run(made, {"A": a, "D": d, "Z": 3, "M": 13, "sz": 260, "lda": 20, "sd": 45})
    z, i, j = np.indices((3, 13, 16))
    expected = np.full_like(d, 7)
    expected[z + 3 * i + 45 * j] = a[:, :, :16]
    assert (d == expected).all()


def test_shared_memory_beyond_the_static_limit_is_asked_from_the_launch() -> None:
    held = row_major((128, 128), 8, warps=4)
    tile, place = registers("A.registers", f16, held), shared("A.shared", f16, congruous(128, False), 1)
    big = shared("B.shared", f16, SharedLayout.linear((128, 128), 1), 2)
    assert crosswise(128).size == place.layout.size
    source, target = array("A", f16, (128, 128), (128, 1)), array("D", f16, (128, 128), (128, 1))
    body = Sequence(
        (
            copy(at(source), at(tile), held, 8),
            copy(at(tile), at(big, rank=1), held, 8),
            Meet(0, ()),
            copy(at(big, rank=1), at(tile), held, 8),
            copy(at(tile), at(target), held, 8),
        )
    )
    made = program((source, target), (), body, tile, big, warps=4)
    assert dynamic_shared_bytes(made) == 65536
    a, d = values((128, 128), np.float16), np.zeros((128, 128), np.float16)
    run(made, {"A": a, "D": d})
    assert (d == a).all()
    assert ".extern .shared" in text(made)
