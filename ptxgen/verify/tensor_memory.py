"""Tensor memory: allocated and given back, and its asynchronous accesses waited for."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from isa.forms import Form
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Address, FunctionKind, Instruction, Register, registers_of
from ptxgen.verify.body import states
from ptxgen.verify.values import Place, Values

_COLUMNS = 512
_WAITS = ("mbarrier.try_wait", "mbarrier.test_wait")
_ASYNCHRONOUS = ("mma", "cp", "shift")


@frozen
class _Relinquished:
    """The CTA has given up its right to allocate."""


@frozen
class _Freed:
    """The memory behind the register of that number has been given back."""

    number: int


@frozen
class _Loading:
    """The load at `index` may not have written its registers yet."""

    index: int


@frozen
class _Multiplying:
    """The multiply at `index` may not have written its result yet."""

    place: Place
    index: int


_Fact = _Relinquished | _Freed | _Loading | _Multiplying


def tensor_memory_findings(values: Values) -> Iterator[Finding]:
    """`tcgen05.` with `dealloc`, `relinquish`, `columns`, `commit`, `wait`, `early`, `group`."""
    body = values.body
    indices = sorted(each for opcode in body.by_opcode if _family(opcode) for each in body.by_opcode[opcode])
    if not indices:
        return
    if body.function.kind is FunctionKind.ENTRY and values.effects.known:
        yield from _missing(values, indices)
    yield from _columns(values, indices)
    yield from _groups(values, indices)
    yield from _paths(values, indices)


def _family(opcode: str) -> bool:
    return opcode.partition(".")[0] == "tcgen05"


def what(form: Form) -> str:
    """What a tcgen05 instruction does, as the word behind its family: `alloc`, `ld`, `mma`, `wait::ld`."""
    words = form.name.split(".")
    return words[1] if words[0] == "tcgen05" else ""


def _at(instruction: Instruction, code: str, message: str) -> Finding:
    return Finding(code, Severity.ERROR, f"{instruction.form.name}: {message}", instruction.origin)


def _missing(values: Values, indices: list[int]) -> Iterator[Finding]:
    """What a kernel and all that it calls begin and never end."""
    done = {what(form) for form in values.effects.forms}
    first: dict[str, Instruction] = {}
    for index in indices:
        instruction = values.body.flow.instructions[index]
        first.setdefault(what(instruction.form), instruction)
    if "alloc" in first and "dealloc" not in done:
        yield _at(first["alloc"], "tcgen05.dealloc", "nothing in the kernel gives the memory back (tcgen05.dealloc)")
    if "st" in first and "wait::st" not in done:
        yield _at(first["st"], "tcgen05.wait", "nothing in the kernel waits for it (tcgen05.wait::st)")
    begun = next((first[each] for each in _ASYNCHRONOUS if each in first), None)
    if begun is not None and "commit" not in done:
        yield _at(begun, "tcgen05.commit", "nothing in the kernel tells of its end (tcgen05.commit)")


def _columns(values: Values, indices: list[int]) -> Iterator[Finding]:
    """Columns given back against those allocated, where all are known."""
    instructions = values.body.flow.instructions
    asked = [values.constant(instructions[each].operands[1], each) for each in indices if _is(values, each, "alloc")]
    known = [each for each in asked if each is not None]
    for index in indices:
        if not _is(values, index, "dealloc"):
            continue
        given = values.constant(instructions[index].operands[1], index)
        if known and len(known) == len(asked) and given is not None and given not in known:
            message = f"gives back {given} columns; allocated are {', '.join(map(str, sorted(set(known))))}"
            yield _at(instructions[index], "tcgen05.columns", message)
    if sum(known) > _COLUMNS and not any(_is(values, each, "dealloc") and each < indices[-1] and
                                         _before_alloc(values, each, indices) for each in indices):  # fmt: skip
        last = max(each for each in indices if _is(values, each, "alloc"))
        message = f"{sum(known)} columns are asked for together; a CTA has {_COLUMNS}"
        yield _at(instructions[last], "tcgen05.columns", message)


def _before_alloc(values: Values, index: int, indices: list[int]) -> bool:
    return any(each > index and _is(values, each, "alloc") for each in indices)


def _is(values: Values, index: int, word: str) -> bool:
    return what(values.body.flow.instructions[index].form) == word


def _groups(values: Values, indices: list[int]) -> Iterator[Finding]:
    """One CTA and pairs of CTAs in one kernel."""
    first: str | None = None
    for index in indices:
        instruction = values.body.flow.instructions[index]
        group = instruction.form.words.get("cta_group")
        if group is not None and first is not None and group != first:
            yield _at(instruction, "tcgen05.group", f"stands in a function with .{first}; one kernel has one of them")
            return
        first = first or group


def _paths(values: Values, indices: list[int]) -> Iterator[Finding]:
    body = values.body
    instructions = body.flow.instructions
    here = frozenset(indices)
    loaded = {
        index: frozenset(map(body.numbers.number, registers_of(instructions[index].operands[0])))
        for index in indices
        if _is(values, index, "ld")
    }
    watched = frozenset().union(*loaded.values())

    def after(facts: frozenset[_Fact], index: int) -> frozenset[_Fact]:
        written = body.steps[index].writes
        if written and facts:
            facts = frozenset(each for each in facts if not _renewed(each, written))
        if index in here:
            return _behind(values, facts, index)
        if body.flow.instructions[index].form.opcode in _WAITS or index in body.calls:
            return frozenset(each for each in facts if not isinstance(each, _Multiplying))
        return facts

    said: set[int] = set()
    for index, facts in states(body.flow, frozenset(), after, range(len(instructions)), range(len(instructions))):
        found = _wrong(values, index, facts, loaded, watched) if facts else None
        if found is not None and index not in said:
            said.add(index)
            yield _at(instructions[index], *found)


def _renewed(fact: _Fact, written: tuple[int, ...]) -> bool:
    match fact:
        case _Freed(number=number):
            return number in written
        case _Multiplying(place=place):
            return place.base in written
        case _:
            return False


def _behind(values: Values, facts: frozenset[_Fact], index: int) -> frozenset[_Fact]:
    instruction = values.body.flow.instructions[index]
    match what(instruction.form):
        case "relinquish_alloc_permit":
            return facts | {_Relinquished()}
        case "alloc":
            return frozenset(each for each in facts if not isinstance(each, _Freed))
        case "dealloc" if isinstance(address := instruction.operands[0], Register) and instruction.guard is None:
            return facts | {_Freed(values.body.numbers.number(address))}
        case "ld":
            return facts | {_Loading(index)}
        case "wait::ld":
            return frozenset(each for each in facts if not isinstance(each, _Loading))
        case "mma":
            result = instruction.operands[0]
            place = values.place(result, index, 1) if isinstance(result, Address) else None
            return facts if place is None else facts | {_Multiplying(place, index)}
        case _:
            return facts


def _order(fact: _Fact) -> tuple[str, int, int]:
    return fact.__class__.__name__, getattr(fact, "index", 0), getattr(fact, "number", 0)


def _wrong(
    values: Values, index: int, facts: frozenset[_Fact], loaded: dict[int, frozenset[int]], watched: frozenset[int]
) -> tuple[str, str] | None:
    body = values.body
    instruction, step = body.flow.instructions[index], body.steps[index]
    does = what(instruction.form)
    if does == "alloc" and _Relinquished() in facts:
        return "tcgen05.relinquish", "on some path tcgen05.relinquish_alloc_permit stands before it"
    touched = watched.intersection(step.reads + step.writes) if watched else frozenset()
    for fact in sorted(facts, key=_order):
        match fact:
            case _Freed(number=number) if does not in ("", "alloc") and number in step.reads:
                return "tcgen05.dealloc", f"{body.numbers.registers[number].name} has been given back on some path"
            case _Loading(index=made) if made != index and (common := touched & loaded[made]):
                name = min(body.numbers.registers[each].name for each in common)
                return "tcgen05.early", f"{name} comes from a tcgen05.ld that no tcgen05.wait::ld has waited for"
            case _Multiplying(place=place, index=made) if does == "ld" and _reads(values, index, place):
                name = body.flow.instructions[made].form.name
                return "tcgen05.wait", f"no mbarrier has told on some path that {name} is done"
            case _:
                pass
    return None


def _reads(values: Values, index: int, place: Place) -> bool:
    address = values.body.flow.instructions[index].operands[1]
    return isinstance(address, Address) and values.place(address, index, 1) == place
