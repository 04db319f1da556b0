"""Every row is asked of ptxas: legal where claimed, refused elsewhere, operand types, excluded combinations."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator

import pytest

from isa.availability import Availability
from isa.forms import Form, families, resolve
from isa.operands import OperandKind, OperandSlot, Signature
from isa.rows import Family
from isa.targets import TARGETS, VERSIONS, PtxVersion, Target, named_in, target
from isa.types import REGISTER_TYPES
from tests.isa.disagreements import GROUPS, Question, known
from tests.isa.synthesis import CONSTANTS, PLAIN, excluded, names, statement
from tests.oracles.ptxas import newest_version, refused

Point = tuple[PtxVersion, Target]
Asked = dict[Point, dict[str, bool]]
SAMPLE, ALL = 12, 3000
FAMILIES = families()
BRACED = {OperandKind.VECTOR, OperandKind.ADDRESS, OperandKind.COORDINATE}


def claimed(where: Availability) -> Iterator[Point]:
    """The least version on the first target of each term that a judge knows in it, and on sm_70 where that has it."""
    for term in where.terms:
        judged = [on for on in named_in(term.targets) if max(term.first, on.first_version) <= newest_version(on)]
        for on in (each for each in judged if each is judged[0] or each is target("sm_70")):
            least = max(term.first, on.first_version)
            if where.holds(least, on):
                yield least, on


def just_outside(where: Availability) -> Iterator[Point]:
    """One version below on a target that this version knows, and the nearest target below at the newest version."""
    for term in where.terms:
        below = VERSIONS[VERSIONS.index(term.first) - 1]
        able = [on for on in named_in(term.targets) if on.first_version <= below and not where.holds(below, on)]
        if able and below < term.first:
            yield below, able[0]
        if term.last in VERSIONS:
            after = VERSIONS[VERSIONS.index(term.last) + 1]
            yield from ((after, on) for on in named_in(term.targets) if not where.holds(after, on))
    lowest = named_in(where.targets)[0].number
    missing = [on for on in TARGETS if not where.targets & on.bit and on.number <= lowest]
    if missing:
        yield newest_version(missing[-1]), missing[-1]


def forms(family: Family, at_most: int) -> Iterator[Form]:
    for name in names(family, at_most):
        yield from (form for form in resolve(name) if form.opcode == family.opcode)


def spelled_for(on: Target, text: str) -> str:
    """f16 registers came with sm_53; before that untyped ones hold them."""
    return text.replace("%f16_", "%b16_") if on.number < 53 else text


def ask_everywhere(group: Iterable[Family], at_most: int) -> Asked:
    asked: Asked = defaultdict(dict)
    for family in group:
        for form in forms(family, at_most):
            for signature in form.signatures:
                for point in claimed(form.availability):
                    for choice in (PLAIN, CONSTANTS):
                        asked[point][spelled_for(point[1], statement(form, signature, choice))] = True
                for point in just_outside(resolve(form.name).availability):
                    asked[point].setdefault(spelled_for(point[1], statement(form, signature)), False)
    return asked


def disagreements(asked: Asked) -> list[str]:
    found = []
    for (at, on), verdicts in asked.items():
        texts = list(verdicts)
        said = refused(texts, at, on)
        for index, text in enumerate(texts):
            question = Question.LEGAL if verdicts[text] else Question.REFUSED
            whole = f"{at} {on} {text}"
            if (index in said) == verdicts[text] and not known(question, whole):
                found.append(f"not {question.value}: {whole} {said.get(index, '')}")
    return found


def strict_beyond_ptxas(group: Iterable[Family], at_most: int) -> list[str]:
    texts = [text for family in group for text in excluded(family, at_most)]
    found = []
    for on in (target("sm_90a"), target("sm_120a")):
        at = newest_version(on)
        said = refused(texts, at, on)
        taken = [f"{at} {on} {text}" for index, text in enumerate(texts) if index not in said]
        found += [text for text in taken if not known(Question.EXCLUDED, text)]
    return found


def _same_place(form: Form, signature: Signature, place: int) -> Iterator[OperandSlot]:
    """The slots that may be meant in this place by the name, whichever of its forms the operands choose."""
    sorts = [(each.kind, each.joined, each.count) for each in signature.slots]
    for other in (each for candidate in resolve(form.name) for each in candidate.signatures):
        theirs = [(each.kind, each.joined, each.count) for each in other.slots]
        around = theirs[:place] == sorts[:place] and theirs[place + 1 :] == sorts[place + 1 :]
        if len(theirs) == len(sorts) and around and _shape(other.slots[place]) == _shape(signature.slots[place]):
            yield other.slots[place]


def _shape(slot: OperandSlot) -> tuple[bool, int]:
    """Whether the operand stands in brackets, and the size of a vector."""
    return slot.kind in (OperandKind.ADDRESS, OperandKind.COORDINATE), slot.count


def register_type_disagreements(group: Iterable[Family], at_most: int, on: Target) -> list[str]:
    at, seen = newest_version(on), set()
    texts: dict[str, bool] = {}
    for form in (form for family in group for form in forms(family, at_most)):
        if not form.availability.holds(at, on):
            continue
        for signature in form.signatures:
            for place, slot in enumerate(signature.slots):
                if (form.opcode, place, slot) in seen or not slot.accepts or slot.kind is OperandKind.ADDRESS:
                    continue
                seen.add((form.opcode, place, slot))
                for register in REGISTER_TYPES:
                    text = statement(form, signature, PLAIN, (place, register))
                    taken = (register in each.accepts for each in _same_place(form, signature, place))
                    texts.setdefault(text, any(taken))
    said = refused(list(texts), at, on)
    found = []
    for index, (text, accepted) in enumerate(texts.items()):
        question = Question.ACCEPTS if accepted else Question.TYPES_OUTSIDE
        if (index in said) == accepted and not known(question, f"{at} {on} {text}"):
            found.append(f"not true that ptxas {question.value}: {text} {said.get(index, '')}")
    return found


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
    asked = some(ask_everywhere(FAMILIES, SAMPLE), points=24, each=60)
    assert sum(map(len, asked.values())) >= 500
    assert disagreements(asked) == []


def test_a_sample_of_what_rules_exclude_is_refused():
    assert strict_beyond_ptxas(FAMILIES, SAMPLE) == []


def test_register_types_of_the_arithmetic_are_those_that_ptxas_takes():
    group = [each for each in FAMILIES if each.opcode in {"add", "mad", "fma", "shl", "selp", "setp", "mma"}]
    assert register_type_disagreements(group, SAMPLE, target("sm_90")) == []


def test_disagreements_are_few_groups():
    assert len(GROUPS) <= 25
    assert len({group.section for group in GROUPS}) == len(GROUPS)


def test_a_wrong_row_is_seen():
    asked: Asked = {(VERSIONS[-1], target("sm_80")): {"tanh.approx.f64 %f64_0, %f64_1;": True, "exit;": False}}
    assert len(disagreements(asked)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.opcode)
def test_every_form_is_legal_where_claimed_and_refused_just_outside(family: Family):
    assert disagreements(ask_everywhere([family], ALL)) == []


@pytest.mark.slow
def test_what_rules_exclude_is_refused():
    assert strict_beyond_ptxas(FAMILIES, 600) == []


@pytest.mark.slow
@pytest.mark.parametrize("on", ["sm_80", "sm_90", "sm_100a", "sm_120a"])
def test_register_types_are_those_that_ptxas_takes(on: str):
    assert register_type_disagreements(FAMILIES, 100, target(on)) == []
