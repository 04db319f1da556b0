"""Statements for forms: operands made from the slots, names enumerated or drawn from the rows."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping

from attrs import frozen

from isa.forms import Form, UnknownInstruction, resolve
from isa.operands import OneOf, OperandKind, OperandSlot, PowerOfTwo, Range, Signature
from isa.rows import Family, Line
from isa.types import Type

ONE = {"f16": "0x3c00", "f16x2": "0x3c003c00", "f32": "0f3f800000", "f64": "0d3ff0000000000000"}
MEMORY = {"param": "parameter", "param::entry": "parameter", "const": "constant_variable"}


@frozen
class Choice:
    """How to fill the slots: `immediates` puts constants where they may stand."""

    immediates: bool = False

    def register(self, slot: OperandSlot) -> Type:
        """The type itself, or the narrowest untyped register that is taken."""
        return min(slot.accepts, key=lambda each: (each is not slot.type, each.bits, each.name))


PLAIN, CONSTANTS = Choice(), Choice(immediates=True)


@frozen
class Spelled:
    """What a statement needs of a form; also for words that no form has."""

    name: str
    opcode: str
    words: Mapping[str, str]


def statement(
    form: Form | Spelled, signature: Signature, choice: Choice = PLAIN, alien: tuple[int, Type] | None = None
) -> str:
    """One statement of PTX, each operand in registers of its own; `alien` puts registers of a type into a place."""
    text, number = "", itertools.count()
    for place, slot in enumerate(signature.slots):
        if alien and alien[0] == place:
            said = _alien(slot, alien[1])
        else:
            said = operand(slot, form, choice, number)
        text += said if not text else f"|{said}" if slot.joined else f", {said}"
    whole = f"{form.name} {text};" if text else f"{form.name};"
    if form.words.get("space", "").startswith("param") and form.opcode == "st":
        return f"{{ .param .align 16 .b8 argument[64]; {whole} }}"
    if form.opcode == "brx.idx":
        return f"{{ LABELS: .branchtargets END; {whole} }}"
    return whole


def operand(slot: OperandSlot, form: Form | Spelled, choice: Choice, number: Iterator[int]) -> str:
    """Text that may stand in the slot."""
    match slot.kind:
        case OperandKind.VECTOR:
            return "{" + ", ".join(_register(slot, choice, number) for _ in range(slot.count)) + "}"
        case OperandKind.ADDRESS if form.opcode == "st" and form.words.get("space", "").startswith("param"):
            return "[argument]"
        case OperandKind.ADDRESS if slot.type is not None:
            return f"[%b{slot.type.bits}_39]"
        case OperandKind.ADDRESS:
            return f"[{MEMORY.get(form.words.get('space', ''), '%b64_39')}]"
        case OperandKind.COORDINATE:
            handles = "%b64_39, %b64_38" if slot.sampler else "%b64_39"
            return f"[{handles}, {{" + ", ".join(_register(slot, choice, number) for _ in range(slot.count)) + "}]"
        case OperandKind.BRACKET:
            return "[" + ", ".join(operand(part, form, choice, number) for part in slot.parts) + "]"
        case OperandKind.SINK:
            return "_"
        case OperandKind.SYMBOL:
            return "procedure"
        case OperandKind.LABEL if form.opcode == "brx.idx":
            return "LABELS"
        case OperandKind.LABEL:
            return "END"
        case OperandKind.PREDICATE:
            return f"%pred_{next(number)}"
        case OperandKind.IMMEDIATE:
            return str(_inside(slot))
        case _ if slot.partial or (choice.immediates and slot.selectors):
            return f"{_register(slot, choice, number)}.{slot.selectors[-1]}"
        case OperandKind.VALUE if choice.immediates and slot.immediates:
            return ONE.get(slot.type.name, str(_inside(slot))) if slot.type else str(_inside(slot))
        case _:
            return _register(slot, choice, number)


def _register(slot: OperandSlot, choice: Choice, number: Iterator[int]) -> str:
    return f"%{choice.register(slot).name}_{next(number)}"


def _inside(slot: OperandSlot) -> int:
    match slot.domain:
        case OneOf(values):
            return values[-1]
        case Range(_, high):
            return high
        case PowerOfTwo(low):
            return low
        case None:
            return 1


def names(family: Family, at_most: int, seed: int = 0) -> list[str]:
    """Legal names of a family: all of them if they are few, else about `at_most` drawn at random from its lines."""
    drawn = random.Random(seed)
    made: dict[str, None] = {}
    for line in family.lines:
        share = max(at_most // len(family.lines), 1)
        for words in _combinations(line, share, drawn):
            name = ".".join((family.opcode, *words))
            if _known(name):
                made.setdefault(name)
    return list(made)


def excluded(family: Family, at_most: int, seed: int = 0) -> list[str]:
    """Statements whose words fit a line but which a table or rule excludes."""
    drawn = random.Random(seed)
    made: dict[str, None] = {}
    for line in family.lines:
        for words in _combinations(line, max(at_most // len(family.lines), 1), drawn):
            name = ".".join((family.opcode, *words))
            if _known(name):
                continue
            spelled = Spelled(name, family.opcode, _assigned(line, words))
            made.update((statement(spelled, each), None) for each in line.signatures(spelled.words)[:1])
    return list(made)


def _alien(slot: OperandSlot, register: Type) -> str:
    said = [f"%{register.name}_{20 + index}" for index in range(slot.count)]
    if slot.kind is OperandKind.COORDINATE:
        return f"[{'%b64_39, %b64_38' if slot.sampler else '%b64_39'}, {{{', '.join(said)}}}]"
    return "{" + ", ".join(said) + "}" if slot.kind is OperandKind.VECTOR else said[0]


def _combinations(line: Line, at_most: int, drawn: random.Random) -> Iterator[tuple[str, ...]]:
    choices = [([""] if slot.optional else []) + list(slot.choices) for slot in line.slots]
    if math.prod(len(each) for each in choices) <= 2 * at_most:
        combinations: Iterator[tuple[str, ...]] = itertools.product(*choices)
    else:
        combinations = (tuple(_draw(each, drawn) for each in choices) for _ in range(2 * at_most))
    for combination in combinations:
        yield tuple(word for word in combination if word)


def _draw(choices: list[str], drawn: random.Random) -> str:
    return "" if not choices[0] and drawn.random() < 0.6 else drawn.choice(choices)


def _assigned(line: Line, words: tuple[str, ...]) -> dict[str, str]:
    chosen, left = {}, list(words)
    for slot in line.slots:
        if left and left[0] in slot.choices:
            chosen[slot.name] = left.pop(0)
    return chosen


def _known(name: str) -> bool:
    try:
        resolve(name)
    except UnknownInstruction:
        return False
    return True
