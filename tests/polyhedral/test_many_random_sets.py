"""Random sets and maps: every operation against brute force on the conditions as written, and against islpy."""

import islpy as isl
import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from polyhedral import Map, Set, first_images, last_images
from tests.polyhedral.oracle import Grid, held, isl_map, isl_set, isl_written
from tests.polyhedral.random_input import HIGH, LOW
from tests.polyhedral.test_sets import PARAMETER_VALUES, Written, build, two_sets

Case = tuple[tuple[str, ...], bool, Written, Written]
SHARDS, CASES_PER_SHARD, CASES_EVERY_RUN = 20, 1000, 500
AXIS = range(LOW, HIGH + 1)
TURNS = st.integers(0, 3)


def theirs_of(dims: tuple[str, ...], written: Written) -> isl.Set:
    found = [isl_written(dims, ("N",), c, e) for c, e in written]
    total = found[0]
    for more in found[1:]:
        total = total.union(more)
    return total


def grid_of(written: Written, dims: tuple[str, ...], values: tuple[int, ...]) -> Grid:
    """Which points of the box that holds the sets are in them, at each value of the parameter."""
    axes = {"N": values, **dict.fromkeys(dims, AXIS)}
    found: Grid = np.any([held(c, axes, e) for c, e in written], axis=0)
    return found


def grid_of_points(points: Set, values: tuple[int, ...]) -> Grid:
    found: Grid = np.zeros([len(values)] + [len(AXIS)] * len(points.dims), dtype=np.bool_)
    for number, value in enumerate(values):
        for point in points.points({"N": value}):
            place = (number, *(v - LOW for v in point))
            assert not found[place], (points, point)
            found[place] = True
    return found


def same(ours: Set, theirs: isl.Set) -> bool:
    return bool(isl_set(ours, ("N",)).is_equal(theirs))


def compare_with_brute_force(a: Set, b: Set, one: Grid, other: Grid, values: tuple[int, ...]) -> None:
    assert (grid_of_points(a, values) == one).all()
    assert (grid_of_points(a - b, values) == one & ~other).all()
    assert (grid_of_points((a | b).project_out(a.dims[-1]), values) == (one | other).any(axis=-1)).all()
    for number, value in enumerate(values):
        listed = [tuple(int(v) + LOW for v in p) for p in np.argwhere(one[number])]
        assert a.lexmin({"N": value}) == (listed[0] if listed else None)
        assert a.lexmax({"N": value}) == (listed[-1] if listed else None)
        sample = a.sample({"N": value})
        assert (tuple(sample[d] for d in a.dims) in listed) if sample is not None else not listed


def compare_with_isl(a: Set, b: Set, first: isl.Set, second: isl.Set) -> None:
    assert same(a & b, first.intersect(second))
    assert same(a | b, first.union(second))
    assert same(a - b, first.subtract(second))
    assert same(a.project_out(a.dims[-1]), first.project_out(isl.dim_type.set, len(a.dims) - 1, 1))
    assert a.is_empty() == first.is_empty()
    assert a.is_subset(b) == first.is_subset(second)


def compare_forms_with_isl(a: Set, b: Set, first: isl.Set, second: isl.Set) -> None:
    both = first.union(second)
    assert same((a | b).coalesced(), both)
    assert same((a | b).disjoint(), both)
    assert same(a.simplified(), first)
    assert a.equals(b) == first.is_equal(second)


def compare_surroundings_with_isl(a: Set, b: Set, first: isl.Set, second: isl.Set) -> None:
    assert same(a.complement(), first.complement())
    assert same(a.product(b), first.flat_product(second))
    known = isl_set(Set(b.dims, (b.hull(),)), ("N",))
    assert second.is_subset(known)
    assert isl_set(a.gist(b.hull()), ("N",)).intersect(known).is_equal(first.intersect(known))


def compare_maps_with_isl(a: Set, b: Set, first: isl.Set, second: isl.Set) -> None:
    one, other = (Map(("i",), ("j",), s.pieces) for s in (a, b))
    pairs, others = isl_map(one, ("N",)), isl_map(other, ("N",))
    assert same(one.domain(), pairs.domain())
    assert same(one.range(), pairs.range())
    assert isl_map(one.inverse(), ("N",)).is_equal(pairs.reverse())
    assert isl_map(one.then(other), ("N",)).is_equal(pairs.apply_range(others))
    assert isl_map(one.compose(other), ("N",)).is_equal(others.apply_range(pairs))
    assert isl_map(one.complement(), ("N",)).is_equal(pairs.complement())


def compare_images_with_isl(a: Set, b: Set, first: isl.Set, second: isl.Set) -> None:
    one, other = (Map(("i",), ("j",), s.pieces) for s in (a, b))
    pairs, others = isl_map(one, ("N",)), isl_map(other, ("N",))
    assert same(one.apply(other.range()), others.range().apply(pairs))
    assert one.is_injective() == pairs.is_injective()
    assert isl_map(first_images(one), ("N",)).is_equal(pairs.lexmin())
    assert isl_map(last_images(other), ("N",)).is_equal(others.lexmax())
    assert isl_map(one.product(other), ("N",)).is_equal(pairs.flat_product(others))


OF_SETS = (compare_forms_with_isl, compare_surroundings_with_isl)
OF_MAPS = (compare_maps_with_isl, compare_images_with_isl)


def compare(case: Case, turn: int) -> None:
    """Every case by brute force and by isl; further operations take turns."""
    dims, parametric, one, other = case
    values = PARAMETER_VALUES if parametric else (0,)
    a, b = build(one, dims), build(other, dims)
    compare_with_brute_force(a, b, grid_of(one, dims, values), grid_of(other, dims, values), values)
    theirs = theirs_of(dims, one), theirs_of(dims, other)
    compare_with_isl(a, b, *theirs)
    chosen = (*OF_SETS, *OF_MAPS) if len(dims) == 2 else OF_SETS
    chosen[turn % len(chosen)](a, b, *theirs)


@settings(max_examples=CASES_EVERY_RUN, deadline=None, suppress_health_check=list(HealthCheck))
@given(two_sets(), TURNS)
def test_five_hundred_random_cases(case: Case, turn: int) -> None:
    compare(case, turn)


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_twenty_thousand_random_cases(shard: int) -> None:
    seen: list[Case] = []

    @seed(shard)
    @settings(max_examples=CASES_PER_SHARD, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(two_sets(), TURNS)
    def compared(case: Case, turn: int) -> None:
        seen.append(case)
        compare(case, turn)

    compared()
    assert len(seen) >= CASES_PER_SHARD
