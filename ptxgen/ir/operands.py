"""Operands: what stands behind an instruction's name.

Every operand is a frozen value with ordinary equality and says its own spelling through `text`, so that the emitter
decides nothing. A vector `{a, b}` is a plain tuple of operands.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from attrs import field, frozen

if TYPE_CHECKING:
    from isa.types import Type


@frozen
class Register:
    """A virtual register: its spelling (`%r7`), type, and the ordinal of the scope that declares it (0: the body)."""

    name: str
    type: Type
    scope: int = 0

    @property
    def text(self) -> str:
        return self.name

    @property
    def vector(self) -> int:
        """How many elements of the type it holds."""
        return 1


# A register is spelled by its name: the same field, without a call in between.
setattr(Register, "text", Register.__dict__["name"])  # noqa: B010


@frozen
class VectorRegister(Register):
    """A register declared `.v2` or `.v4`. It stands where a vector of as many elements may stand.

    `Component` is one of its elements, which stands where a register of the type does.
    """

    vector: int = 2


def numbered(stem: str, numbers: range, type_: Type) -> list[Register]:
    """The registers `%r0`, `%r1`, ... of a stem `%r`, in a function's body, as the class makes them one by one.

    The fields go straight into their slots, which takes half the time; kernels have registers by the thousand.
    """
    made: list[Register] = []
    new, name, kind, scope = object.__new__, *(getattr(Register, each).__set__ for each in ("name", "type", "scope"))
    for number in numbers:
        register = new(Register)
        name(register, f"{stem}{number}")
        kind(register, type_)
        scope(register, 0)
        made.append(register)
    return made


@frozen
class Special:
    """A special register such as `%tid.x`; `name` is the manual's name without the percent sign (`tid.x`)."""

    name: str

    @property
    def text(self) -> str:
        return f"%{self.name}"


class Constant(Enum):
    """A constant that PTX knows by name; the value is the name."""

    WARP_SZ = "WARP_SZ"


@frozen
class Int:
    """An integer immediate, already folded to its value; `constant` is that of PTX which it is, if written so."""

    value: int
    constant: Constant | None = None

    @property
    def text(self) -> str:
        return str(self.value) if self.constant is None else self.constant.value


@frozen
class Float:
    """A floating-point immediate by its bits; `type` is f32 or f64, the two widths PTX can spell."""

    bits: int
    type: Type

    @property
    def text(self) -> str:
        return f"0f{self.bits:08X}" if self.type.bits == 32 else f"0d{self.bits:016X}"


@frozen
class SymbolAddress:
    """The address of a variable, parameter or function by name, with a byte offset."""

    name: str
    offset: int = 0

    @property
    def text(self) -> str:
        return self.name if self.offset == 0 else f"{self.name}+{self.offset}"


@frozen
class Address:
    """A memory operand `[base+offset]`, offset in bytes.

    The base is a register, a symbol (whose own offset is 0: the offset of the access stands here) or, for an absolute
    address, an `Int` with offset 0. `unified` is the mark `[a].unified` of an address of unified memory.
    """

    base: Register | SymbolAddress | Int
    offset: int = 0
    unified: bool = False

    @property
    def text(self) -> str:
        text = f"[{self.base.text}]" if self.offset == 0 else f"[{self.base.text}+{self.offset}]"
        return f"{text}.unified" if self.unified else text


@frozen
class TensorCoordinate:
    """A tensor, texture or surface operand `[map, {c0, c1}]`: what is accessed, and one coordinate per dimension.

    `sampler` is the second handle of a texture access in independent mode, `[texture, sampler, {c0, c1}]`.
    """

    map: Register | SymbolAddress
    coordinates: tuple[Scalar, ...]
    sampler: Register | SymbolAddress | None = None

    @property
    def text(self) -> str:
        sampler = "" if self.sampler is None else f"{self.sampler.text}, "
        whole = self.whole
        return f"[{self.map.text}, {sampler}{vector_text(self.coordinates) if whole is None else whole.text}]"

    @property
    def whole(self) -> VectorRegister | None:
        """The vector register that holds all coordinates; None where each has an operand of its own."""
        first = self.coordinates[0]
        return first if isinstance(first, VectorRegister) and len(self.coordinates) == 1 else None

    @property
    def count(self) -> int:
        """How many coordinates there are, those of a vector register counted one by one."""
        return len(self.coordinates) if self.whole is None else self.whole.vector


@frozen
class Bracket:
    """Operands that stand together in brackets, `[endpoint, offset]` or `[map, base, {sizes}, {c0, c1}]`."""

    parts: tuple[Operand, ...]

    @property
    def text(self) -> str:
        return "[" + ", ".join(map(operand_text, self.parts)) + "]"


@frozen
class Component:
    """A part of a register: `v.x` of a vector register or the selector `.b0`, `.h1` of the video instructions."""

    base: Register
    part: str

    @property
    def text(self) -> str:
        return f"{self.base.text}.{self.part}"


@frozen
class Negated:
    """A predicate operand taken with the opposite truth: `!p`."""

    register: Register

    @property
    def text(self) -> str:
        return f"!{self.register.text}"


@frozen
class Minus:
    """An operand with a sign, `-a` or `-a.h0`, of the video instructions."""

    base: Register | Component

    @property
    def text(self) -> str:
        return f"-{self.base.text}"


@frozen
class Sink:
    """The destination `_`, whose value nobody wants."""

    @property
    def text(self) -> str:
        return "_"


@frozen
class LabelName:
    """The name of a label; `scope` is the ordinal of the scope that declares it (0: the function's body)."""

    name: str
    scope: int = 0

    @property
    def text(self) -> str:
        return self.name


@frozen
class Guard:
    """The condition before an instruction: `@p`, or `@!p` when negated."""

    register: Register
    negated: bool = field(default=False)

    @property
    def text(self) -> str:
        return f"@!{self.register.text}" if self.negated else f"@{self.register.text}"


Scalar: TypeAlias = (
    Register
    | Special
    | Int
    | Float
    | SymbolAddress
    | Address
    | TensorCoordinate
    | Bracket
    | Component
    | Negated
    | Minus
    | Sink
    | LabelName
)
Operand: TypeAlias = "Scalar | tuple[Scalar, ...]"


def operand_text(operand: Operand) -> str:
    """The spelling of an operand, vectors in braces."""
    return vector_text(operand) if isinstance(operand, tuple) else operand.text


def vector_text(parts: tuple[Scalar, ...]) -> str:
    """The spelling of a vector operand: `{a, b, c, d}`."""
    return f"{{{', '.join([part.text for part in parts])}}}"


def registers_of(operand: Operand) -> tuple[Register, ...]:
    """The registers that an operand names, in order; those of an address or a vector included."""
    if operand.__class__ is Register:
        return (operand,)
    if isinstance(operand, tuple):
        plain = tuple([part for part in operand if part.__class__ is Register])
        if len(plain) == len(operand):
            return plain
        return tuple(register for part in operand for register in registers_of(part))
    match operand:
        case VectorRegister():
            return (operand,)
        case Address(base=Register() as base):
            return (base,)
        case Negated(register=register) | Component(base=register):
            return (register,)
        case Minus(base=base):
            return registers_of(base)
        case Bracket(parts=parts):
            return tuple(register for part in parts for register in registers_of(part))
        case TensorCoordinate(map=map_, coordinates=coordinates, sampler=sampler):
            handles = (map_,) if sampler is None else (map_, sampler)
            return registers_of(handles) + registers_of(coordinates)
        case _:
            return ()
