"""Parts of systems and the points that they keep, against islpy and the conditions as they are written."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from itertools import pairwise

import islpy as isl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyhedral import Condition, Set, System, var
from polyhedral.part import Part, Parts
from polyhedral.parts import conjoined, eliminated, gist_by_parts, renamed, rows_of, substituted
from polyhedral.points import have_no_point, is_seen_outside, point_of
from polyhedral.system import disjoint
from tests.polyhedral.oracle import held, isl_set, isl_written
from tests.polyhedral.random_input import affines, conditions

NAMES = ("i", "j", "k", "N")
LISTS = st.lists(conditions(NAMES), min_size=1, max_size=5)
SOME = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def written(parts: Sequence[Condition], names: Sequence[str] = NAMES) -> isl.Set:
    return isl_written(names, (), parts)


def read(parts: Parts, names: Sequence[str] = NAMES) -> isl.Set:
    return isl_set(Set(tuple(names), (System(parts),)))


def keeps_points_of_it(parts: Parts) -> bool:
    """Whether the point that each part keeps is one of it, by the conditions that it prints."""
    return all(
        not p.found or held(System((p,)).conditions, {n: (p.near.get(n, 0),) for n in p.visible}).all() for p in parts
    )


@SOME
@given(LISTS)
def test_parts_share_no_variable_and_are_one_object_each(own: list[Condition]) -> None:
    parts, again = System.of(*own).parts, System.of(*reversed(own)).parts
    assert sum(len(p.visible) for p in parts) == len(frozenset().union(*(p.visible for p in parts)))
    for one in parts:
        spelled = (one.names, one.equalities, one.inequalities)
        assert all(p is one for p in again if (p.names, p.equalities, p.inequalities) == spelled)
    assert read(parts).is_equal(written(own))
    assert read(again).is_equal(written(own))


@SOME
@given(st.lists(LISTS, min_size=2, max_size=4))
def test_points_in_common_are_found_where_there_are_some(several: list[list[Condition]]) -> None:
    systems = [System.of(*own) for own in several]
    for number, first in enumerate(systems):
        for second in systems[number:]:
            both = written([*several[number], *several[systems.index(second)]])
            assert have_no_point(tuple(dict.fromkeys(first.parts + second.parts))) == both.is_empty()
            assert disjoint(first, second) == both.is_empty()
    assert all(keeps_points_of_it(s.parts) for s in systems)


def test_a_contradiction_is_found_along_a_chain_of_parts() -> None:
    names = [f"c{k}" for k in range(6)]
    chain = [System.of(var(a) < var(b)) for a, b in pairwise(names)]
    apart, back = System.of(var("apart") >= 7), System.of(var(names[-1]) < var(names[0]))
    assert not disjoint(*chain, apart)
    assert disjoint(*chain, apart, back)
    assert have_no_point(tuple(p for s in (apart, back, *reversed(chain)) for p in s.parts))


@SOME
@given(LISTS, LISTS)
def test_a_point_that_is_given_is_one(first: list[Condition], second: list[Condition]) -> None:
    System.of(*first).is_empty()
    both = System.of(*first) & System.of(*second)
    for one in both.parts:
        point = point_of(one)
        assert (point is None) == read((one,)).is_empty()
        if point is not None:
            at = {n: (point.get(n, 0),) for n in one.visible}
            assert held(System((one,)).conditions, at).all()


@SOME
@given(LISTS, LISTS)
def test_conjunction_and_gist_by_parts(first: list[Condition], second: list[Condition]) -> None:
    own, known = System.of(*first).parts, System.of(*second).parts
    both = written([*first, *second])
    assert read(conjoined(own, known)).is_equal(both)
    left = gist_by_parts(own, known, True)
    assert read(left).intersect(written(second)).is_equal(both)
    assert keeps_points_of_it((*own, *known, *left))


@SOME
@given(LISTS, st.sets(st.sampled_from(NAMES), min_size=1, max_size=2))
def test_shadows_of_parts(own: list[Condition], gone: set[str]) -> None:
    system = System.of(*own)
    system.is_empty()
    for one in system.parts:
        found, _ = eliminated(one, tuple(sorted(gone)), False)
        names = [n for n in NAMES if n not in gone]
        assert read(found, names).is_equal(isl_written(names, (), System((one,)).conditions, sorted(gone)))
        forced, exact = eliminated(one, tuple(sorted(gone)), True)
        assert read(found, names).is_subset(read(forced, names))
        assert not exact or read(found, names).is_equal(read(forced, names))
        assert all(not p.found or not read((p,), names).is_empty() for p in (*found, *forced))


@SOME
@given(LISTS, st.data())
def test_some_rows_of_a_part(own: list[Condition], data: st.DataObject) -> None:
    system = System.of(*own)
    system.is_empty()
    for one in system.parts:
        count = len(one.equalities) + len(one.inequalities)
        chosen = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
        found = rows_of(one, chosen)
        conditions_left = [c for c, kept in zip(System((one,)).conditions, chosen, strict=True) if kept]
        assert read(found).is_equal(written(conditions_left))
        assert keeps_points_of_it(found)


@SOME
@given(LISTS, affines(("j", "k", "M")))
def test_names_renamed_and_put_in(own: list[Condition], value: object) -> None:
    system = System.of(*own)
    system.is_empty()
    for one in system.parts:
        other = renamed(one, tuple((n, f"{n}_") for n in sorted(one.visible)))
        moved = [c.substitute({n: var(f"{n}_") for n in NAMES}) for c in System((one,)).conditions]
        names = [f"{n}_" for n in NAMES]
        assert read((other,), names).is_equal(written(moved, names))
        assert keeps_points_of_it((other,))
        if "i" in one.visible:
            put = [c.substitute({"i": value}) for c in System((one,)).conditions]  # type: ignore[dict-item]
            found = substituted(one, (("i", value),))
            assert read(found, ("j", "k", "M", "N", "i")).is_equal(written(put, ("j", "k", "M", "N", "i")))


@SOME
@given(LISTS, LISTS)
def test_what_is_seen_outside_is_not_implied(condition: list[Condition], own: list[Condition]) -> None:
    system = System.of(*own)
    system.is_empty()
    for one in System.of(*condition).parts:
        if is_seen_outside((one,), system.parts):
            assert not written(own).is_subset(read((one,)))


def test_a_part_that_nobody_has_is_forgotten() -> None:
    system = System.of(var("only_here") >= 12345)
    assert any(isinstance(o, Part) and o.names == ("only_here",) for o in gc.get_objects())
    del system
    gc.collect()
    assert not any(isinstance(o, Part) and o.names == ("only_here",) for o in gc.get_objects())
