"""Memory that nothing writes and is read, and memory that is promised not to change and does."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding, Severity
from ptxgen.ir import (
    Address,
    Call,
    Instruction,
    Int,
    Linkage,
    Operand,
    Register,
    Space,
    SymbolAddress,
    TensorCoordinate,
    Variable,
)
from ptxgen.verify.values import Values

_WRITING = ("st", "atom", "red")
_PLAIN = frozenset({Register, Int})


def read_only_findings(values: Values) -> Iterator[Finding]:
    """`memory.readonly`: `ld.global.nc` through a pointer that the same function stores through.

    An error where both surely name the same bytes, nothing where they surely do not, else a warning.
    """
    body = values.body
    loads = [
        index for index in body.by_opcode.get("ld", ()) if "nc" in body.flow.instructions[index].form.name.split(".")
    ]
    stores = [index for opcode in _WRITING for index in body.by_opcode.get(opcode, ()) if _to_global(values, index)]
    if not loads or not stores:
        return
    written: dict[str, list[int]] = {}
    for index in stores:
        for name in _pointers(values, index):
            written.setdefault(name, []).append(index)
    for index in loads:
        for name in sorted(_pointers(values, index) & written.keys()):
            meetings = [(_meet(values, index, store), store) for store in written[name]]
            possible = [(surely is not True, store) for surely, store in meetings if surely is not False]
            if possible:
                doubtful, store = min(possible)
                yield _read_only(values, index, name, store, Severity.WARNING if doubtful else Severity.ERROR)


def _read_only(values: Values, index: int, name: str, store: int, severity: Severity) -> Finding:
    instruction, write = values.body.flow.instructions[index], values.body.flow.instructions[store]
    message = f"{instruction.form.name} wants memory that stays as it is; {name} is written by {write}"
    return Finding("memory.readonly", severity, message, instruction.origin, None, (("the write", write.origin),))


def _meet(values: Values, one: int, other: int) -> bool | None:
    """Whether two accesses through one pointer have a byte in common; None where nobody can tell."""
    places = [_extent(values, each) for each in (one, other)]
    if places[0] is None or places[1] is None:
        return None
    (start, size), (begin, length) = places[0], places[1]
    return start < begin + length and begin < start + size


def _extent(values: Values, index: int) -> tuple[int, int] | None:
    """Bytes behind the pointer that a register was loaded with, and how many are accessed."""
    form, operands = values.body.flow.instructions[index].form, values.body.flow.instructions[index].operands
    address = next((each for each in operands if isinstance(each, Address)), None)
    if address is None or not form.has("type"):
        return None
    operand: Operand = address.base
    at, offset = index, address.offset
    while isinstance(operand, Register):
        made = values.definition(operand, at)
        if made is None:
            return None
        instruction, at = values.body.flow.instructions[made], made
        opcode, sources = instruction.form.opcode, instruction.operands[1:]
        if opcode == "ld":
            return offset, form.type_of().bits // 8 * int(form.words.get("vec", "v1")[1:])
        if opcode == "add" and len(sources) == 2 and isinstance(sources[1], Int):
            offset += sources[1].value
        elif opcode not in ("mov", "cvta"):
            return None
        operand = sources[0]
    return None


def _to_global(values: Values, index: int) -> bool:
    return values.body.flow.instructions[index].form.words.get("space", "global") == "global"


def _pointers(values: Values, index: int) -> frozenset[str]:
    operands = values.body.flow.instructions[index].operands
    address = next((each for each in operands if isinstance(each, Address)), None)
    found = frozenset[str]() if address is None else values.roots(address.base, index)
    return found if len(found) == 1 else frozenset()


def unwritten_findings(values: Values) -> Iterator[Finding]:
    """`uninitialised.memory`: loads from a shared or local variable of a function that it does nothing else with."""
    nodes = values.body.statements
    own = [
        each for each in values.body.others if isinstance(each, Variable) and each.space in (Space.SHARED, Space.LOCAL)
    ]
    names = {each.name for each in own if each.linkage is not Linkage.EXTERN and each.initial is None}
    names = {name for name in names if sum(each.name == name for each in own) == 1}
    read: dict[str, Instruction] = {}
    for node in nodes:
        if isinstance(node, Instruction):
            _look(node, names, read)
        elif isinstance(node, Call):
            names -= {each.name for each in (*node.arguments, *node.returns) if isinstance(each, SymbolAddress)}
        if not names:
            return
    for name, instruction in read.items():
        if name in names:
            message = f"{instruction} reads {name}, which nothing writes"
            yield Finding("uninitialised.memory", Severity.ERROR, message, instruction.origin)


def _look(instruction: Instruction, names: set[str], read: dict[str, Instruction]) -> None:
    """Forgets the names that an instruction does anything with but load."""
    for operand in instruction.operands:
        if operand.__class__ in _PLAIN:
            continue
        for name in _named(operand):
            if name in names:
                if instruction.form.opcode == "ld" and isinstance(operand, Address):
                    read.setdefault(name, instruction)
                else:
                    names.discard(name)


def _named(operand: Operand) -> Iterator[str]:
    match operand:
        case SymbolAddress(name=name) | Address(base=SymbolAddress(name=name)):
            yield name
        case TensorCoordinate(map=SymbolAddress(name=name)):
            yield name
        case tuple():
            for each in operand:
                yield from _named(each)
        case _:
            pass
