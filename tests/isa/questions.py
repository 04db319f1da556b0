"""What is asked of ptxas about a family: statements, where they are asked, and what the rows say of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from isa.availability import Availability
from isa.forms import Form, resolve
from isa.operands import OperandKind, OperandSlot, Signature
from isa.rows import Family
from isa.targets import TARGETS, VERSIONS, PtxVersion, Target, named_in, target
from isa.types import REGISTER_TYPES
from tests.isa.synthesis import CONSTANTS, PLAIN, excluded, names, statement
from tests.oracles.ptxas import newest_version

Point = tuple[PtxVersion, Target]
Asked = dict[Point, dict[str, bool]]
SAMPLE, ALL = 12, 3000
EXCLUDED_ON = (target("sm_90a"), target("sm_120a"))
TYPES_ON = tuple(target(name) for name in ("sm_80", "sm_90", "sm_100a", "sm_120a"))


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
    """The forms of about `at_most` legal names of the family."""
    for name in names(family, at_most):
        yield from (form for form in resolve(name) if form.opcode == family.opcode)


def spelled_for(on: Target, text: str) -> str:
    """f16 registers came with sm_53; before that untyped ones hold them."""
    return text.replace("%f16_", "%b16_") if on.number < 53 else text


def of_places(group: Iterable[Family], at_most: int) -> Asked:
    """Every form where its row claims it, with registers and with constants, and just outside of that."""
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


def of_exclusions(group: Iterable[Family], at_most: int) -> Asked:
    """What only a table or rule of a line excludes, on two of the newest targets."""
    texts = {text: False for family in group for text in excluded(family, at_most)}
    return {(newest_version(on), on): dict(texts) for on in EXCLUDED_ON}


def of_register_types(group: Iterable[Family], at_most: int, on: Target) -> Asked:
    """Registers of every type in every place of every opcode whose slots or types differ."""
    at, seen = newest_version(on), set()
    texts: dict[str, bool] = {}
    for form in (form for family in group for form in forms(family, at_most)):
        if not form.availability.holds(at, on):
            continue
        for signature in form.signatures:
            for place, slot in enumerate(signature.slots):
                key = (form.opcode, place, slot, _types(form))
                if key in seen or not slot.accepts or slot.kind is OperandKind.ADDRESS:
                    continue
                seen.add(key)
                for register in REGISTER_TYPES:
                    text = statement(form, signature, PLAIN, (place, register))
                    taken = (register in each.accepts for each in _same_place(form, signature, place))
                    texts.setdefault(text, any(taken))
    return {(at, on): texts}


def _types(form: Form) -> tuple[str, ...]:
    return tuple(word for name, word in form.words.items() if name.endswith("type"))


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
