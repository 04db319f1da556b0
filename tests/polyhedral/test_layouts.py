"""Affine expressions as bit matrices and back, on every input."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyhedral import Affine, BitMatrix, affine_of_bits, bits_of_affine, var

WIDTHS = {"lane": 3, "row": 2, "column": 2}


def values() -> list[tuple[int, dict[str, int]]]:
    found = []
    for point in itertools.product(*(range(1 << w) for w in WIDTHS.values())):
        index, place = 0, 0
        for value, width in zip(point, WIDTHS.values(), strict=True):
            index, place = index | value << place, place + width
        found.append((index, dict(zip(WIDTHS, point, strict=True))))
    return found


@settings(max_examples=150, deadline=None)
@given(st.tuples(*[st.sampled_from([0, 1, 2, 4, 8, 16, 32, 3, 5])] * 3))
def test_a_matrix_gives_what_the_expression_gives(coefficients: tuple[int, int, int]) -> None:
    affine = Affine.of(dict(zip(WIDTHS, coefficients, strict=True)))
    try:
        matrix = bits_of_affine(affine, WIDTHS, 12)
    except ValueError:
        images = [(index, affine.evaluate(point)) for index, point in values()]
        whole = dict(images)
        assert any(whole[a ^ b] != whole[a] ^ whole[b] for a in whole for b in whole)
        return
    assert all(matrix.apply(index) == affine.evaluate(point) for index, point in values())
    assert affine_of_bits(matrix, WIDTHS) == affine


def test_a_swizzle_is_no_affine_expression() -> None:
    rows = bits_of_affine(8 * var("row") + var("column"), {"column": 3, "row": 3}, 6)
    swizzle = BitMatrix.from_function(lambda a: a ^ (a >> 3 & 7), 6, 6)
    with pytest.raises(ValueError, match="bit 0 of row is changed by exclusive or"):
        affine_of_bits(swizzle @ rows, {"column": 3, "row": 3})
    assert affine_of_bits(swizzle @ swizzle @ rows, {"column": 3, "row": 3}) == 8 * var("row") + var("column")


@pytest.mark.parametrize(
    "affine, words",
    [
        (var("row") + 1, "it has the constant 1"),
        (-var("row"), "the coefficient of row is negative"),
        (3 * var("row") + var("lane"), "may carry"),
        (64 * var("row"), "needs 8 bits, more than 6"),
        (var("other"), "bits of other"),
    ],
)
def test_mistakes_are_named(affine: Affine, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        bits_of_affine(affine, WIDTHS, 6)
