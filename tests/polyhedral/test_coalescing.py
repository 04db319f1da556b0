"""Pieces of a union joined, as many as a bounded number of questions tells."""

from polyhedral import Set, System, var
from polyhedral import coalescing as judged
from tests.polyhedral.oracle import isl_set

i, j, n, e = (var(x) for x in ("i", "j", "N", "e"))


def window(first: int) -> System:
    """Points of a few columns whose conditions take a quotient: neighbours meet and their hull is more than both."""
    return System.of(
        *(3 * n + j >= 6 * e + 1, 6 * e + 2 * j + first >= 2 * n + 3 * i, 6 * e + 6 >= 3 * n + j),
        *(first <= i, first + 3 >= i),
        exists=("e",),
    )


def same(one: Set, other: Set) -> bool:
    pairs = [[isl_set(s.substitute(dict.fromkeys(s.params, value))) for s in (one, other)] for value in (2, 7)]
    return all(a.is_equal(b) for a, b in pairs)


def test_a_long_union_is_asked_a_bounded_number_of_questions() -> None:
    long = Set(("i", "j"), tuple(window(first) for first in range(20)))
    before = judged._joined.cache_info().misses
    found = long.coalesced()
    asked = judged._joined.cache_info().misses - before
    assert 0 < asked <= judged.MOST_QUESTIONS // judged.QUESTIONS_OF_QUOTIENTS
    assert asked < 20 * 19 // 2
    assert same(found, long)


def test_intervals_in_a_row_are_joined_to_one() -> None:
    row = Set(("i",), tuple(System.of(3 * k <= i, 3 * k + 2 >= i) for k in range(30)))
    assert row.coalesced() == Set.of(("i",), i >= 0, i <= 89)


def test_beyond_the_bound_the_union_is_the_same_set() -> None:
    many = Set(("i", "j"), tuple(System.of(i.equals(5 * k), j >= 0, k >= j) for k in range(90)))
    found = many.coalesced()
    assert len(found.pieces) == 90
    assert same(found, many)
