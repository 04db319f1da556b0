"""isl's notation read and written: islpy reads the same text and our text."""

import islpy as isl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyhedral import Condition, NotationError, Set, UnionMap, UnionSet, parse, parse_map, parse_members, parse_set
from tests.polyhedral.oracle import isl_set
from tests.polyhedral.random_input import conditions

TEXTS = (
    "[N] -> { S[i,j] : 0 <= i < N and j = 2i }",
    "{ A[i,j] -> [([i/10]),[j/10],i,j] : 0 <= i,j and i + j <= 100 }",
    "[s = 0:23] -> { S[a = 0:2, b = 0:3, c] : 12c = s - 4a - b }",
    "{ [i] : exists (e0 = floor(i/3), e1: i = 2e1 and e0 >= 1) or i != 2 }",
    "{ isolate[[] -> [x]] : 10 <= x <= 20; [isolate[] -> unroll[x]] }",
    "{ [i] -> [i, max(i, 3)] : not (i < 2 && i > 0) }",
    "[n, m] -> { A[] -> [] : 2 * (n % 100) = 3 * (m mod 200) }",
    "[n] -> { G[i = -1 + n] : n > 0; G[i] : (1 + i) mod 2 = 0 and 0 <= i < n }",
    "[M] -> { S0[i] -> [i, -M] : 0 <= i <= 10; S1[i] -> [i, 0] : 0 <= i <= 10; S2[] -> [5, 0] }",
    "[a,b] -> { S[] : 0 <= a <= 2 and 6 - 3b <= a }",
    "{ [i, j] : i <= 3 < j or (i > j and 2i + 3j >= 4 and ceil(i/2) <= min(i, j, 7)) }",
    "[N] -> { [i] : false; B[i, 3] : true }",
    "{ [a, b] : exists b': 0 <= 10a,10b' and 10a+9+10b'+9 <= 100 and b = 3b' }",
    "[N] -> { : N >= 3 }",
    "[N] -> { : }",
    "[N] -> { [] : N >= 3; : N >= 4 }",
    "{ [i, j] -> [k, l] : i, j << k, l and 0 <= i, j, k, l <= 3; A[i] -> A[j] : i >>= j }",
    "{ [i, j, k] : i, j, k <<= 2, j, 5; B[i, j] : i, 2j >> j, i }",
    "{ [i] : 0 <= i < 10 implies i > 3; C[i, j] : (i = 3 or j > 2 implies i > j) and j < 9 }",
    "{ [i] : -floor(-i/4) >= 2 and 4*floor((i)/4) <= 12 }",
    "[e0_, e1_] -> { [i] : exists (a, b : 3a + 2e1_ <= i + 5b <= 4a - 2 + e0_ and b >= a) }",
    "{ [i] : 2i mod 5 = 2 and -2 * (i + 1) mod 3 >= 5 - i; B[i, j] : j = 2 * 3 mod 5 + 2 i mod 3 * 2 }",
)


def same(text: str, other: str, like: UnionSet | UnionMap) -> bool:
    if isinstance(like, UnionMap):
        return isl.UnionMap(text).is_equal(isl.UnionMap(other))
    return isl.UnionSet(text).is_equal(isl.UnionSet(other))


@pytest.mark.parametrize("text", TEXTS)
def test_what_we_write_is_what_isl_read(text: str) -> None:
    found = parse(text)
    assert same(str(found), text, found)
    kind = isl.UnionMap if isinstance(found, UnionMap) else isl.UnionSet
    assert same(str(parse(kind(text).to_str())), text, found)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(conditions(("i", "j", "N")), min_size=1, max_size=3), min_size=1, max_size=2))
def test_a_set_comes_back_from_its_text(parts: list[list[Condition]]) -> None:
    points = Set.empty(("i", "j"))
    for part in parts:
        points = points | Set.of(("i", "j"), *part)
    text = str(points)
    assert isl.Set(text).is_equal(isl_set(points))
    again = parse_set(text)
    assert points.is_empty() if not again.parts else again.parts[0][1].equals(points)


def test_unions_by_name() -> None:
    one, other = parse_set("{ A[i] : 0 <= i < 10; B[i] : i > 3 }"), parse_set("{ A[x] : x > 4; C[] }")
    assert str(one & other) == "{ A[i] : i <= 9 and i >= 5 }"
    assert (one - other).equals(parse_set("{ A[i] : 0 <= i <= 4; B[i] : i > 3 }"))
    assert parse_map("{ A[i] -> [i + 1]; C[] -> [0] }").apply(one | other).spaces[0].width == 1
    assert len(parse_members("[N] -> [{ A[i] -> [i]; B[i] -> [N] }, { A[i] -> [2*floor(i/2)] }]")) == 2


@pytest.mark.parametrize(
    "text, words",
    [
        ("{ [i] : i < }", "a number or a name that is known is due at 12"),
        ("{ [i] : i * i < 3 }", "one factor of a product is a number"),
        ("{ [i] : i ~ 3 }", "starts no word"),
        ("{ [i] : k < 3 }", "a name that is known"),
        ("{ [i]; [i] -> [j] }", "not of both"),
        ("{ [i] : floor(i + 1/2) > 3 }", "is written in parentheses"),
        ("{ [i, j] : i, j << 3 }", "2 expressions are not in the order of 1"),
        ("{ [i] : i < 3", "';' or '}' is due"),
    ],
)
def test_mistakes_are_named(text: str, words: str) -> None:
    with pytest.raises(NotationError, match=words.replace("}", r"\}")):
        parse(text)
