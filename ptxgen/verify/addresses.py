"""Addresses that are known against what is declared: in bounds, aligned, of the space."""

from __future__ import annotations

from collections.abc import Iterator

from isa.operands import OperandSlot
from ptxgen.errors import Finding, Severity
from ptxgen.ir import (
    Address,
    Instruction,
    Int,
    Linkage,
    Operand,
    Parameter,
    Space,
    SymbolAddress,
    TensorCoordinate,
    Variable,
    operand_text,
    signature_of,
)
from ptxgen.verify.values import Pointer, Values

_ACCESSES = frozenset({"ld", "ldu", "st", "atom", "red"})
_STORES = frozenset({"st", "atom", "red"})
_ROWS = frozenset({"ldmatrix", "stmatrix"})
_LINES = frozenset({"discard", "applypriority"})
_BARRIER_BYTES, _ROW_BYTES, _BULK_ALIGN, _LINE_BYTES = 8, 16, 16, 128
_MAP_BYTES, _MAP_ALIGN, _TILE_ALIGN = 128, 64, 128
_UNIFORM_PREFETCH = "prefetchu"
_PREFETCHES = frozenset({"prefetch", _UNIFORM_PREFETCH})
_SPACED = _ACCESSES | _ROWS | _LINES | _PREFETCHES
_CONVERSION = "cvta"


def address_findings(values: Values) -> Iterator[Finding]:
    """The findings on accesses whose variable and offset are known: `memory.bounds`, `.alignment`, `.space`.

    What is known are symbols and registers that hold a symbol's address plus a constant. An alignment that the
    declaration does not promise is a warning, but for parameters and what is declared elsewhere.
    """
    body = values.body
    for opcode, indices in body.by_opcode.items():
        if opcode in _SPACED or opcode.startswith(("mbarrier.", "cp.")):
            for index in indices:
                yield from _instruction(values, index)
    for index in body.by_opcode.get(_CONVERSION, ()):
        yield from _conversion(values, index)
    for opcode, indices in body.by_opcode.items():
        for index in indices if opcode.startswith("cp.") and opcode.endswith(".tensor") else ():
            yield from _tensor_map(values, index)


def _conversion(values: Values, index: int) -> Iterator[Finding]:
    """`cvta` of an address that is generic already, or not yet, or of another space than it names."""
    instruction = values.body.flow.instructions[index]
    if len(instruction.operands) != 2:
        return
    found = values.pointer(instruction.operands[1], index)
    if found is None or _in(found.variable) is Space.GLOBAL:
        return
    declared, named = _in(found.variable).value, instruction.form.words.get("space", "").partition("::")[0]
    wrong = ""
    if instruction.form.has("to") and not found.generic:
        wrong = f"wants a generic address; {operand_text(instruction.operands[1])} is one in .{declared}"
    elif not instruction.form.has("to") and found.generic:
        wrong = f"wants an address in .{named}; {operand_text(instruction.operands[1])} is a generic one"
    elif named != declared:
        wrong = f"names .{named}; {found.variable.name} is in .{declared}"
    if wrong:
        yield Finding("memory.space", Severity.ERROR, f"{instruction.form.name} {wrong}", instruction.origin)


def _tensor_map(values: Values, index: int) -> Iterator[Finding]:
    """A tensor map that is a variable or parameter of too few bytes, or on another boundary than maps want."""
    instruction = values.body.flow.instructions[index]
    operand = next((each for each in instruction.operands if isinstance(each, TensorCoordinate)), None)
    found = None if operand is None else values.pointer(operand.map, index)
    if found is None:
        return
    variable, size = found.variable, _size(found.variable)
    if operand is not None and isinstance(operand.map, SymbolAddress) and isinstance(variable, Parameter):
        message = f"{instruction.form.name} wants a generic address; {variable.name} is in .param"
        yield Finding("memory.space", Severity.ERROR, message, instruction.origin)
        return
    align = variable.align_bytes if isinstance(variable, Parameter) else _align(variable)
    if size is not None and size - found.offset < _MAP_BYTES:
        message = f"{instruction.form.name} reads a tensor map of {_MAP_BYTES} bytes; {variable.name} has {size}"
        yield Finding("memory.bounds", Severity.ERROR, message, instruction.origin)
    elif align < _MAP_ALIGN or found.offset % _MAP_ALIGN:
        message = (
            f"{instruction.form.name} wants a tensor map on a boundary of {_MAP_ALIGN} bytes; {variable.name} is "
            f"declared with {align}"
        )
        yield Finding("memory.alignment", Severity.ERROR, message, instruction.origin)


def _in(variable: Variable | Parameter) -> Space:
    return Space.PARAM if isinstance(variable, Parameter) else variable.space


def _instruction(values: Values, index: int) -> Iterator[Finding]:
    instruction = values.body.flow.instructions[index]
    signature = None
    for place, operand in enumerate(instruction.operands):
        if operand.__class__ is not Address or not isinstance(operand, Address):
            continue
        found = values.pointer(operand.base, index)
        if found is None:
            continue
        signature = signature or signature_of(instruction.form, instruction.operands)
        if signature is None:
            return
        pointer = Pointer(found.variable, found.offset + operand.offset, found.generic)
        function = values.body.function
        if instruction.form.opcode in _STORES and any(each is found.variable for each in function.parameters):
            message = f"{instruction.form.name}: {found.variable.name} is an input of {function.name}"
            yield Finding("memory.space", Severity.ERROR, f"{message}, which nothing may write", instruction.origin)
            continue
        yield from _judged(instruction, signature.slots[place], operand, pointer)


def _judged(instruction: Instruction, slot: OperandSlot, operand: Address, pointer: Pointer) -> Iterator[Finding]:
    variable = pointer.variable
    wanted = _space(instruction, slot)
    if wanted is not None and (wrong := _wrong_space(wanted, operand, pointer)):
        yield Finding("memory.space", Severity.ERROR, f"{instruction.form.name}: {wrong}", instruction.origin)
        return
    bytes_, align = _extent(instruction, slot)
    where = f"{operand_text(operand)} is byte {pointer.offset} of {variable.name}"
    size = _size(variable)
    if size is not None and not 0 <= pointer.offset <= size - bytes_:
        message = f"{instruction.form.name} accesses {bytes_} bytes: {where}, which has {size}"
        yield Finding("memory.bounds", Severity.ERROR, message, instruction.origin)
        return
    declared = variable.align_bytes if isinstance(variable, Parameter) else _align(variable)
    if pointer.offset % min(align, declared):
        message = f"{instruction.form.name} wants an address aligned to {align} bytes: {where}"
        yield Finding("memory.alignment", Severity.ERROR, message, instruction.origin)
    elif declared < align and not isinstance(variable, Parameter) and variable.linkage is not Linkage.EXTERN:
        message = (
            f"{instruction.form.name} wants {align} bytes of alignment; {variable.name} is declared with {declared}"
        )
        yield Finding("memory.alignment", Severity.WARNING, message, instruction.origin)
    elif pointer.offset % align:
        message = f"{instruction.form.name} wants an address aligned to {align} bytes: {where}"
        yield Finding("memory.alignment", Severity.ERROR, message, instruction.origin)


def _extent(instruction: Instruction, slot: OperandSlot) -> tuple[int, int]:
    """Bytes that are accessed and their alignment; what depends on values counts as one byte."""
    form = instruction.form
    if form.opcode in _ACCESSES and form.has("type"):
        bytes_ = form.type_of().bits // 8 * int(form.words.get("vec", "v1")[1:])
        return bytes_, bytes_
    if form.opcode in _ROWS:
        return _ROW_BYTES, _ROW_BYTES
    if form.opcode in _PREFETCHES:
        return (_MAP_BYTES, _MAP_ALIGN) if form.has("tensormap") else (1, 1)
    if form.opcode in _LINES:
        return _LINE_BYTES, _LINE_BYTES
    if form.opcode.endswith(".tensor") and slot.name in ("destination", "source"):
        return 1, _TILE_ALIGN
    if form.opcode.startswith("mbarrier.") or slot.name == "mbar":
        return _BARRIER_BYTES, _BARRIER_BYTES
    if form.opcode == "cp.async.bulk" and slot.name in ("destination", "source"):
        size = instruction.operands[2] if len(instruction.operands) > 2 else None
        return (size.value if isinstance(size, Int) else 1), _BULK_ALIGN
    if form.opcode == "cp.async" and slot.name in ("destination", "source"):
        size = instruction.operands[2]
        return (size.value, size.value) if isinstance(size, Int) else (1, 1)
    return 1, 1


def _space(instruction: Instruction, slot: OperandSlot) -> str | None:
    """The space that the instruction names for the operand, empty for a generic one; None where nothing tells."""
    form = instruction.form
    if form.opcode in _SPACED or form.opcode.startswith("mbarrier."):
        if form.opcode == _UNIFORM_PREFETCH and _is_direct(instruction.operands[0]):
            return Space.GLOBAL.value
        return form.words.get("space", "").partition("::")[0]
    if slot.name in ("destination", "source"):
        return form.words.get(slot.name, "").partition("::")[0] or None
    return None


def _wrong_space(wanted: str, operand: Address, pointer: Pointer) -> str:
    declared = _in(pointer.variable)
    name = pointer.variable.name
    if pointer.generic:
        wrong = wanted and declared is not Space.GLOBAL
        return f"{operand_text(operand)} is a generic address, of .{declared.value} {name}" if wrong else ""
    if not wanted:
        wrong = declared is Space.PARAM if _is_direct(operand) else declared in (Space.SHARED, Space.LOCAL)
        return f"{operand_text(operand)} is an address in .{declared.value}, not a generic one" if wrong else ""
    if declared.value == wanted:
        return ""
    return f"{operand_text(operand)} wants an address in .{wanted}; {name} is in .{declared.value}"


def _is_direct(operand: Operand) -> bool:
    return isinstance(operand, Address) and isinstance(operand.base, SymbolAddress)


def _size(variable: Variable | Parameter) -> int | None:
    if None in variable.shape or (isinstance(variable, Variable) and variable.linkage is Linkage.EXTERN):
        return None
    return variable.size_bytes


def _align(variable: Variable) -> int:
    return variable.align or max(variable.type.bits // 8 * variable.vector, 1)
