"""Availability is a set of (version, target) pairs: the algebra is compared with sets."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isa.availability import ALWAYS, Availability, since, until
from isa.targets import TARGETS, VERSIONS, PtxVersion, Target, UnknownTarget, target, version
from isa.types import UnknownType, type_named
from tests.oracles.ptxas import newest_version, refused

TABLE = Path(__file__).parents[2].parent / "shared" / "design" / "ptxas-targets.json"
NUMBERS = sorted({each.number for each in TARGETS})
PLACES = [(at, on) for at, on in product(VERSIONS, TARGETS) if at >= on.first_version]
single = st.one_of(
    st.builds(lambda at, on: since(str(at), on), st.sampled_from(VERSIONS), st.sampled_from(NUMBERS)),
    st.builds(lambda at, on: since(str(at), on.name), st.sampled_from(VERSIONS), st.sampled_from(TARGETS)),
    st.builds(lambda at, on: until(str(at), on), st.sampled_from(VERSIONS), st.sampled_from(NUMBERS)),
)


def places(where: Availability) -> set[tuple[PtxVersion, Target]]:
    return {(at, on) for at, on in PLACES if where.holds(at, on)}


@settings(deadline=None)
@given(single, single, single)
def test_conjunction_and_disjunction_are_those_of_sets(a: Availability, b: Availability, c: Availability):
    assert places(a & b) == places(a) & places(b)
    assert places(a | b) == places(a) | places(b)
    assert places((a | b) & c) == (places(a) | places(b)) & places(c)


@settings(deadline=None)
@given(single, single)
def test_least_version_is_the_least(a: Availability, b: Availability):
    where = a | b
    held = places(where)
    for on in TARGETS:
        able = [at for at, each in held if each is on]
        assert where.least_version(on) == min(able, default=None)


def test_since_until_and_always():
    assert places(since("7.0", 80)) == {(at, on) for at, on in PLACES if at >= (7, 0) and on.number >= 80}
    assert places(until("6.3", 70)) == {(at, on) for at, on in PLACES if on.number < 70 or at <= (6, 3)}
    assert places(ALWAYS) == set(PLACES)
    assert str(since("7.0", 80)) == "PTX 7.0 on sm_80 and later"
    assert str(since("8.0", "sm_90a")) == "PTX 8.0 on sm_90a"


def test_unknown_names_list_the_known():
    with pytest.raises(UnknownTarget, match=r"sm_71.*sm_70 sm_72"):
        target("sm_71")
    with pytest.raises(UnknownType, match=r"f31.*f32"):
        type_named("f31")
    with pytest.raises(ValueError, match=r"like '8\.6'"):
        version("8")


def test_first_versions_are_those_that_ptxas_tells():
    if not TABLE.exists():
        pytest.skip("no record of what ptxas tells beside the checkout")
    told: dict[str, str] = {}
    for each in json.loads(TABLE.read_text()).values():
        told.update(each["targets_min_ptx"])
    ours = {each.name: str(each.first_version) for each in TARGETS}
    published_later = {"sm_70": "6.0"}  # ptxas also reads 5.1, which was never published
    assert ours == {**told, **published_later}


@pytest.mark.parametrize("on", TARGETS, ids=str)
def test_each_target_is_known_at_its_first_version(on: Target):
    assert refused(["exit;"], on.first_version, on) == {}
    assert refused(["exit;"], newest_version(on), on) == {}
