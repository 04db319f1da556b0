"""Registers, labels and symbols: declared once, and visible where they are used."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import field, frozen

from isa.types import Type
from ptxgen.errors import Finding, Severity
from ptxgen.ir import (
    Address,
    BranchTargets,
    Call,
    CallTargets,
    Function,
    Instruction,
    Int,
    Label,
    LabelName,
    Operand,
    Origin,
    Prototype,
    Register,
    Registers,
    Scope,
    Statement,
    SymbolAddress,
    Variable,
    registers_of,
)
from ptxgen.verify.steps import Numbers

_INDIRECT = "brx.idx"
_SPARSE = 4
_LISTS = BranchTargets, CallTargets, Prototype


@frozen
class _Room:
    """What one scope declares: numbered and single registers, labels, symbols."""

    ordinal: int
    families: dict[str, Registers] = field(factory=dict)
    labels: set[str] = field(factory=set)
    places: set[str] = field(factory=set)
    lists: dict[str, BranchTargets | CallTargets | Prototype] = field(factory=dict)
    symbols: set[str] = field(factory=set)


def name_findings(function: Function, symbols: frozenset[str], numbers: Numbers | None = None) -> Iterator[Finding]:
    """The findings on the names in a function; `symbols` are those of the module that it sees, `numbers` those of all
    that its instructions read and write, where that was looked at before."""
    if function.body is not None:
        parameters = (*function.parameters, *function.returns)
        own = {parameter.name for parameter in parameters}
        passed = [Registers(each.type, each.name, None, each.vector) for each in parameters if each.register]
        yield from _Names(symbols | own, passed, numbers).findings(function.body, ())


class _Names:
    def __init__(self, symbols: frozenset[str], passed: list[Registers], numbers: Numbers | None) -> None:
        self._symbols = symbols
        self._passed = passed
        self._numbers = numbers
        self._scopes = 0
        self._known: set[int] = set()

    def findings(self, scope: Scope, outer: tuple[_Room, ...]) -> Iterator[Finding]:
        """The findings in a scope and the scopes inside it, numbered in the order of the text."""
        room = _Room(self._scopes)
        if not outer:
            room.families.update((registers.name, registers) for registers in self._passed)
        self._scopes += 1
        rooms = (*outer, room)
        others = scope.besides_instructions()
        for statement in others:
            if isinstance(statement, (Label, *_LISTS)):
                if statement.name.name in room.labels:
                    yield _finding(
                        "label.duplicate", f"label {statement.name.name} is defined twice", _origin(statement)
                    )
                room.labels.add(statement.name.name)
                if isinstance(statement, Label):
                    room.places.add(statement.name.name)
            elif isinstance(statement, Variable):
                room.symbols.add(statement.name)
            elif isinstance(statement, Registers):
                room.families[statement.name] = statement
        self._clear(room, others)
        for statement in scope.statements:
            if statement.__class__ is Instruction:
                if statement.guard is not None or not self._known.issuperset(map(id, statement.operands)):
                    yield from self._instruction(statement, rooms)
            elif isinstance(statement, _LISTS):
                room.lists[statement.name.name] = statement
            elif isinstance(statement, Call):
                yield from self._call(statement, rooms)
            elif isinstance(statement, Scope):
                yield from self.findings(statement, rooms)

    def _clear(self, room: _Room, others: list[Statement]) -> None:
        """Knows all operands of registers alone, where the only scope of the function declares every register."""
        if self._numbers is None or not {Scope, Call}.isdisjoint(map(type, others)):
            return
        objects = self._numbers.objects
        if sum(each.count or 1 for each in room.families.values()) > _SPARSE * len(objects):
            return
        declared = _declared(room)
        if all(declared.get(register.name) is register.type for register in objects):
            self._known.update(self._numbers.of_registers_alone())

    def _instruction(self, instruction: Instruction, rooms: tuple[_Room, ...]) -> list[Finding]:
        found: list[Finding] = []
        known = self._known
        for operand in instruction.operands:
            if id(operand) in known or operand.__class__ is Int:
                continue
            if operand.__class__ is Register:
                found += self._register(instruction, operand, rooms)
            elif operand.__class__ is not tuple or not known.issuperset(map(id, operand)):
                found += self._operand(instruction, operand, rooms)
        guard = instruction.guard
        if guard is not None and id(guard.register) not in known:
            found += self._register(instruction, guard.register, rooms)
        return found

    def _call(self, call: Call, rooms: tuple[_Room, ...]) -> Iterator[Finding]:
        declared = () if call.declared is None else (call.declared,)
        for operand in (call.target, *call.returns, *call.arguments, *declared):
            yield from self._operand(call, operand, rooms)
        if call.guard is not None:
            yield from self._register(call, call.guard.register, rooms)

    def _operand(
        self, instruction: Instruction | Call, operand: Operand, rooms: tuple[_Room, ...]
    ) -> Iterator[Finding]:
        for register in registers_of(operand):
            yield from self._register(instruction, register, rooms)
        match operand:
            case LabelName():
                yield from _label(instruction, operand, rooms)
            case SymbolAddress(name=name) | Address(base=SymbolAddress(name=name)):
                if name not in self._symbols and not any(name in room.symbols for room in rooms):
                    yield _finding("symbol.unknown", f"{name} is not declared here", instruction.origin)
            case _:
                pass

    def _register(
        self, instruction: Instruction | Call, register: Register, rooms: tuple[_Room, ...]
    ) -> tuple[Finding, ...]:
        """Judges a register object once; the body keeps it alive, so its id stays its own."""
        if id(register) in self._known:
            return ()
        self._known.add(id(register))
        scope = register.scope
        room = next((each for each in rooms if each.ordinal == scope), None) if scope else rooms[0]
        declared = None if room is None else _declaration(register.name, room)
        if declared is not None and declared.type is register.type:
            return ()
        message = f"register {register.name} is not declared here"
        if declared is not None:
            message = f"register {register.name} is declared {declared.type}, not {register.type}"
        return (_finding("register.undeclared", message, instruction.origin),)


def _declared(room: _Room) -> dict[str, Type]:
    """The types of all registers that a scope declares, by their names; as `_declaration` finds them."""
    families = sorted(room.families.items(), key=lambda family: -len(family[0]))
    found = {f"{stem}{number}": each.type for stem, each in families for number in range(each.count or 0)}
    return found | {name: each.type for name, each in families if each.count is None}


def _declaration(name: str, room: _Room) -> Registers | None:
    single = room.families.get(name)
    if single is not None and single.count is None:
        return single
    stem = name.rstrip("0123456789")
    digits = name[len(stem) :]
    found = room.families.get(stem)
    if found is not None and digits and digits[0] != "0" and found.count is not None and int(digits) < found.count:
        return found
    while digits:
        family = room.families.get(stem)
        if (
            family is not None
            and family.count is not None
            and str(int(digits)) == digits
            and int(digits) < family.count
        ):
            return family
        stem, digits = stem + digits[0], digits[1:]
    return None


def _origin(statement: Label | BranchTargets | CallTargets | Prototype) -> Origin | None:
    return statement.origin if isinstance(statement, Label) else None


def _kind(instruction: Instruction | Call, label: LabelName, room: _Room) -> str:
    """Why a label that the room has is not what its use wants: a place, or a list or prototype before the use."""
    found = room.lists.get(label.name)
    if isinstance(instruction, Call):
        right, wanted = isinstance(found, CallTargets | Prototype), "prototype or .calltargets before the call"
    elif instruction.form.opcode == _INDIRECT:
        right, wanted = isinstance(found, BranchTargets), ".branchtargets before the branch"
    else:
        right, wanted = label.name in room.places, "place to branch to"
    return "" if right else f"label {label.name} is no {wanted}"


def _label(instruction: Instruction | Call, label: LabelName, rooms: tuple[_Room, ...]) -> Iterator[Finding]:
    room = next((room for room in rooms if room.ordinal == label.scope), None)
    if room is None:
        message = f"{label.name} lies in a scope that cannot be entered from here"
        yield _finding("label.scope", message, instruction.origin)
    elif label.name not in room.labels:
        yield _finding("label.unknown", f"label {label.name} has no place in the function", instruction.origin)
    elif message := _kind(instruction, label, room):
        yield _finding("label.kind", message, instruction.origin)


def _finding(code: str, message: str, origin: Origin | None) -> Finding:
    return Finding(code, Severity.ERROR, message, origin)
