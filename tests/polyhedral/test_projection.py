"""Integer projection and its exactness flag against islpy."""

import islpy as isl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyhedral import Affine, Condition, Set, System, var
from tests.polyhedral.oracle import isl_set, isl_written
from tests.polyhedral.random_input import conditions

NAMES = ("i", "j", "k", "N")


def shadow_of(written: list[Condition], names: tuple[str, ...], gone: tuple[str, ...]) -> isl.Set:
    left = [n for n in names if n not in gone]
    return isl_written(left, (), written, gone)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(conditions(NAMES), min_size=1, max_size=6), st.sampled_from([("i",), ("j", "k"), ("i", "j", "k")]))
def test_projection_is_exact_over_the_integers(parts: list[Condition], gone: tuple[str, ...]) -> None:
    left = tuple(n for n in NAMES if n not in gone)
    shadow = Set(left, (System.of(*parts).project_out(*gone),))
    assert isl_set(shadow).is_equal(shadow_of(parts, NAMES, gone))


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(conditions(NAMES), min_size=1, max_size=6), st.sampled_from([("i",), ("j", "k"), ("i", "j", "k")]))
def test_elimination_covers_and_says_when_it_is_exact(parts: list[Condition], gone: tuple[str, ...]) -> None:
    left = tuple(n for n in NAMES if n not in gone)
    system, exact = System.of(*parts).eliminate(*gone)
    ours, theirs = isl_set(Set(left, (system,))), shadow_of(parts, NAMES, gone)
    assert theirs.is_subset(ours)
    assert not exact or ours.is_equal(theirs)


def test_the_dark_shadow_is_needed() -> None:
    x, y = var("x"), var("y")
    system = System.of(3 * y >= x, 2 * y <= x - 1, x >= 0, x <= 9)
    shadow, exact = system.eliminate("y")
    assert not exact
    points = [(v,) for v in range(10) if any(3 * w >= v and 2 * w <= v - 1 for w in range(-9, 10))]
    assert list(Set(("x",), (system.project_out("y"),)).points()) == points
    assert list(Set(("x",), (shadow,)).points()) != points


def test_a_tile_dimension_is_eliminated_exactly() -> None:
    i, o, n = var("i"), var("o"), var("N")
    shadow, exact = System.of(i >= 0, i < n, 32 * o <= i, i < 32 * o + 32).eliminate("i")
    assert exact
    assert shadow == System.of(o >= 0, 32 * o <= n - 1, n >= 1)


def test_a_narrow_window_is_no_tile() -> None:
    i, o = var("i"), var("o")
    window = System.of(3 * o <= i, i <= 3 * o + 1, i >= -4, i <= 9)
    assert not window.eliminate("o")[1]
    assert list(Set(("i",), (window.project_out("o"),)).points()) == [(v,) for v in range(-4, 10) if v % 3 < 2]


def test_many_rows_stay_few() -> None:
    names = [var(f"x{k}") for k in range(6)]
    rows = [Affine.sum([var("p"), *(x * c for x, c in zip(names, signs, strict=True))]) >= 0 for signs in SIGNS]
    system, _ = System.of(*rows).eliminate(*(f"x{k}" for k in range(5)))
    assert len(system.inequalities) < 60


SIGNS = [tuple((-1) ** (r >> k & 1) * (1 + (r + k) % 2) for k in range(6)) for r in range(0, 64, 5)]
