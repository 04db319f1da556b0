"""First and last images of maps with hard existentials, and emptiness by cuts, judged from outside."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from polyhedral import (
    Affine,
    Condition,
    Map,
    Set,
    System,
    TooManyRegions,
    TooManyRows,
    congruent,
    emptiness,
    first_images,
    first_points,
    last_images,
    parametric_minimum,
    var,
)
from polyhedral.cutting_planes import point_by_cuts
from polyhedral.rows import Row
from tests.polyhedral.oracle import held, isl_points, isl_set, isl_written
from tests.polyhedral.random_input import HIGH, LOW, affines, boxed

DIMS, VALUES = ("i", "j", "k", "l"), (-2, 1, 3)
MOST_REFUSED = 0.1
AXIS = range(LOW, HIGH + 1)
Hard = tuple[list[Condition], tuple[str, ...]]
Pair = tuple[int, ...]
i, j, n = var("i"), var("j"), var("N")


@st.composite
def hard(draw: st.DrawFn) -> Hard:
    """Conditions over four dimensions of which up to three are congruences that couple all of them."""
    found, own = draw(boxed(DIMS, ("N",), most=2))
    moduli = draw(st.lists(st.sampled_from([2, 3, 4]), min_size=1, max_size=3))
    return found + [congruent(draw(affines((*DIMS, "N", *own))), m) for m in moduli], own


def extreme_images(written: list[Hard], value: int, last: bool) -> set[Pair]:
    axes = {"N": (value,), **dict.fromkeys(DIMS, AXIS)}
    inside = np.any([held(c, axes, e) for c, e in written], axis=0)[0]
    found: dict[Pair, Pair] = {}
    for point in np.argwhere(inside).tolist():
        start, end = tuple(LOW + v for v in point[:2]), tuple(LOW + v for v in point[2:])
        if last or start not in found:
            found[start] = end
    return {(*start, *end) for start, end in found.items()}


def points_of(pairs: Map, value: int) -> set[Pair]:
    """The pairs at a value of N, as isl lists them from our rows."""
    points = pairs.as_set()
    return set(isl_points(isl_set(points.substitute(dict.fromkeys(points.params, value))), len(DIMS)))


def compare(written: list[Hard]) -> None:
    pairs = Map(DIMS[:2], DIMS[2:], tuple(System.of(*c, exists=e) for c, e in written)).normalised()
    first, last = first_images(pairs), last_images(pairs)
    for value in VALUES:
        assert points_of(first, value) == extreme_images(written, value, False)
        assert points_of(last, value) == extreme_images(written, value, True)


@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(hard(), min_size=1, max_size=2))
def test_images_of_hard_maps(written: list[Hard]) -> None:
    compare(written)


@pytest.mark.slow
def test_images_of_many_hard_maps() -> None:
    told: list[bool] = []

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(hard(), min_size=1, max_size=2))
    def judge(written: list[Hard]) -> None:
        try:
            compare(written)
            told.append(True)
        except (TooManyRegions, TooManyRows):
            told.append(False)

    judge()
    assert told.count(False) <= MOST_REFUSED * len(told)


def test_a_shadow_of_too_many_rows_is_not_made() -> None:
    """Without a limit, telling which conditions of these images are redundant joins rows by the million."""
    x, y, z, w = map(var, DIMS)
    box = [x >= -1, x <= 2, y >= -2, y <= 4, z >= 1, z <= 4, w >= -2, w <= 3, n + y + 1 >= x + z + 2 * w]
    moduli = ((-2 * n + 2 * x - z + w, 4), (-n + x + y + 3 * z - 2 * w + 5, 3), (-2 * n + x + y - 2 * z - 2 * w + 5, 2))
    written = box + [congruent(a, m) for a, m in moduli]
    first = first_images(Map.of(DIMS[:2], DIMS[2:], *written))
    for value in VALUES:
        assert points_of(first, value) == extreme_images([(written, ())], value, False)


def tied() -> Map:
    """Congruences by 2, 3 and 4 that tie four dimensions together: cuts give quotients of quotients without an end."""
    x, y, z, w = map(var, DIMS)
    box = ((z >= 0) & (z <= 3), (w >= -2) & (w <= 4), (x >= -2) & (x <= 2), (y >= -1) & (y <= 2))
    moduli = ((y + z + w - n - x, 4, 2), (x + z, 4, 1), (w - n - x, 3, 2))
    slope = 2 * n + 4 * y + 4 * z + w + 2 >= 3 * x
    return Map(DIMS[:2], DIMS[2:], (System.of(*box, slope, *(congruent(a, m, r) for a, m, r in moduli)),))


def told(pairs: Map) -> str:
    with pytest.raises(TooManyRegions) as refused:
        first_images(pairs)
    return str(refused.value)


def test_cuts_without_an_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parametric_minimum, "MOST_QUOTIENTS", 6)
    text = told(tied())
    assert text.startswith("the first k, l of (2N + 2i + l + 1) mod 3 = 0 and ")
    assert "$" not in text
    assert "6 quotients in each" in text
    assert "values of some of N, i, j" in text
    left = Set(DIMS[2:], tied().pieces).substitute({"N": 1, "i": 1})
    first = first_points(left)
    assert [first.at({"j": v}) for v in range(-2, 4)] == [left.lexmin({"j": v}) for v in range(-2, 4)]


def test_regions_without_an_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parametric_minimum, "MOST_REGIONS", 12)
    assert "more than 12 regions of N, i, j" in told(tied())


@pytest.mark.slow
def test_the_limits_end_the_cuts() -> None:
    assert "256 regions" in told(tied())


LARGE = st.integers(-9, 9)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(LARGE, LARGE, LARGE, LARGE), min_size=2, max_size=6))
def test_cuts_find_a_point_where_there_is_one(rows: list[Row]) -> None:
    point = point_by_cuts(rows, 3, 5000)
    written = [Affine.of(dict(zip("ijk", row, strict=False)), row[-1]) >= 0 for row in rows]
    assert (point is None) == isl_written("ijk", (), written).is_empty()
    if point is not None:
        assert all(np.dot(row, (*point, 1)) >= 0 for row in rows)
    assert System.of(*written).is_empty() == (point is None)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(LARGE, LARGE, LARGE, LARGE), min_size=3, max_size=7), st.sampled_from([0, 600]))
@example([(0, 0, 1, 0), (1, 2, -2, 0), (2, 0, 3, -1), (-2, -3, 0, 1)], 0)
def test_points_past_the_limit_of_pairs(rows: list[Row], pivots: int) -> None:
    written = [Affine.of(dict(zip("ijk", row, strict=False)), row[-1]) >= 0 for row in rows]
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(emptiness, "FEW_PAIRS", 0)
        limits.setattr(emptiness, "MOST_PIVOTS", pivots)
        point = emptiness.integer_point([], rows, 3)
    assert (point is None) == isl_written("ijk", (), written).is_empty()
    if point is not None:
        assert all(np.dot(row, (*point, 1)) >= 0 for row in rows)


def test_rows_without_an_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("FEW_PAIRS", "MOST_PAIRS", "MOST_PIVOTS"):
        monkeypatch.setattr(emptiness, limit, 0)
    thin = System.of(1117 * i >= 2029 * j + 3, 1117 * i <= 2029 * j + 5, 3 * i + 5 * j >= 7, 7 * i + 3 * j <= 9000)
    with pytest.raises(TooManyRows, match=r"more than 0 pairs of bounds, and more than 0 pivots.*variables are i, j$"):
        thin.is_empty()


def test_the_first_point_of_a_union_is_the_least_of_its_pieces() -> None:
    steps = Set.of(("i",), 3 * i >= n, i <= 20) | Set.of(("i",), 2 * i >= n + 5, i <= 20, i % 2 == 0)
    first = first_points(steps)
    for value in range(-9, 60):
        every = [v for v in range(-9, 21) if 3 * v >= value or (2 * v >= value + 5 and v % 2 == 0)]
        assert first.at({"N": value}) == ((every[0],) if every else None)


def test_pieces_without_a_first_point_are_told() -> None:
    with pytest.raises(ValueError, match="j is not bounded from below"):
        first_points(Set.of(("i", "j"), i >= n, j <= i))
    assert first_points(Set.of(("i",), i >= n, 2 * i <= 2 * n - 1)).pieces == ()
    free = Set.of(("i",), i >= n, j <= 3 * i, 2 * j >= i, exists=("j",))
    assert first_points(free).at({"N": 5}) == (5,)
