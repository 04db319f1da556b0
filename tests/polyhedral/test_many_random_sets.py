"""Twenty thousand random cases of the set algebra against islpy, and against enumeration where the box is small."""

import islpy as isl
import pytest
from hypothesis import HealthCheck, given, settings

from polyhedral import Set
from tests.polyhedral.oracle import isl_set, isl_written
from tests.polyhedral.test_sets import Written, build, enumerated, points_of, two_sets

Case = tuple[tuple[str, ...], bool, Written, Written]


def compare(case: Case) -> None:
    dims, parametric, one, other = case
    a, b = build(one, dims), build(other, dims)
    first, second = (_theirs(dims, written) for written in (one, other))
    for ours, theirs in (
        (a, first),
        (a & b, first.intersect(second)),
        (a | b, first.union(second)),
        (a - b, first.subtract(second)),
        ((a | b).coalesced(), first.union(second)),
        (a.project_out(dims[-1]), first.project_out(_dim(), len(dims) - 1, 1)),
    ):
        assert isl_set(ours, ("N",)).is_equal(theirs)
    assert a.is_empty() == first.is_empty()
    assert a.is_subset(b) == first.is_subset(second)
    gist = a.gist(b.hull())
    hull = isl_set(Set(dims, (b.hull(),)), ("N",))
    assert isl_set(gist, ("N",)).intersect(hull).is_equal(first.intersect(hull))
    if not parametric:
        assert enumerated(a - b, False) == points_of(one, dims, False) - points_of(other, dims, False)


def _dim() -> isl.dim_type:

    return isl.dim_type.set


def _theirs(dims: tuple[str, ...], written: Written) -> isl.Set:
    found = [isl_written(dims, ("N",), c, e) for c, e in written]
    total = found[0]
    for more in found[1:]:
        total = total.union(more)
    return total


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(two_sets())
def test_a_few_random_cases(case: Case) -> None:
    compare(case)


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(two_sets())
def test_twenty_thousand_random_cases(case: Case) -> None:
    compare(case)
