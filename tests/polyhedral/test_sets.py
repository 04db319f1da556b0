"""Set operations against enumeration of the conditions as written, and against islpy."""

import itertools
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyhedral import Condition, Set, System, congruent, var
from tests.polyhedral.oracle import held, holds, isl_set, isl_written
from tests.polyhedral.random_input import DIMS, HIGH, LOW, boxed, conditions

Written = list[tuple[list[Condition], tuple[str, ...]]]
i, j, n = var("i"), var("j"), var("N")
PARAMETER_VALUES = (-2, 0, 1, 3)


def points_of(written: Written, dims: tuple[str, ...], with_parameter: bool) -> set[tuple[int, ...]]:
    values = PARAMETER_VALUES if with_parameter else (0,)
    axes = {"N": values, **dict.fromkeys(dims, range(LOW, HIGH + 1))}
    found = np.any([held(c, axes, e) for c, e in written], axis=0)
    return {(values[p[0]], *(LOW + k for k in p[1:])) for p in np.argwhere(found).tolist()}


def enumerated(points: Set, with_parameter: bool) -> set[tuple[int, ...]]:
    values = PARAMETER_VALUES if with_parameter else (0,)
    return {(value, *point) for value in values for point in points.points({"N": value})}


@lru_cache
def written_sets(dims: tuple[str, ...], params: tuple[str, ...]) -> st.SearchStrategy[Written]:
    return st.lists(boxed(dims, params), min_size=1, max_size=2)


def build(written: Written, dims: tuple[str, ...]) -> Set:
    result = Set.empty(dims)
    for parts, exists in written:
        result = result | Set.of(dims, *parts, exists=exists)
    return result


@st.composite
def two_sets(draw: st.DrawFn) -> tuple[tuple[str, ...], bool, Written, Written]:
    dims = DIMS[: draw(st.integers(1, 2))]
    params = ("N",) if draw(st.booleans()) else ()
    return dims, bool(params), draw(written_sets(dims, params)), draw(written_sets(dims, params))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(two_sets())
def test_operations_agree_with_enumeration(case: tuple[tuple[str, ...], bool, Written, Written]) -> None:
    dims, parametric, one, other = case
    a, b = build(one, dims), build(other, dims)
    in_a, in_b = points_of(one, dims, parametric), points_of(other, dims, parametric)
    assert enumerated(a, parametric) == in_a
    assert enumerated(a & b, parametric) == in_a & in_b
    assert enumerated(a - b, parametric) == in_a - in_b
    assert enumerated((a | b).coalesced(), parametric) == in_a | in_b
    assert enumerated(a.simplified(), parametric) == in_a
    apart = (a | b).disjoint()
    assert enumerated(apart, parametric) == in_a | in_b
    assert all((p & q).is_empty() for p, q in itertools.combinations(apart.pieces, 2))
    assert not (in_a - in_b and a.is_subset(b))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(two_sets(), st.data())
def test_parametric_algebra_agrees_with_isl(case: tuple[tuple[str, ...], bool, Written, Written], data) -> None:
    dims, _, one, other = case
    a, b = build(one, dims), build(other, dims)
    their_a, their_b = ([isl_written(dims, ("N",), c, e) for c, e in written] for written in (one, other))
    first, second = their_a[0], their_b[0]
    for more in their_a[1:]:
        first = first.union(more)
    for more in their_b[1:]:
        second = second.union(more)
    assert isl_set(a, ("N",)).is_equal(first)
    assert isl_set(a - b, ("N",)).is_equal(first.subtract(second))
    assert a.is_subset(b) == first.is_subset(second)
    assert a.equals(b) == first.is_equal(second)
    assert (a & b).is_empty() == first.intersect(second).is_empty()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(conditions(("i", "j", "N", "e")), min_size=1, max_size=4),
    st.lists(conditions(("i", "j", "N")), max_size=3),
)
def test_unbounded_sets_agree_with_isl(parts: list[Condition], others: list[Condition]) -> None:
    dims = ("i", "j")
    a, b = Set.of(dims, *parts, exists=("e",)), Set.of(dims, *others)
    first, second = isl_written(dims, ("N",), parts, ("e",)), isl_written(dims, ("N",), others)
    assert a.is_empty() == first.is_empty()
    assert isl_set(a, ("N",)).is_equal(first)
    assert isl_set(b - a, ("N",)).is_equal(second.subtract(first))
    for piece in b.pieces:
        for known in a.pieces:
            gist = Set(dims, (piece.gist(known) & known,))
            assert isl_set(gist, ("N",)).is_equal(first.intersect(second))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(conditions(("i", "j", "N")), max_size=5))
def test_a_sample_is_a_point(parts: list[Condition]) -> None:
    points = Set.of(("i", "j"), *parts)
    sample = points.sample()
    if sample is None:
        assert isl_written(("i", "j"), ("N",), parts).is_empty()
    else:
        assert holds(parts, {"N": 0} | sample)


def test_points_come_in_order_and_lexmax_is_the_last() -> None:
    triangle = Set.of(("i", "j"), i >= 0, i < n, j >= 0, j <= i, congruent(i + j, 2))
    found = list(triangle.points({"N": 6}))
    assert found == sorted((a, b) for a in range(6) for b in range(a + 1) if (a + b) % 2 == 0)
    assert triangle.lexmin({"N": 6}) == found[0]
    assert triangle.lexmax({"N": 6}) == found[-1]
    assert triangle.lexmin({"N": 0}) is None


def test_complement_and_hull() -> None:
    line = Set.of(("i",), i >= 0, i < n)
    assert (line | line.complement()).equals(Set(("i",), (System(),)))
    parts = Set.of(("i",), i >= 0, i <= 3) | Set.of(("i",), i >= 4, i <= 9)
    assert parts.coalesced().pieces == Set.of(("i",), i >= 0, i <= 9).pieces


def test_pieces_whose_existentials_bound_them_are_not_joined_to_the_whole_space() -> None:
    one, other = Set.of(("i",), i >= 0, i <= 1, n >= 1), Set.of(("i",), i >= 0, i <= 1, n >= 2 * i, congruent(n + i, 2))
    assert other.pieces[0].project_out("i").exists
    for left in ((one | other).project_out("i"), Set((), tuple(p.project_out("i") for p in (one | other).pieces))):
        assert left.coalesced().equals(Set.of((), n >= 0))


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="their dimensions differ"):
        Set.of(("i",)) & Set.of(("j",))
    with pytest.raises(ValueError, match="repeat a name"):
        Set.of(("i", "i"))
    with pytest.raises(ValueError, match="not bounded on both sides"):
        list(Set.of(("i",), i >= 0).points())
    with pytest.raises(ValueError, match="value for the parameter N"):
        list(Set.of(("i",), i >= 0, i < n).points())
    with pytest.raises(TypeError, match="Constraint, a Congruence or a System"):
        Set.of(("i",), 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"cannot substitute 'zz': the set has .* \('i',\) and .* \('N',\)"):
        Set.of(("i",), i >= 0, i < n).substitute({"N": 4, "zz": 3})
    tied = System.of(3 * var("e") <= i, 5 * var("e") >= n + i, exists=("e",))
    with pytest.raises(ValueError, match=r"^exists \(e0_ : .*\) has existentials that are no congruences$"):
        _ = tied.conditions
    with pytest.raises(ValueError, match="reserved"):
        System.of(var("$0") >= 0)
