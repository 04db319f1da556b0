"""A dimension of one operand that is called as a parameter of the other: islpy does the same with the texts."""

from collections.abc import Callable
from typing import Any

import islpy as isl
import pytest

from polyhedral import Map, Set, UnionMap, UnionSet, parse_map, parse_set, var

SETS = (
    "{ A[i] : 0 <= i <= 9; B[i, j] : i < j <= 3 }",
    "[i] -> { A[k] : k = i; B[j, k] : i <= k }",
    "[j, m] -> { A[i] : m = i > j }",
)
MAPS = (
    "{ A[i] -> A[j] : j = i + 1 }",
    "[i] -> { A[j] -> A[k] : k = j + i }",
    "[k, n] -> { A[j] -> A[i] : i = j + k or i = n }",
    "[j] -> { A[i] -> A[k] : k = j > i }",
)
OF_LIKES: dict[str, Callable[[Any, Any], Any]] = {
    "intersect": lambda a, b: a & b,
    "union": lambda a, b: a | b,
    "subtract": lambda a, b: a - b,
    "product": lambda a, b: a.product(b),
    "is_subset": lambda a, b: a.is_subset(b),
    "is_equal": lambda a, b: a.equals(b),
}
OF_MAPS: dict[str, Callable[[UnionMap, Any], Any]] = {
    "apply_range": lambda a, b: a.then(b),
    "intersect_domain": lambda a, b: a.intersect_domain(b),
    "intersect_range": lambda a, b: a.intersect_range(b),
}


def agree(ours: object, theirs: object) -> None:
    match ours:
        case bool():
            assert ours == theirs
        case _:
            assert type(theirs)(str(ours)).is_equal(theirs)  # type: ignore[call-arg, attr-defined]
            read = parse_map if isinstance(ours, UnionMap) else parse_set
            assert read(str(ours)).equals(ours)  # type: ignore[arg-type]


@pytest.mark.parametrize("second", SETS)
@pytest.mark.parametrize("first", SETS)
@pytest.mark.parametrize("operation", OF_LIKES)
def test_sets(operation: str, first: str, second: str) -> None:
    theirs = getattr(isl.UnionSet(first), operation)(isl.UnionSet(second))
    agree(OF_LIKES[operation](parse_set(first), parse_set(second)), theirs)


@pytest.mark.parametrize("second", MAPS)
@pytest.mark.parametrize("first", MAPS)
@pytest.mark.parametrize("operation", [*OF_LIKES, "apply_range"])
def test_maps(operation: str, first: str, second: str) -> None:
    ours = (OF_LIKES | OF_MAPS)[operation](parse_map(first), parse_map(second))
    agree(ours, getattr(isl.UnionMap(first), operation)(isl.UnionMap(second)))


@pytest.mark.parametrize("points", [*SETS, "[k] -> { A[i] : i < k }"])
@pytest.mark.parametrize("pairs", MAPS)
def test_points_of_maps(pairs: str, points: str) -> None:
    one, other = isl.UnionMap(pairs), isl.UnionSet(points)
    agree(parse_map(pairs).apply(parse_set(points)), other.apply(one))
    for operation in ("intersect_domain", "intersect_range"):
        agree(OF_MAPS[operation](parse_map(pairs), parse_set(points)), getattr(one, operation)(other))


@pytest.mark.parametrize("first", SETS)
@pytest.mark.parametrize("second", SETS)
def test_gist(first: str, second: str) -> None:
    ours = parse_set(first).gist(parse_set(second)) & parse_set(second)
    agree(ours, isl.UnionSet(first).intersect(isl.UnionSet(second)))


def test_dimensions_that_a_parameter_keeps_apart_get_a_prime() -> None:
    i, k = var("i"), var("k")
    pairs = Set.of(("i",), i >= 0).product(Set.of(("k",), k.equals(i)))
    assert (pairs.dims, pairs.params) == (("i'", "k"), ("i",))
    after = Map.affine(("i",), {"j": i + 1}).then(Map.affine(("a",), {"b": var("a") + i}))
    assert (after.in_dims, after.params) == (("i'",), ("i",))
    assert Map.of(("i",), ("j",), var("j").equals(0), i.equals(var("i'"))).is_injective()


def test_what_is_no_set_or_map_is_named() -> None:
    points, pairs = parse_set("{ A[i] }"), parse_map("{ A[i] -> B[j] }")
    with pytest.raises(TypeError, match="wanted a UnionSet, got the UnionMap"):
        points & pairs  # type: ignore[operator]
    with pytest.raises(TypeError, match="wanted a UnionMap, got the UnionSet"):
        pairs - points  # type: ignore[operator]
    one = Map.affine(("i",), {"j": var("i")})
    with pytest.raises(TypeError, match="wanted a Map, got the Set"):
        one & Set.of(("i",))  # type: ignore[operator]
    with pytest.raises(ValueError, match="no points over \\('a', 'b'\\)"):
        one.apply(Set.of(("a", "b")))
    with pytest.raises(ValueError, match="cannot project onto 'x'"):
        Set.of(("i",)).project_onto("x")
    with pytest.raises(ValueError, match="dimensions differ"):
        Set.of(("i",)).gist(Set.of(("k",)))


def test_texts_of_unions_keep_parameters_and_dimensions_apart() -> None:
    whole = UnionSet(parse_set("[i] -> { A[k] : k = i }").parts + parse_set("{ B[i] : i > 3 }").parts)
    agree(whole, isl.UnionSet("[i] -> { A[k] : k = i; B[j] : j > 3 }"))
