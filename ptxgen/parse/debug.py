"""Debug information from text to nodes: `.file`, `.loc`, `.section`, `@@DWARF`."""

from __future__ import annotations

from isa.types import type_named
from ptxgen.ir import (
    DebugData,
    DebugEntry,
    DebugLabel,
    DebugSection,
    Difference,
    DwarfLine,
    File,
    Int,
    Loc,
    Position,
    SymbolAddress,
)
from ptxgen.parse.constants import offset
from ptxgen.parse.reader import Reader

_DATA = {f".b{bits}": type_named(f"b{bits}") for bits in (8, 16, 32, 64)}


def file_directive(reader: Reader) -> File:
    """The `.file` that begins here, and a step past it."""
    reader.expect(".file")
    index = reader.number("a file number")
    path = reader.string("a path in quotation marks")
    numbers: list[int] = []
    while len(numbers) < 2 and reader.accept(","):
        numbers.append(reader.number("a number"))
    reader.accept(";")
    return File(index, path, *numbers)


def loc_directive(reader: Reader) -> Loc:
    """The `.loc` that begins here, and a step past it."""
    reader.expect(".loc")
    here = _position(reader)
    function: SymbolAddress | None = None
    inlined: Position | None = None
    while reader.accept(","):
        if reader.accept("function_name"):
            name = reader.take("word", "a label")
            function = SymbolAddress(name, offset(reader) if reader.accept("+") else 0)
        else:
            reader.expect("inlined_at", "'function_name' or 'inlined_at'")
            inlined = _position(reader)
    reader.accept(";")
    return Loc(here, function, inlined)


def _position(reader: Reader) -> Position:
    numbers = [reader.number(wanted) for wanted in ("a file number", "a line", "a column")]
    return Position(*numbers)


def section(reader: Reader) -> DebugSection:
    """The `.section` that begins here, and a step past it."""
    reader.expect(".section")
    name = reader.take("directive", "a section's name") if reader.kind == "directive" else reader.advance()
    reader.expect("{")
    found: list[DebugEntry] = []
    while not reader.accept("}"):
        if reader.text in _DATA:
            found.append(_data(reader))
        else:
            found.append(DebugLabel(reader.take("word", "'.b8', '.b16', '.b32', '.b64', a label or '}'")))
            reader.expect(":")
    return DebugSection(name, tuple(found))


def _data(reader: Reader) -> DebugData:
    type_ = _DATA[reader.advance()]
    values = [_value(reader)]
    while reader.accept(","):
        values.append(_value(reader))
    reader.accept(";")
    return DebugData(type_, tuple(values))


def _value(reader: Reader) -> Int | SymbolAddress | Difference:
    if reader.kind not in ("word", "directive"):
        return Int(offset(reader))
    name = reader.advance()
    if reader.text == "-":
        reader.advance()
        if reader.kind not in ("word", "directive"):
            reader.fail(f"unexpected {reader.told()}", wanted="a label")
        return Difference(name, reader.advance())
    return SymbolAddress(name, offset(reader) if reader.accept("+") else 0)


def dwarf_line(reader: Reader) -> DwarfLine:
    """The `@@DWARF` line that begins here, and a step past it."""
    start = reader.start + len("@@")
    end = reader.source.find("\n", start)
    end = end if end >= 0 else len(reader.source)
    mark, text = reader.source[start : start + len("DWARF")], reader.source[start + len("DWARF") : end]
    if mark.upper() != "DWARF":
        reader.fail("unexpected line behind @@", wanted="'DWARF'")
    reader.go(end)
    return DwarfLine(text.strip())
