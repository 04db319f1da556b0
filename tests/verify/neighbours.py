"""Statements next to legal ones: a word, a type, a number of operands, a value, an order, a target or a version off."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import pairwise

from attrs import frozen

from isa.forms import Form, families, resolve
from isa.operands import OperandKind, Signature
from isa.rows import Family
from isa.targets import PtxVersion, Target, target, version
from isa.types import REGISTER_TYPES
from ptxgen.errors import PtxSyntaxError
from ptxgen.parse import read
from ptxgen.verify import verify
from tests.isa.synthesis import names, statement
from tests.oracles.ptxas import module, newest_version

WIDE = target("sm_100a")
BELOW = tuple(target(name) for name in ("sm_75", "sm_80", "sm_89", "sm_90a", "sm_120a"))
EARLIER = tuple(version(text) for text in ("8.6", "8.7", "8.8", "9.0", "9.1", "9.3"))
_NUMBERS = (-1, 7, 17, 33, 257, 1 << 20, 1 << 33, 1 << 65)
_ALLOWED = 0.01
_HERE = re.compile(r"%\w+_\d+|-?\b\d+\b")
_JUDGED = (
    "operand",
    "parity",
    "type",
    "vector",
    "immediate",
    "instruction",
    "target",
    "register",
    "name",
    "label",
    "symbol",
    "ptx",
)


class Kind(Enum):
    """What is off."""

    SLOT = "slot"
    TYPE = "type"
    COUNT = "count"
    RANGE = "range"
    ORDER = "order"
    TARGET = "target"
    VERSION = "version"


@frozen
class Asked:
    """A statement and where it is asked."""

    text: str
    at: PtxVersion
    target: Target


def legal(drawn: random.Random, on: Target, each: int) -> Iterator[tuple[Family, Form, Signature]]:
    """Forms that the target has in the newest version, one of each family drawn at a time, without end."""
    at = newest_version(on)
    known = {
        family: [form for name in names(family, each) for form in resolve(name) if form.availability.holds(at, on)]
        for family in families()
    }
    able = [family for family, forms in known.items() if any(form.opcode == family.opcode for form in forms)]
    while True:
        family = drawn.choice(able)
        form = drawn.choice([form for form in known[family] if form.opcode == family.opcode])
        yield family, form, drawn.choice(form.signatures)


def _slot(drawn: random.Random, family: Family, form: Form, signature: Signature) -> str | None:
    words, start = form.name.split("."), len(family.opcode.split("."))
    if len(words) == start:
        return None
    place = drawn.randrange(start, len(words))
    vocabulary = sorted({word for line in family.lines for slot in line.slots for word in slot.choices})
    other = drawn.choice([[], [drawn.choice(vocabulary)], [words[place], drawn.choice(vocabulary)]])
    return _renamed(form, signature, [*words[:place], *other, *words[place + 1 :]])


def _order(drawn: random.Random, family: Family, form: Form, signature: Signature) -> str | None:
    words, start = form.name.split("."), len(family.opcode.split("."))
    if len(words) - start > 1 and drawn.random() < 0.5:
        place = drawn.randrange(start, len(words) - 1)
        words[place], words[place + 1] = words[place + 1], words[place]
        return _renamed(form, signature, words)
    if len(signature.slots) < 2:
        return None
    slots = list(signature.slots)
    apart = [at for at, (one, two) in enumerate(pairwise(slots)) if one.accepts != two.accepts]
    if not apart:
        return None
    place = drawn.choice(apart)
    slots[place], slots[place + 1] = slots[place + 1], slots[place]
    return statement(form, Signature(tuple(slots)))


def _renamed(form: Form, signature: Signature, words: list[str]) -> str:
    spelled = statement(form, signature)
    name = ".".join(words)
    return spelled.replace(f"{form.name} ", f"{name} ").replace(f"{form.name};", f"{name};")


def _type(drawn: random.Random, family: Family, form: Form, signature: Signature) -> str | None:
    places = [place for place, slot in enumerate(signature.slots) if slot.accepts and not slot.partial]
    places = [place for place in places if signature.slots[place].kind is not OperandKind.ADDRESS]
    if not places:
        return None
    place = drawn.choice(places)
    return statement(form, signature, alien=(place, drawn.choice(REGISTER_TYPES)))


def _count(drawn: random.Random, family: Family, form: Form, signature: Signature) -> str | None:
    slots = list(signature.slots)
    if not slots:
        return None
    place = drawn.randrange(len(slots))
    return statement(
        form, Signature(tuple(slots[:place] + drawn.choice([[], [slots[place]] * 2]) + slots[place + 1 :]))
    )


def _range(drawn: random.Random, family: Family, form: Form, signature: Signature) -> str | None:
    """A number where a register or another number stood."""
    text = statement(form, signature)
    start = len(form.name)
    found = [
        each
        for each in _HERE.finditer(text, start)
        if text[: each.start()].count("[") == text[: each.start()].count("]")
    ]
    if not found or text.startswith("{"):
        return None
    chosen = drawn.choice(found)
    return text[: chosen.start()] + str(drawn.choice(_NUMBERS)) + text[chosen.end() :]


def _same(drawn: random.Random, family: Family, form: Form, signature: Signature) -> str | None:
    return statement(form, signature)


_MAKERS: dict[Kind, Callable[[random.Random, Family, Form, Signature], str | None]] = {
    Kind.SLOT: _slot,
    Kind.TYPE: _type,
    Kind.COUNT: _count,
    Kind.RANGE: _range,
    Kind.ORDER: _order,
    Kind.TARGET: _same,
    Kind.VERSION: _same,
}


def neighbours(kind: Kind, count: int) -> list[Asked]:
    """That many statements one thing away from legal ones of the newest version, drawn alike each time."""
    drawn = random.Random(kind.value)
    made: dict[Asked, None] = {}
    for family, form, signature in legal(drawn, WIDE, 12):
        text = _MAKERS[kind](drawn, family, form, signature)
        if text is not None:
            on = drawn.choice(BELOW) if kind is Kind.TARGET else WIDE
            at = drawn.choice(EARLIER) if kind is Kind.VERSION else newest_version(on)
            if (
                kind not in (Kind.TARGET, Kind.VERSION)
                or not form.availability.holds(at, on)
                or drawn.random() < _ALLOWED
            ):
                made.setdefault(Asked(text, at, on))
        if len(made) == count:
            return list(made)
    raise AssertionError("the draw has no end")


def refused_by_us(texts: list[str], at: PtxVersion, on: Target) -> dict[int, str]:
    """Which statements the parser or the verifier refuses, by index, with its words."""
    said: dict[int, str] = {}
    for index, text in enumerate(texts):
        whole, first = module([text], at, on)
        try:
            reading = read(whole)
        except PtxSyntaxError as error:
            said[index] = str(error)
            continue
        for finding in (*reading.findings, *verify(reading.module)):
            here = finding.origin is not None and finding.origin.line == first
            if here and finding.code.partition(".")[0] in _JUDGED and finding.code != "register.repeated":
                said[index] = str(finding)
    return said
