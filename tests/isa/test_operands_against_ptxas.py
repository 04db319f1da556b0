"""Marks, holes and domains of operands, asked of ptxas: what the slot takes and what lies just beyond."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from isa.forms import Form, families, resolve
from isa.operands import Domain, OneOf, OperandKind, PowerOfTwo, Range, Signature
from isa.targets import Target, target, version
from isa.types import Kind
from tests.isa.disagreements import Question, known
from tests.isa.synthesis import names, statement
from tests.oracles.ptxas import newest_version, refused

NEWEST = target("sm_107a")


def edges(domain: Domain) -> tuple[int, ...]:
    match domain:
        case OneOf(values):
            return values
        case Range(low, high):
            return low, high
        case PowerOfTwo(low, high):
            return low, high


def beyond(domain: Domain) -> tuple[int, ...]:
    match domain:
        case OneOf(values):
            return tuple(sorted({value + 1 for value in values} - set(values)))
        case Range(low, high, step):
            return (*((low - step,) if low >= step else ()), high + step, *((low + 1,) if step > 1 else ()))
        case PowerOfTwo(low, high):
            return low + high - 1, 2 * high


def with_number(form: Form, signature: Signature, place: int, number: int) -> str:
    """The statement with a number in one place, where `statement` has put something without a comma."""
    whole = statement(form, signature)
    before = statement(form, Signature(signature.slots[:place])).rstrip(";").rstrip()
    rest = whole.removeprefix(before).removeprefix(",").strip()
    after = rest[rest.index(",") :] if "," in rest else ";"
    return f"{before}{',' if place else ''} {number}{after}"


def bounded(on: Target, each: int) -> Iterator[tuple[Form, Signature, int, Domain]]:
    """One statement for each domain of each opcode, from the forms that the target has."""
    seen = set()
    forms = (form for family in families() for name in names(family, each) for form in resolve(name))
    for form in (form for form in forms if form.availability.holds(newest_version(on), on)):
        for signature in form.signatures:
            for place, slot in enumerate(signature.slots):
                key = (form.opcode, slot.name, slot.domain, slot.kind)
                if slot.domain is not None and key not in seen:
                    seen.add(key)
                    yield form, signature, place, slot.domain


def taken(form: Form, signature: Signature, place: int, number: int) -> bool:
    """Whether some form of the name takes the number in this place."""
    others = (each for other in resolve(form.name) for each in other.signatures)
    domains = (each.slots[place].domain for each in others if len(each.slots) == len(signature.slots))
    return any(domain.holds(number) for domain in domains if domain is not None)


def test_immediates_end_where_the_domains_end():
    at = newest_version(NEWEST)
    asked: dict[str, bool] = {}
    for form, signature, place, domain in bounded(NEWEST, 4):
        for number in (*edges(domain), *beyond(domain)):
            asked[with_number(form, signature, place, number)] = taken(form, signature, place, number)
    said = refused(list(asked), at, NEWEST)
    wrong = []
    for index, (text, legal) in enumerate(asked.items()):
        question = Question.LEGAL if legal else Question.BEYOND
        if (index in said) == legal and not known(question, f"{at} {NEWEST} {text}"):
            wrong.append(f"not {question.value}: {text} {said.get(index, '')}")
    assert len(asked) > 100
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["ld.global.u32", "ld.u32", "ld.weak.L1::evict_last.v2.f32", "ld.global.nc.u32"])
def test_the_mark_of_unified_memory_stands_behind_the_address(name: str):
    (form,) = resolve(name)
    (address,) = (slot for slot in form.signatures[0].slots if slot.kind is OperandKind.ADDRESS)
    assert address.unified is not None
    text = statement(form, form.signatures[0]).replace("]", "].unified")
    first = address.unified.least_version(target("sm_90"))
    assert first == version("8.0")
    assert refused([text], first, target("sm_90")) == {}


def test_no_other_access_takes_the_mark():
    for name in ("st.global.u32", "ld.volatile.global.u32", "ld.relaxed.gpu.global.u32", "atom.global.add.u32"):
        assert all(slot.unified is None for form in resolve(name) for each in form.signatures for slot in each.slots)
    (store,) = resolve("st.global.u32")
    text = statement(store, store.signatures[0]).replace("]", "].unified")
    assert len(refused([text], version("9.0"), target("sm_90"))) == 1


@pytest.mark.parametrize("name", ["st.global.v8.f32", "st.v4.u64", "st.global.v4.u32", "st.shared.v2.u64"])
def test_holes_stand_in_the_widest_stores_only(name: str):
    (form,) = resolve(name)
    stored = form.signatures[0].slots[1]
    text = statement(form, form.signatures[0])
    first = text[text.index("{") + 1 : text.index(",", text.index("{"))]
    taken = refused([text.replace(first, "_")], version("9.0"), target("sm_100")) == {}
    assert stored.type is not None
    assert taken == stored.sink == (stored.count * stored.type.bits == 256)
    assert stored.type.kind is not Kind.PREDICATE


@pytest.mark.parametrize(
    "kind, shape, element, size",
    [("mxf8f6f4", "m16n8k32", "e4m3", ".scale_vec::1X"), ("mxf8f6f4", "m16n8k32", "e4m3", ""),
     ("mxf4", "m16n8k64", "e2m1", ".scale_vec::2X"), ("mxf4", "m16n8k64", "e2m1", "")],
)  # fmt: skip
def test_the_places_of_scales_are_those_that_ptxas_takes(kind: str, shape: str, element: str, size: str):
    name = f"mma.sync.aligned.{shape}.row.col.kind::{kind}.block_scale{size}.f32.{element}.{element}.f32.ue8m0"
    on = target("sm_120a")
    (form,) = resolve(name)
    signature = form.signatures[0]
    for place in (5, 7):
        for part, slot in enumerate(signature.slots[place].parts):
            texts = [_placed(statement(form, signature), place, part, number) for number in range(6)]
            said = refused(texts, version("9.0"), on)
            assert slot.domain is not None
            assert [index not in said for index in range(6)] == [slot.domain.holds(number) for number in range(6)]


def _placed(text: str, place: int, part: int, number: int) -> str:
    """The statement with a number for one part of the vector in a place, and 0 for the other."""
    vectors = list(re.finditer(r"\{[^}]*\}|%\w+", text))
    found = vectors[place]
    numbers = ["0", "0"]
    numbers[part] = str(number)
    return text[: found.start()] + "{" + ", ".join(numbers) + "}" + text[found.end() :]
