"""From a dotted name to the forms it may mean, and what may follow a prefix of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from attrs import field, frozen

from isa.availability import Availability
from isa.instructions import FAMILIES
from isa.operands import Signature
from isa.rows import Family, Line, Slot
from isa.targets import PtxVersion, Target
from isa.types import Type, type_named

_LISTED = 40


class UnknownInstruction(LookupError):
    """No row matches a name.

    `word` is the one that did not fit (empty if the name ends too early), `possible` what could stand there,
    `reason` the table or rule that excludes the combination, `reordered` the name in the right order.
    """

    def __init__(self, name: str, word: str, possible: tuple[str, ...], reason: str = "", reordered: str = "") -> None:
        self.name, self.word, self.possible, self.reason, self.reordered = name, word, possible, reason, reordered
        super().__init__(name, word, possible, reason, reordered)

    def __str__(self) -> str:
        if self.reordered:
            return f"{self.name}: modifiers in wrong order, write {self.reordered}"
        if self.reason:
            return f"{self.name}: {self.reason}"
        what = f"{self.word!r} cannot stand there" if self.word else "incomplete"
        if len(self.possible) > _LISTED:
            close = get_close_matches(self.word, self.possible, n=6, cutoff=0.5)
            return f"{self.name}: {what}" + (f"; perhaps: {', '.join(close)}" if close else "")
        return f"{self.name}: {what}; possible: {', '.join(each or '(end)' for each in self.possible)}"


@frozen(eq=False)
class Form:
    """One meaning of one name: interned, compared by identity, pickled through `resolve`.

    `words` maps slot names to words in the order written (empty slots are not in it). `index` is its place among
    the candidates of the name.
    """

    name: str
    opcode: str
    words: Mapping[str, str]
    signatures: tuple[Signature, ...]
    availability: Availability
    index: int = field(repr=False)
    line: Line = field(repr=False)

    def type_of(self, slot: str = "type") -> Type:
        """The type named by the word in that slot; KeyError where the slot is empty."""
        return type_named(self.words[slot])

    def has(self, slot: str) -> bool:
        """True if the slot holds a word."""
        return slot in self.words

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _form, (self.name, self.index)

    def __copy__(self) -> Form:
        return self

    def __deepcopy__(self, memo: object) -> Form:
        return self


class Candidates(tuple[Form, ...]):
    """The forms a name may mean, in the order of the rows; told apart by target, operand count and kinds."""

    name: str
    availability: Availability

    def on(self, at: PtxVersion, target: Target) -> tuple[Form, ...]:
        """The forms that PTX `at` has for this target."""
        return tuple(form for form in self if form.availability.holds(at, target))


_RESOLVED: dict[str, Candidates] = {}


def resolve(name: str) -> Candidates:
    """The forms of a dotted name such as `"mad.lo.u32"`, at least one; UnknownInstruction says what was wrong."""
    found = _RESOLVED.get(name)
    return found if found is not None else _RESOLVED.setdefault(name, _match(name))


def _form(name: str, index: int) -> Form:
    return resolve(name)[index]


def _match(name: str) -> Candidates:
    words = tuple(name.split("."))
    trace = _Trace()
    made: list[Form] = []
    for family, start in _families(words):
        for line in family.lines:
            for chosen in _walk(line.slots, words, 0, start, {}, trace):
                since = _availability(family, line, chosen, trace)
                if since is None:
                    continue
                signatures = line.signatures(chosen)
                _collect(made, Form(name, family.opcode, MappingProxyType(chosen), signatures, since, len(made), line))
    if not made:
        raise _unknown(name, words, trace)
    candidates = Candidates(made)
    candidates.name = name
    candidates.availability = made[0].availability
    for form in made[1:]:
        candidates.availability = candidates.availability | form.availability
    return candidates


def _collect(made: list[Form], form: Form) -> None:
    for place, other in enumerate(made):
        if other.words == form.words and other.signatures == form.signatures:
            either = other.availability | form.availability
            made[place] = Form(form.name, form.opcode, other.words, other.signatures, either, other.index, other.line)
            return
    made.append(form)


class _Trace:
    """Where matching got furthest and what it wanted there."""

    def __init__(self) -> None:
        self.place = 0
        self.possible: dict[str, None] = {}
        self.reason = ""

    def wanted(self, place: int, words: Iterator[str] | Mapping[str, object] | tuple[str, ...]) -> None:
        if place > self.place:
            self.place, self.possible = place, {}
        if place == self.place:
            self.possible.update(dict.fromkeys(words))


def _families(words: tuple[str, ...]) -> Iterator[tuple[Family, int]]:
    for family in FAMILIES.get(words[0], ()):
        opcode = tuple(family.opcode.split("."))
        if words[: len(opcode)] == opcode:
            yield family, len(opcode)


def _walk(
    slots: tuple[Slot, ...], words: tuple[str, ...], at: int, place: int, chosen: dict[str, str], trace: _Trace
) -> Iterator[dict[str, str]]:
    if at == len(slots):
        if place == len(words):
            yield dict(chosen)
        else:
            trace.wanted(place, ("",))
        return
    slot = slots[at]
    if place < len(words) and words[place] in slot.choices:
        chosen[slot.name] = words[place]
        yield from _walk(slots, words, at + 1, place + 1, chosen, trace)
        del chosen[slot.name]
    else:
        trace.wanted(place, slot.choices)
    if slot.optional:
        yield from _walk(slots, words, at + 1, place, chosen, trace)


def _availability(family: Family, line: Line, chosen: dict[str, str], trace: _Trace) -> Availability | None:
    since = line.since
    for slot in line.slots:
        if slot.name in chosen:
            since = since & slot.choices[chosen[slot.name]]
    for constraint in (*line.constraints, *family.rules):
        judged = constraint.judge(chosen)
        if judged is None:
            trace.reason = trace.reason or constraint.reason(chosen)
            return None
        since = since & judged
    if since.terms:
        return since
    trace.reason = trace.reason or "no target has this combination"
    return None


def _unknown(name: str, words: tuple[str, ...], trace: _Trace) -> UnknownInstruction:
    if trace.reason:
        return UnknownInstruction(name, "", (), trace.reason)
    if not any(_families(words)):
        known = sorted(each.opcode for each in FAMILIES.get(words[0], ())) or sorted(FAMILIES)
        return UnknownInstruction(name, words[0], tuple(known))
    if reordered := _reordered(words):
        return UnknownInstruction(name, "", (), reordered=reordered)
    word = words[trace.place] if trace.place < len(words) else ""
    return UnknownInstruction(name, word, tuple(trace.possible))


def _reordered(words: tuple[str, ...]) -> str:
    for family, start in _families(words):
        for line in family.lines:
            left = list(words[start:])
            ordered: list[str] = []
            for slot in line.slots:
                fitting = next((each for each in left if each in slot.choices), None)
                if fitting is not None:
                    ordered.append(fitting)
                    left.remove(fitting)
            name = ".".join((family.opcode, *ordered))
            if not left and tuple(name.split(".")) != words and _legal(name):
                return name
    return ""


def _legal(name: str) -> bool:
    words = tuple(name.split("."))
    trace = _Trace()
    return any(
        _availability(family, line, chosen, trace)
        for family, start in _families(words)
        for line in family.lines
        for chosen in _walk(line.slots, words, 0, start, {}, trace)
    )


_CONTINUED: dict[tuple[str, ...], tuple[str, ...]] = {}


def continuations(prefix: tuple[str, ...]) -> tuple[str, ...]:
    """The words that may follow the words of `prefix`, sorted; `""` among them if the name may end there.

    `continuations(())` are the opcodes' first words. Only words that lead to some legal name are given.
    """
    known = _CONTINUED.get(prefix)
    if known is None:
        known = _CONTINUED[prefix] = tuple(sorted(_following(prefix)))
    return known


def _following(prefix: tuple[str, ...]) -> set[str]:
    if not prefix:
        return set(FAMILIES)
    found: set[str] = set()
    for family in FAMILIES.get(prefix[0], ()):
        opcode = tuple(family.opcode.split("."))
        if len(prefix) < len(opcode):
            if opcode[: len(prefix)] == prefix:
                found.add(opcode[len(prefix)])
        elif prefix[: len(opcode)] == opcode:
            for line in family.lines:
                found |= _next_words(family, line, prefix, 0, len(opcode), {})
    return found


def _next_words(
    family: Family, line: Line, prefix: tuple[str, ...], at: int, place: int, chosen: dict[str, str]
) -> set[str]:
    if at == len(line.slots):
        return {""} if place == len(prefix) and _open(family, line, at, chosen) else set()
    slot = line.slots[at]
    found: set[str] = set()
    if place == len(prefix):
        found |= {each for each in slot.choices if _open(family, line, at + 1, {**chosen, slot.name: each})}
    elif prefix[place] in slot.choices:
        found |= _next_words(family, line, prefix, at + 1, place + 1, {**chosen, slot.name: prefix[place]})
    if slot.optional:
        found |= _next_words(family, line, prefix, at + 1, place, chosen)
    return found


def _open(family: Family, line: Line, at: int, chosen: dict[str, str]) -> bool:
    """Whether some words for the slots from `at` on make a legal name; slots that no rule names do not branch."""
    rules = (*line.constraints, *family.rules)
    named = {name for each in rules for name in each.names}
    later = {slot.name for slot in line.slots[at:]}
    if any(each.judge(chosen, frozenset(named - later)) is None for each in rules):
        return False
    if at == len(line.slots):
        return _availability(family, line, chosen, _Trace()) is not None
    slot = line.slots[at]
    if slot.optional and _open(family, line, at + 1, chosen):
        return True
    if slot.name not in named:
        return any(_open(family, line, at + 1, {**chosen, slot.name: each}) for each in list(slot.choices)[:1])
    return any(_open(family, line, at + 1, {**chosen, slot.name: each}) for each in slot.choices)


def families() -> tuple[Family, ...]:
    """All families, in the order of the chapters."""
    return tuple(family for group in FAMILIES.values() for family in group)
