"""First and last points, counts, hulls and unions in fewer pieces, against enumeration and islpy."""

import itertools

import islpy as isl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyhedral import Constraint, Set, at_least, at_most, count, counted, first_points, last_points, var
from tests.polyhedral.oracle import isl_set
from tests.polyhedral.random_input import boxed
from tests.polyhedral.test_sets import Written, build, points_of, two_sets, written_sets

i, j, n = var("i"), var("j"), var("N")
VALUES = (-2, 0, 1, 3)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(boxed(("i", "j"), ("N",), exists=False, most=2), min_size=1, max_size=2))
def test_first_and_last_points_are_those_of_enumeration(written: Written) -> None:
    points = build(written, ("i", "j"))
    every = points_of(written, ("i", "j"), True)
    first, last = first_points(points), last_points(points)
    for value in VALUES:
        own = sorted(p[1:] for p in every if p[0] == value)
        assert first.at({"N": value}) == (own[0] if own else None)
        assert last.at({"N": value}) == (own[-1] if own else None)


def test_a_first_point_that_needs_a_quotient() -> None:
    points = Set.of(("i", "j"), 3 * i >= n, i <= 9, j >= i, j <= 20, (i + j) % 2 == 0)
    first = first_points(points)
    for value in range(-4, 27):
        low = -(-value // 3)
        assert first.at({"N": value}) == (low, low)
    with pytest.raises(ValueError, match="not bounded from below"):
        first_points(Set.of(("i",), i <= n))


def test_counts_of_polytopes_in_closed_form() -> None:
    m = var("M")
    triangle = Set.of(("i", "j"), i >= 0, i < n, j >= 0, j <= i, j < m)
    pieces = counted(triangle)
    assert "1/2*N^2" in " ".join(str(p.number) for p in pieces)
    for a, b in itertools.product(range(-1, 6), repeat=2):
        values = {"N": a, "M": b}
        held = [p.number.evaluate(values) for p in pieces if p.domain.holds(values)]
        assert len(held) <= 1
        assert (held[0] if held else 0) == count(triangle, values)
    with pytest.raises(ValueError, match="its bounds divide"):
        counted(Set.of(("i",), 2 * i >= n, i <= 9))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(two_sets())
def test_the_hull_holds_the_pieces_and_is_isl_s_simple_hull(
    case: tuple[tuple[str, ...], bool, Written, Written],
) -> None:
    dims, _, one, other = case
    points = build(one, dims) | build(other, dims)
    hull = isl_set(Set(dims, (points.hull(),)), ("N",))
    theirs = isl_set(points, ("N",))
    assert theirs.is_subset(hull)
    joined = points.coalesced()
    assert len(joined.pieces) <= len(points.pieces)
    assert isl_set(joined, ("N",)).is_equal(theirs)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(written_sets(("i", "j"), ()))
def test_extents_cover_all_points(written: Written) -> None:
    points = build(written, ("i", "j"))
    values = [a - 2 * b for _, a, b in points_of(written, ("i", "j"), False)]
    for piece in points.pieces:
        high, low = at_most(piece, i - 2 * j), at_least(piece, i - 2 * j)
        theirs = isl_set(Set(("i", "j"), (piece,)))
        greatest = theirs.max_val(isl.Aff("{ [i, j] -> [i - 2j] }")).to_python()
        assert high is not None
        assert low is not None
        assert greatest <= high
        assert low <= high
    assert all(any((at_least(p, i - 2 * j) or 0) <= v for p in points.pieces) for v in values)


@pytest.mark.parametrize(
    ("conditions", "least", "greatest"),
    [
        ((i >= 0, i <= 3, j >= 0, j <= 3), -6, 3),
        ((i >= 0, j >= 0, i + j <= 7), -14, 7),
        ((2 * i >= 1, 2 * i <= 7, j.equals(i)), -3, -1),
        ((3 * i >= 2 * j, 2 * j >= 5, i <= 4), -8, -2),
    ],
)
def test_extents_are_the_rational_ones_in_whole_numbers(
    conditions: tuple[Constraint, ...], least: int, greatest: int
) -> None:
    (piece,) = Set.of(("i", "j"), *conditions).pieces
    assert (at_least(piece, i - 2 * j), at_most(piece, i - 2 * j)) == (least, greatest)
