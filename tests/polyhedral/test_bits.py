"""Bit matrices against numpy arithmetic modulo two and against counting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyhedral import BitMatrix, bank_conflict_degree


@st.composite
def matrices(draw: st.DrawFn, height: int | None = None, width: int | None = None) -> BitMatrix:
    h = draw(st.integers(1, 6)) if height is None else height
    w = draw(st.integers(1, 6)) if width is None else width
    return BitMatrix(h, tuple(draw(st.integers(0, 2**h - 1)) for _ in range(w)))


def dense(matrix: BitMatrix) -> np.ndarray:
    return np.array([[c >> j & 1 for c in matrix.columns] for j in range(matrix.height)], dtype=np.int64)


def bits(value: int, width: int) -> np.ndarray:
    return np.array([value >> b & 1 for b in range(width)], dtype=np.int64)


@settings(max_examples=80, deadline=None)
@given(matrices(), st.data())
def test_maps_agree_with_arithmetic_modulo_two(a: BitMatrix, data) -> None:
    b = data.draw(matrices(height=a.width))
    assert (dense(a @ b) == dense(a) @ dense(b) % 2).all()
    assert (dense(a.transpose()) == dense(a).T).all()
    value = data.draw(st.integers(0, 2**a.width - 1))
    assert (bits(a.apply(value), a.height) == dense(a) @ bits(value, a.width) % 2).all()
    both = a.direct_sum(b)
    zero = np.zeros((a.height, b.width), dtype=np.int64), np.zeros((b.height, a.width), dtype=np.int64)
    assert (dense(both) == np.block([[dense(a), zero[0]], [zero[1], dense(b)]])).all()
    assert BitMatrix.from_rows(a.rows, a.width) == a


@settings(max_examples=80, deadline=None)
@given(matrices())
def test_rank_kernel_and_inverse_by_counting(a: BitMatrix) -> None:
    images = [a.apply(v) for v in range(2**a.width)]
    assert len(set(images)) == 2 ** a.rank()
    generated = {0}
    for vector in a.kernel():
        generated |= {g ^ vector for g in generated}
    assert generated == {v for v, image in enumerate(images) if image == 0}
    assert len(generated) == 2 ** len(a.kernel())
    for value in range(2**a.height):
        solution = a.solve(value)
        assert (solution is not None) == (value in images)
        assert solution is None or a.apply(solution) == value
    if a.is_invertible():
        assert a.invert() @ a == BitMatrix.identity(a.width) == a @ a.invert()
    else:
        with pytest.raises(ValueError, match="has no inverse"):
            a.invert()


def test_a_swizzle_is_read_from_its_function() -> None:
    swizzle = BitMatrix.from_function(lambda x: x ^ (x >> 3 & 7), 6, 6)
    assert swizzle @ swizzle == BitMatrix.identity(6)
    with pytest.raises(ValueError, match="not linear over bits"):
        BitMatrix.from_function(lambda x: x + 1, 3, 4)
    with pytest.raises(ValueError, match="does not fit"):
        BitMatrix(2, (4,))


@settings(max_examples=60, deadline=None)
@given(matrices(height=8, width=6))
def test_bank_conflicts_by_counting(addresses: BitMatrix) -> None:
    lanes, banks = 5, range(2, 5)
    degree = bank_conflict_degree(addresses, lanes, banks)
    words: dict[int, set[int]] = {}
    for lane in range(1 << lanes):
        address = addresses.apply(lane)
        words.setdefault(address >> 2 & 7, set()).add(address >> 2)
    assert degree == max(len(w) for w in words.values())
