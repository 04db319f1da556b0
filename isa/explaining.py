"""Finds out what a name of PTX means: instructions, special registers, directives, state spaces, types, modifiers."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from isa.availability import ALWAYS, Availability
from isa.choices import OpenLine, open_lines
from isa.derive import Derivation
from isa.explanation import (
    ExplainedForm,
    ExplainedOperand,
    ExplainedTable,
    Explanation,
    Subject,
    UnknownName,
)
from isa.forms import continuations, families
from isa.instructions import FAMILIES
from isa.manual import DIRECTIVE_WORDS, SPACE_WORDS, DottedWord, section, section_of_type
from isa.rows import Family, Operand
from isa.special import SPECIAL_REGISTERS, SpecialRegister
from isa.targets import Target
from isa.targets import target as target_named
from isa.types import TYPES, Kind, Type


def explain(name: str, *, target: Target | str | None = None) -> Explanation:
    """What a name means: `mma.sync` or any other beginning of an instruction, `%tid.x`, `.reqntid`, `.shared`, `.f32`,
    and those without their first character where no instruction has the name.

    Of an instruction, with a target, only the forms and words that it has in some PTX version; none where it has none.
    UnknownName has names that are spelled alike, UnknownTarget those that there are.
    """
    on = target_named(target) if isinstance(target, str) else target
    if name.startswith("%"):
        return _special(name)
    if name.startswith("."):
        return _dotted(name)
    words = tuple(name.split("."))
    if words[0] not in FAMILIES:
        if name in _BARE:
            return explain(_BARE[name])
        raise UnknownName(name, f"no instruction begins with {words[0]!r}", _close(name))
    return _instruction(name, words, on)


def _with_sigils() -> list[str]:
    """The names of everything but instructions, as PTX spells them; where two are alike without, the later counts."""
    named = [f"%{each.name.partition('.')[0]}" for each in SPECIAL_REGISTERS] + [
        str(each) for each in SPECIAL_REGISTERS
    ]
    dotted = [*(each.name for each in TYPES), *(word.name for word in (*SPACE_WORDS, *DIRECTIVE_WORDS))]
    return [*named, *(f".{name}" for name in dotted)]


_PARTS = 8
_BARE = {name.lstrip("%."): name for name in _with_sigils()}


def _instruction(name: str, words: tuple[str, ...], on: Target | None) -> Explanation:
    for count in range(1, len(words)):
        possible = continuations(words[:count])
        if words[count] not in possible:
            before = ".".join(words[:count])
            near = tuple(f"{before}.{each}" for each in get_close_matches(words[count], possible, n=5, cutoff=0.5))
            known = ", ".join(each or "the end" for each in possible[:30])
            reason = f"{words[count]!r} cannot stand behind {before}"
            raise UnknownName(name, reason if near else f"{reason}; possible: {known}", near)
    found = [family for family in FAMILIES[words[0]] if words[: len(_split(family.opcode))] == _split(family.opcode)]
    lines = [line for family in found for line in open_lines(family, words, on)]
    further = [each for each in families() if _split(each.opcode)[: len(words)] == words and each not in found]
    beyond = [OpenLine(each, line, 0, {}, on) for each in further for line in each.lines]
    own = tuple(dict.fromkeys(line.family for line in lines))
    return Explanation(
        name,
        Subject.INSTRUCTION,
        "; ".join(dict.fromkeys(each.about for each in own if each.about)),
        _sections(own or tuple(further)),
        _either([line.availability for line in lines or beyond]),
        tuple(_form(line) for line in lines),
        continuations(words),
        tuple((each.opcode, each.about) for each in further),
    )


def _sections(found: tuple[Family, ...]) -> str:
    opcodes: dict[str, dict[str, None]] = {}
    for family in found:
        opcodes.setdefault(section(family), {})[family.opcode] = None
    return "; ".join(f"{title}: {', '.join(names)}" for title, names in opcodes.items())


def _split(opcode: str) -> tuple[str, ...]:
    return tuple(opcode.split("."))


def _either(where: list[Availability]) -> Availability:
    found = where[0] if where else ALWAYS
    for each in where[1:]:
        found = found | each
    return found


def _form(line: OpenLine) -> ExplainedForm:
    return ExplainedForm(
        line.spelling(),
        line.availability,
        tuple(line.open_choices()),
        tuple(_operand(each, line) for each in line.line.operands if line.may_stand(each)),
        tuple(line.dated()),
        tuple(ExplainedTable(slots, rows) for slots, rows in line.combinations()),
    )


def _operand(operand: Operand, line: OpenLine) -> ExplainedOperand:
    notes = []
    if operand.count:
        count = _told(operand.count, line)
        notes += [] if count in ("0", "1") else [f"{count} elements"]
    if operand.domain is not None:
        notes.append(_told(operand.domain, line))
    told_special = _told(operand.special, line)
    noted = {
        "may be left out": operand.optional, "may be wider": operand.wide, "untyped registers only": operand.untyped,
        "may be negated": operand.negatable, "may be _": operand.sink is True, "behind a bar": operand.joined,
        "or a special register": told_special == "True", "or the address of a variable": operand.symbol,
        "or a constant": operand.immediates, "may have a minus": operand.minus, "a part must be named": operand.partial,
    }  # fmt: skip
    notes += [note for note, holds in noted.items() if holds]
    if told_special not in ("True", "False"):
        notes.append(f"or a special register where {told_special}")
    if operand.selectors:
        notes.append(_parts(operand.selectors))
    if operand.when:
        notes.append(f"with {' '.join(f'<{each}>' for each in operand.when)}")
    type_ = "" if operand.type is None else _told(operand.type, line)
    return ExplainedOperand(operand.name, operand.role, operand.kind, type_, tuple(notes))


def _parts(selectors: tuple[str, ...]) -> str:
    shown = " ".join(f".{each}" for each in selectors[:_PARTS])
    return f"parts {shown}" + (f" and {len(selectors) - _PARTS} more" if len(selectors) > _PARTS else "")


def _told(fact: object, line: OpenLine) -> str:
    """A type, a count or a domain: its value where the words decide it, else what it depends on."""
    if not isinstance(fact, Derivation):
        return f".{fact}" if isinstance(fact, Type) else str(fact)
    if not any(line.is_open(str(each)) for each in fact.arguments):
        try:
            return _told(fact.of(line.forced()), line)
        except (KeyError, ValueError, IndexError):
            pass
    if fact.name == "counted":
        _, counts, otherwise = fact.arguments
        return ", ".join([str(otherwise), *(f"with .{word} {count}" for word, count in counts)])
    spelled = _PHRASES.get(fact.name)
    if spelled is not None:
        return spelled.format(*fact.arguments)
    return f"{fact.name.replace('_', ' ')} {' '.join(map(str, fact.arguments))}".rstrip()


_PHRASES = {
    "by": "<{0}>", "whole": "<{0}> is an integer",
    "by_unless": "<{0}>", "doubled": "twice <{0}>", "vector_count": "as many as <{0}> says",
    "fragment_type": "the type of the fragment of {0}", "fragment_count": "as many as the fragment of {0} has",
    "multiplicand_type": "what holds <{0}>", "warpgroup_count": "as many as the fragment has",
    "wmma_type": "the type of the fragment of {0}", "wmma_count": "as many as the fragment of {0} has",
}  # fmt: skip


def _special(name: str) -> Explanation:
    asked = name.removeprefix("%")
    found = [each for each in SPECIAL_REGISTERS if each.name == asked or each.name.partition(".")[0] == asked]
    if not found:
        known = [str(each) for each in SPECIAL_REGISTERS]
        raise UnknownName(name, f"no special register is called {name}", tuple(get_close_matches(name, known, n=5)))
    first, parts = found[0], len(found) > 1
    return Explanation(
        name,
        Subject.SPECIAL_REGISTER,
        f"{'components' if parts else 'a value'} of type .{first.type}, {_stability(first)}",
        f"Special Registers: %{asked.partition('.')[0]}",
        first.availability,
        longer=tuple((str(each), f".{each.type}") for each in found) if parts else (),
    )


def _stability(register: SpecialRegister) -> str:
    if register.volatile:
        return "two reads by one thread may differ"
    return "each thread has its own" if register.shared_by == "thread" else f"the same for a whole {register.shared_by}"


def _dotted(name: str) -> Explanation:
    asked = name.removeprefix(".")
    for words, subject in ((DIRECTIVE_WORDS, Subject.DIRECTIVE), (SPACE_WORDS, Subject.SPACE)):
        for word in words:
            if word.name == asked:
                return _word(word, subject)
    for type_ in TYPES:
        if type_.name == asked:
            return Explanation(name, Subject.TYPE, _type(type_), section_of_type(type_), ALWAYS, notes=_takes(type_))
    users = tuple(dict.fromkeys(_users(asked)))
    if not users:
        raise UnknownName(name, f"no directive, state space, type or modifier is called {name}", _close(name))
    about = f"a modifier of {', '.join(users[:40])}{', ...' if len(users) > 40 else ''}"
    return Explanation(name, Subject.MODIFIER, about, "Instruction Set", ALWAYS)


def _word(word: DottedWord, subject: Subject) -> Explanation:
    notes = (f"written: {word.syntax}",)
    return Explanation(f".{word.name}", subject, word.about, word.section, word.availability, notes=notes)


_KINDS = {
    Kind.BITS: "untyped",
    Kind.UNSIGNED: "unsigned integer",
    Kind.SIGNED: "signed integer",
    Kind.FLOAT: "floating point",
}


def _type(type_: Type) -> str:
    if type_.kind is Kind.PREDICATE:
        return "a predicate: true or false"
    packed = f", {type_.lanes} lanes of {type_.bits // type_.lanes}" if type_.lanes > 1 else ""
    return f"{_KINDS[type_.kind]}, {type_.bits} bits{packed}"


def _takes(type_: Type) -> tuple[str, ...]:
    accepted = " ".join(f".{each}" for each in TYPES if each in type_.accepts)
    declared = ".reg may declare it" if type_.register else "no register has it: registers of bits hold it"
    return (declared, f"an operand of this type takes registers of {accepted}") if accepted else (declared,)


def _users(word: str) -> Iterator[str]:
    for family in families():
        if any(word in slot.choices for line in family.lines for slot in line.slots):
            yield family.opcode


def _close(name: str) -> tuple[str, ...]:
    """Names that are spelled like one that is not known, without regard to its first character."""
    known = [*_with_sigils(), *sorted({family.opcode for family in families()})]
    bare: dict[str, list[str]] = {}
    for each in known:
        bare.setdefault(each.lstrip(".%").lower(), []).append(each)
    near = get_close_matches(name.lstrip(".%").lower(), bare, n=6, cutoff=0.6)
    return tuple(dict.fromkeys(spelled for each in near for spelled in bare[each]))[:8]
