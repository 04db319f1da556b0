"""Every row is asked of ptxas: legal where claimed, refused elsewhere, operand types, excluded combinations."""

from __future__ import annotations

import random

import pytest

from isa.forms import families
from isa.rows import Family
from isa.targets import VERSIONS, target
from tests.isa.disagreements import GROUPS
from tests.isa.questions import ALL, SAMPLE, Asked, of_exclusions, of_places, of_register_types
from tests.isa.survey import Subject, judge, pieces

FAMILIES = families()


def some(asked: Asked, points: int, each: int, seed: int = 0) -> Asked:
    """So many points, drawn with the number of their statements as weight, and so many statements of each."""
    drawn = random.Random(seed)
    places = sorted(asked, key=lambda point: (point[0], point[1].name))
    chosen = set(drawn.choices(places, [len(asked[point]) for point in places], k=points))
    kept: Asked = {}
    for point in (place for place in places if place in chosen):
        texts = sorted(asked[point])
        kept[point] = {text: asked[point][text] for text in drawn.sample(texts, min(each, len(texts)))}
    return kept


def test_a_sample_is_legal_where_claimed_and_refused_just_outside():
    asked = some(of_places(FAMILIES, SAMPLE), points=24, each=60)
    assert sum(map(len, asked.values())) >= 500
    assert judge(asked, Subject.PLACES).unexplained == ()


def test_a_sample_of_what_rules_exclude_is_refused():
    assert judge(of_exclusions(FAMILIES, SAMPLE), Subject.EXCLUSIONS).unexplained == ()


def test_register_types_of_the_arithmetic_are_those_that_ptxas_takes():
    group = [each for each in FAMILIES if each.opcode in {"add", "mad", "fma", "shl", "selp", "setp", "mma"}]
    assert judge(of_register_types(group, SAMPLE, target("sm_90")), Subject.TYPES).unexplained == ()


def test_disagreements_are_few_groups():
    assert len(GROUPS) <= 25
    assert len({group.section for group in GROUPS}) == len(GROUPS)


def test_a_wrong_row_is_seen():
    asked: Asked = {(VERSIONS[-1], target("sm_80")): {"tanh.approx.f64 %f64_0, %f64_1;": True, "exit;": False}}
    assert len(judge(asked, Subject.PLACES).unexplained) == 2


@pytest.mark.slow
def test_at_least_fifty_thousand_verdicts_are_asked_for():
    assert sum(len(texts) for texts in of_places(FAMILIES, ALL).values()) >= 50_000


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.opcode)
def test_every_form_is_legal_where_claimed_and_refused_just_outside(family: Family):
    for subject, asked in pieces(family):
        assert judge(asked(), subject).unexplained == ()
