"""What debuggers and profilers read: source files, source lines, DWARF sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from ptxgen.ir.operands import Int, SymbolAddress

if TYPE_CHECKING:
    from isa.types import Type


@frozen
class File:
    """`.file 1 "kernel.cu", 1700000000, 1234`: a source file by its number; time and size in bytes where known."""

    index: int
    path: str
    timestamp: int | None = None
    size_bytes: int | None = None


@frozen
class Position:
    """File number, line and column."""

    file: int
    line: int
    column: int

    @property
    def text(self) -> str:
        return f"{self.file} {self.line} {self.column}"


@frozen
class Loc:
    """`.loc 1 12 5`: what follows comes from there; `function` and `inlined_at` where it was inlined."""

    position: Position
    function: SymbolAddress | None = None
    inlined_at: Position | None = None


@frozen
class Difference:
    """The distance in bytes between two labels of a section: `first-second`."""

    first: str
    second: str

    @property
    def text(self) -> str:
        return f"{self.first}-{self.second}"


@frozen
class DebugLabel:
    """A label inside a section."""

    name: str


@frozen
class DebugData:
    """`.b8 1, 2, 3` inside a section; a symbol is a label, a function or a section (`.debug_abbrev`)."""

    type: Type
    values: tuple[Int | SymbolAddress | Difference, ...]


DebugEntry: TypeAlias = DebugLabel | DebugData


@frozen
class DebugSection:
    """`.section .debug_info { ... }`; the name has its dot."""

    name: str
    entries: tuple[DebugEntry, ...]


@frozen
class DwarfLine:
    """A line `@@DWARF ...` of old compilers, kept as it stands behind the mark."""

    text: str
