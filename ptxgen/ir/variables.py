"""What is declared: registers, variables with their initial values, parameters."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from attrs import field, frozen

from ptxgen.ir.operands import Float, Int, SymbolAddress
from ptxgen.ir.origin import Origin

if TYPE_CHECKING:
    from isa.types import Type


class Space(Enum):
    """A state space of memory; the value is PTX's word."""

    PARAM = "param"
    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONST = "const"
    TEX = "tex"


class Linkage(Enum):
    """How a module-scope name is seen by others; the value is PTX's word, empty for a private name."""

    PRIVATE = ""
    VISIBLE = "visible"
    EXTERN = "extern"
    WEAK = "weak"
    COMMON = "common"


class AttributeKind(Enum):
    """What `.attribute(...)` may say of a variable or function; the value is PTX's word."""

    MANAGED = "managed"
    UNIFIED = "unified"


@frozen
class Attribute:
    """`.attribute(.managed)`, or `.attribute(.unified(uuid1, uuid2))` with its two numbers."""

    kind: AttributeKind
    values: tuple[int, ...] = ()


@frozen
class Registers:
    """A declaration: `.reg .b32 %r<100>;` declares `%r0` to `%r99`; a count of None declares the one name.

    `vector` is 1, 2 or 4 elements per register.
    """

    type: Type
    name: str
    count: int | None = None
    vector: int = 1
    origin: Origin | None = field(default=None, eq=False)


@frozen
class GenericAddress:
    """An initial value: the generic address of a variable, `generic(table)+8`."""

    symbol: SymbolAddress

    @property
    def text(self) -> str:
        offset = f"+{self.symbol.offset}" if self.symbol.offset else ""
        return f"generic({self.symbol.name}){offset}"


@frozen
class MaskedAddress:
    """An initial value: one byte of an address, `0xFF00(table)`; the mask says which."""

    mask: int
    address: SymbolAddress | GenericAddress

    @property
    def text(self) -> str:
        return f"0x{self.mask:X}({self.address.text})"


@frozen
class Fields:
    """The initial value of a texture or sampler reference: `{filter_mode = nearest, normalized_coords = 1}`."""

    entries: tuple[tuple[str, str | int], ...]

    @property
    def text(self) -> str:
        return "{" + ", ".join(f"{name} = {value}" for name, value in self.entries) + "}"


Initial: TypeAlias = "Int | Float | SymbolAddress | GenericAddress | MaskedAddress | Fields | tuple[Initial, ...]"


@frozen
class Variable:
    """A variable in memory. `shape` is () for a scalar; a first extent of None is an array without a size (`[]`).

    `vector` is 1, 2 or 4 elements per entry; `align` is in bytes, None where the type's own alignment holds.
    """

    name: str
    type: Type
    space: Space
    shape: tuple[int | None, ...] = ()
    align: int | None = None
    vector: int = 1
    initial: Initial | None = None
    linkage: Linkage = Linkage.PRIVATE
    origin: Origin | None = field(default=None, eq=False)
    attributes: tuple[Attribute, ...] = ()

    @property
    def size_bytes(self) -> int:
        """The bytes that the variable takes; 0 for an array without a size."""
        count = self.vector
        for extent in self.shape:
            count *= extent or 0
        return count * self.type.bits // 8


@frozen
class PointerFacts:
    """What a pointer parameter points to: `.ptr .global .align 16`, alignment in bytes; no space is a generic one."""

    space: Space | None
    align: int | None = None


@frozen
class Parameter:
    """A parameter. `shape` is () for a scalar or the extents of an array (None: as many as the caller passes).

    `align` in bytes; `pointer` for `.ptr`; `register` for one passed in a register (`.reg`) of `vector` elements, which
    functions may have.
    """

    name: str
    type: Type
    shape: tuple[int | None, ...] = ()
    align: int | None = None
    pointer: PointerFacts | None = None
    register: bool = False
    vector: int = 1
    origin: Origin | None = field(default=None, eq=False)

    @property
    def size_bytes(self) -> int:
        """The bytes that the parameter takes in the parameter block."""
        count = 1
        for extent in self.shape:
            count *= extent or 0
        return count * self.type.bits // 8

    @property
    def align_bytes(self) -> int:
        """The alignment of the parameter in the parameter block."""
        return self.align or self.type.bits // 8
