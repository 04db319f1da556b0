"""Quick answers about rows, each against islpy: points found by repair, rows that are needed, rows that are sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyhedral.certificates import Sums, alone_violated, any_opposed, repaired, windows
from polyhedral.elimination import implies, irredundant
from polyhedral.gist import are_lone_bounds
from polyhedral.rows import Row, table_of

WIDTH = 3
NAMES = [f"x{i}" for i in range(WIDTH)]
COEFFICIENTS = st.sampled_from([0, 0, 1, -1, 1, -1, 2, -3, 8])
ROWS = st.tuples(*[COEFFICIENTS] * WIDTH, st.integers(-9, 9)).filter(lambda row: any(row[:-1]))
SOME = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def text_of(row: Row, sign: str = ">=") -> str:
    return " + ".join(f"{c}*{n}" for c, n in zip(row, NAMES, strict=False)) + f" + {row[-1]} {sign} 0"


def isl_rows(inequalities: Iterable[Row], equalities: Iterable[Row] = ()) -> isl.Set:
    texts = [*map(text_of, inequalities), *(text_of(r, "=") for r in equalities)]
    return isl.Set(f"{{ [{', '.join(NAMES)}] : {' and '.join(texts) or 'true'} }}")


def normal(rows: Sequence[Row]) -> list[Row]:
    """Rows as they come to the certificates: divided by their gcd, one to each left side."""
    return [(*c, k) for c, k in table_of(rows).items()]


@SOME
@given(st.lists(ROWS, max_size=7), st.one_of(st.none(), st.tuples(*[st.integers(-20, 20)] * WIDTH)))
def test_a_repaired_point_satisfies_the_rows(rows: list[Row], start: tuple[int, ...] | None) -> None:
    point = repaired(rows, WIDTH, start)
    if point is not None:
        where = " and ".join(f"{n} = {v}" for n, v in zip(NAMES, point, strict=True))
        assert isl.Set(f"{{ [{', '.join(NAMES)}] : {where} }}").is_subset(isl_rows(rows))


def test_a_point_is_repaired_by_few_moves() -> None:
    assert repaired([(1, 0, -1000), (-1, 128, 127), (1, -128, -1)], 2) is not None


@SOME
@given(st.lists(ROWS, min_size=2, max_size=6), st.integers(-12, 3))
def test_opposed_rows_have_no_point(rows: list[Row], width: int) -> None:
    first = rows[0]
    opposite = (*[-c for c in first[:-1]], width - first[-1])
    assert any_opposed([*rows, opposite]) or width >= 0
    if any_opposed([*rows, opposite]):
        assert isl_rows([*rows, opposite]).is_empty()


@SOME
@given(st.lists(ROWS, min_size=1, max_size=7), st.lists(ROWS, max_size=1))
def test_rows_said_to_be_violated_alone_are_needed(rows: list[Row], equal: list[Row]) -> None:
    rows = normal(rows)
    sample = isl_rows(rows, equal).sample_point()
    if not sample.is_void():
        point = [sample.get_coordinate_val(isl.dim_type.set, i).to_python() for i in range(WIDTH)]
        for row in alone_violated(equal, rows[:4], rows[4:], point):
            others = isl_rows([r for r in rows if r != row], equal)
            assert not others.is_subset(isl_rows([row]))


@SOME
@given(st.lists(ROWS, min_size=1, max_size=6), st.lists(ROWS, max_size=1), ROWS)
def test_sums_hold_wherever_the_rows_do(rows: list[Row], equal: list[Row], wanted: Row) -> None:
    rows = normal(rows)
    sums, around = Sums(equal, rows, WIDTH), isl_rows(rows, equal)
    if sums.give(wanted):
        assert around.is_subset(isl_rows([wanted]))
    if sums.leave_open(wanted) and not around.is_empty():
        assert not around.is_subset(isl_rows([wanted]))


@SOME
@given(st.lists(ROWS, min_size=2, max_size=6), st.data())
def test_rows_taken_away_do_not_count_until_they_are_back(rows: list[Row], data: st.DataObject) -> None:
    rows = normal(rows)
    sums = Sums((), rows, WIDTH)
    before = [sums.give(r) for r in rows]
    gone = data.draw(st.lists(st.sampled_from(rows), unique=True, max_size=2))
    for row in gone:
        sums.drop(row)
    left = isl_rows([r for r in rows if r not in gone])
    for row in gone:
        assert not sums.give(row) or left.is_subset(isl_rows([row]))
        assert not sums.leave_open(row) or left.is_empty() or not left.is_subset(isl_rows([row]))
    for row in gone:
        sums.put_back(row)
    assert [sums.give(r) for r in rows] == before == [True] * len(rows)


@SOME
@given(st.lists(ROWS, min_size=1, max_size=6), st.lists(ROWS, max_size=3), st.lists(ROWS, max_size=1))
def test_what_is_irredundant_says_the_same(own: list[Row], known: list[Row], equal: list[Row]) -> None:
    own, known = normal(own), normal(known)
    around = isl_rows([*own, *known], equal)
    sample = around.sample_point()
    points: list[list[int] | None] = [None]
    if not sample.is_void():
        points.append([sample.get_coordinate_val(isl.dim_type.set, i).to_python() for i in range(WIDTH)])
    for point in points:
        kept = irredundant((), own, equal, known, WIDTH, point)
        assert set(kept) <= set(own)
        assert isl_rows([*kept, *known], equal).is_equal(around)


@SOME
@given(st.lists(ROWS, min_size=1, max_size=6), st.lists(ROWS, max_size=1), ROWS)
def test_what_is_said_to_be_implied_is(rows: list[Row], equal: list[Row], wanted: Row) -> None:
    if implies(equal, normal(rows), wanted, WIDTH):
        assert isl_rows(rows, equal).is_subset(isl_rows([wanted]))


def test_a_row_that_is_violated_only_beside_another_is_not_said_to_be_needed() -> None:
    rows = [(-1, -1, 8), (-1, 0, 5), (0, -1, 3), (1, 1, 0)]
    assert (-1, -1, 8) not in alone_violated((), rows, (), (5, 3))
    assert (-1, -1, 8) not in alone_violated((), rows[:1], rows[1:], (5, 3))


def test_rows_that_only_bound_a_quotient_stand_apart() -> None:
    window, rest = [(-8, 0, 1, 0), (8, 0, -1, 7)], [(0, 1, -1, 5), (0, -1, 1, 3), (0, 1, 0, 2)]
    assert windows([*window, *rest], []) == set(window)
    assert windows([window[0], (8, 0, -1, 6), *rest], []) == set()
    assert windows([window[0], *rest], [window[1]]) == set()
    assert windows([*window, *rest], [(1, 1, 0, 0)]) == set()


@SOME
@given(st.lists(ROWS, min_size=1, max_size=4), st.tuples(*[st.booleans()] * WIDTH))
def test_rows_that_bound_alone_are_not_implied(found: list[Row], free: tuple[bool, ...]) -> None:
    rows = tuple(normal(found))
    if are_lone_bounds(rows, free) and not isl_rows(rows).is_empty():
        for row in rows:
            assert not isl_rows([r for r in rows if r != row]).is_subset(isl_rows([row]))


def test_rows_that_bound_together_are_not_said_to_bound_alone() -> None:
    assert are_lone_bounds(((1, 0, 0, 0), (-1, 1, 0, 5)), (True, False, False))
    assert not are_lone_bounds(((1, 0, 0, 0), (1, 1, 0, 5)), (True, False, False))
