"""Unions over named spaces against islpy, which reads the same texts and writes of ours."""

import itertools

import islpy as isl
import pytest

from polyhedral import UnionMap, UnionSet, parse_map, parse_set

SETS = (
    "[N] -> { A[i, j] : 0 <= i, j < N; B[i] : i mod 3 = 1; C[] : N > 2 }",
    "[N] -> { A[x, y] : x = 2y or exists (e : 3e <= x <= 3e + 1 and y > e); B[i] : 0 <= i <= 9 }",
    "{ A[i, j] : i << 3 and j >= 0; D[[A[i, j] -> B[k]] -> C[]] : i <= j <= k }",
    "{ }",
)
MAPS = (
    "[N] -> { A[i, j] -> B[i + j] : 0 <= i, j < N; B[i] -> C[] : i > N; B[i] -> B[2i] }",
    "{ A[i, j] -> B[k] : 2k = i + j; B[i] -> B[j] : i <= j <= i + 2; C[] -> A[i, i] : 0 <= i <= 4 }",
    "{ B[i] -> B[floor(i/4)] : 0 <= i < 32; A[i, j] -> A[j, i] : i << j }",
)


def same_set(ours: UnionSet, union: isl.UnionSet) -> bool:
    return bool(isl.UnionSet(str(ours)).is_equal(union))


def same_map(ours: UnionMap, union: isl.UnionMap) -> bool:
    if not ours.parts:
        return bool(union.is_empty())
    return bool(isl.UnionMap(str(ours)).is_equal(union))


@pytest.mark.parametrize("one, other", list(itertools.product(SETS, SETS)))
def test_unions_of_sets_are_isl_s(one: str, other: str) -> None:
    a, b, first, second = parse_set(one), parse_set(other), isl.UnionSet(one), isl.UnionSet(other)
    assert same_set(a | b, first.union(second))
    assert same_set(a & b, first.intersect(second))
    assert same_set(a - b, first.subtract(second))
    assert same_set((a | b).coalesced(), first.union(second))
    assert same_set(a.product(b), first.product(second))
    assert a.is_subset(b) == first.is_subset(second)
    assert a.equals(b) == first.is_equal(second)
    assert a.is_empty() == first.is_empty()
    assert same_set(a.gist(b) & b, first.intersect(second))
    sample = a.sample({"N": 5})
    if sample is None:
        assert first.is_empty()
    else:
        space, values = sample
        point = space.text([str(v) for v in list(values.values())[: space.width]])
        assert isl.UnionSet(f"[N] -> {{ {point} : N = 5 }}").is_subset(first)


@pytest.mark.parametrize("one, other", list(itertools.product(MAPS, MAPS)))
def test_unions_of_maps_are_isl_s(one: str, other: str) -> None:
    a, b, first, second = parse_map(one), parse_map(other), isl.UnionMap(one), isl.UnionMap(other)
    assert same_map(a | b, first.union(second))
    assert same_map(a & b, first.intersect(second))
    assert same_map(a - b, first.subtract(second))
    assert same_map(a.then(b), first.apply_range(second))
    assert same_map(a.inverse(), first.reverse())
    assert same_map((a | b).coalesced(), first.union(second))
    assert same_map(a.product(b), first.product(second))
    assert same_map(a.gist(b) & b, first.intersect(second))
    assert same_set(a.domain(), first.domain())
    assert same_set(a.range(), first.range())
    assert a.is_subset(b) == first.is_subset(second)
    assert a.equals(b) == first.is_equal(second)
    assert a.is_empty() == first.is_empty()


@pytest.mark.parametrize("pairs, points", list(itertools.product(MAPS, SETS)))
def test_images_and_restrictions_are_isl_s(pairs: str, points: str) -> None:
    a, b, first, second = parse_map(pairs), parse_set(points), isl.UnionMap(pairs), isl.UnionSet(points)
    assert same_set(a.apply(b), second.apply(first))
    assert same_map(a.intersect_domain(b), first.intersect_domain(second))
    assert same_map(a.intersect_range(b), first.intersect_range(second))
