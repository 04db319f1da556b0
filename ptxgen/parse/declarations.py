"""Declarations from text to nodes: registers, variables with their initial values, parameters."""

from __future__ import annotations

from typing import Any

from isa.types import Type, UnknownType, type_named
from ptxgen.ir import (
    Attribute,
    AttributeKind,
    Fields,
    GenericAddress,
    Initial,
    Int,
    Linkage,
    MaskedAddress,
    Origin,
    Parameter,
    PointerFacts,
    Registers,
    Space,
    SymbolAddress,
    Variable,
)
from ptxgen.parse.constants import Decimal, begins_constant, constant, offset
from ptxgen.parse.names import Open
from ptxgen.parse.reader import Reader

SPACES = {f".{space.value}": space for space in Space}
LINKAGES = {f".{linkage.value}": linkage for linkage in Linkage if linkage.value}
_POINTEES = {f".{each.value}": each for each in (Space.GLOBAL, Space.SHARED, Space.LOCAL, Space.CONST)}
_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
_ATTRIBUTES = {f".{kind.value}": kind for kind in AttributeKind}
_ADDRESS_WANTED = "a variable's or function's name"


def type_here(reader: Reader, wanted: str = "a type") -> Type:
    """The type named by the directive here, and a step past it."""
    at = reader.start
    text = reader.take("directive", wanted)
    try:
        return type_named(text[1:])
    except UnknownType:
        reader.fail(f"unexpected {text!r}", wanted=wanted, at=at)


def alignment(reader: Reader) -> int | None:
    """The bytes of an `.align` that may stand here, and a step past it."""
    return reader.number("an alignment in bytes") if reader.accept(".align") else None


def registers(reader: Reader, scope: Open, function: str) -> list[Registers]:
    """The declarations of the `.reg` statement of a function that begins here, one for each name, now known in the
    scope."""
    reader.expect(".reg")
    alignment(reader)
    vector = _vector(reader)
    at = reader.start
    type_ = type_here(reader, "a type of registers")
    if not type_.register:
        reader.fail(f"no register has the type .{type_}", wanted="a type of registers", at=at)
    found: list[Registers] = []
    while True:
        origin = reader.origin(reader.start, function)
        name = reader.take("word", "a register's name")
        count = _count(reader, "how many registers")
        scope.declare_registers(name, type_, count, vector)
        found.append(Registers(type_, name, count, vector, origin))
        if not reader.accept(","):
            break
    reader.expect(";", "',' or ';'")
    return found


def _count(reader: Reader, wanted: str) -> int | None:
    """The number in `<100>`, which declares as many numbered names; None where there is none."""
    if not reader.accept("<"):
        return None
    count = reader.number(wanted)
    reader.expect(">")
    return count


def _vector(reader: Reader) -> int:
    return _VECTORS[reader.advance()] if reader.text in _VECTORS else 1


def variables(reader: Reader, scope: Open, linkage: Linkage, origin: Origin) -> list[Variable]:
    """The variables of the statement that begins with a state space here, now known in the scope.

    `a<3>` declares `a0`, `a1` and `a2`.
    """
    space = SPACES[reader.advance()]
    if reader.text == "[":
        reader.fail("banks of constant memory are not read: they ended with PTX 2.2")
    align: int | None = None
    vector = 1
    attributes: tuple[Attribute, ...] = ()
    while True:
        if reader.text == ".align":
            align = alignment(reader)
        elif reader.text == ".attribute":
            attributes = attribute_list(reader)
        elif reader.text in _VECTORS:
            vector = _vector(reader)
        else:
            break
    type_ = type_here(reader)
    found: list[Variable] = []
    while True:
        stem = reader.take("word", "a variable's name")
        count = _count(reader, "how many variables")
        shape = shape_here(reader) if count is None else ()
        names = [stem] if count is None else [f"{stem}{number}" for number in range(count)]
        for name in names:
            scope.declare_symbol(name)
        initial = initial_value(reader, type_) if count is None and reader.accept("=") else None
        found += [
            Variable(name, type_, space, shape, align, vector, initial, linkage, origin, attributes) for name in names
        ]
        if not reader.accept(","):
            break
    reader.expect(";", "',', '=' or ';'")
    return found


def attribute_list(reader: Reader) -> tuple[Attribute, ...]:
    """The attributes of the `.attribute(...)` that begins here, and a step past it."""
    reader.expect(".attribute")
    reader.expect("(")
    found = []
    while True:
        at = reader.start
        kind = _ATTRIBUTES.get(reader.take("directive", " or ".join(_ATTRIBUTES)))
        if kind is None:
            reader.fail("unknown attribute", wanted=" or ".join(_ATTRIBUTES), at=at)
        values: list[int] = []
        if reader.accept("("):
            values.append(reader.number("a number"))
            while reader.accept(","):
                values.append(reader.number("a number"))
            reader.expect(")")
        found.append(Attribute(kind, tuple(values)))
        if not reader.accept(","):
            break
    reader.expect(")")
    return tuple(found)


def shape_here(reader: Reader) -> tuple[int | None, ...]:
    """The extents `[4][4]` that stand here, None for `[]`, and a step past them."""
    found: list[int | None] = []
    while reader.accept("["):
        found.append(None if reader.text == "]" else offset(reader))
        reader.expect("]")
    return tuple(found)


def initial_value(reader: Reader, type_: Type) -> Initial:
    """The initial value that begins here, its decimals rounded to the type, and a step past it."""
    if reader.accept("{"):
        return _braced(reader, type_)
    if reader.kind == "word" and not begins_constant(reader):
        return _address(reader)
    value = constant(reader)
    if isinstance(value, Int) and reader.accept("("):
        address = _address(reader)
        reader.expect(")")
        return MaskedAddress(value.value, address)
    if isinstance(value, Decimal):
        return value.of(type_)
    return value


def _braced(reader: Reader, type_: Type) -> Initial:
    if type_.name in ("texref", "samplerref", "surfref"):
        return _fields(reader)
    found: list[Any] = []
    while reader.text != "}":
        found.append(initial_value(reader, type_))
        if not reader.accept(","):
            break
    reader.expect("}", "',' or '}'")
    return tuple(found)


def _fields(reader: Reader) -> Fields:
    found: list[tuple[str, str | int]] = []
    while reader.text != "}":
        name = reader.take("word", "a property")
        reader.expect("=")
        found.append((name, reader.advance() if reader.kind == "word" else offset(reader)))
        if not reader.accept(","):
            break
    reader.expect("}", "',' or '}'")
    return Fields(tuple(found))


def _address(reader: Reader) -> SymbolAddress | GenericAddress:
    name = reader.take("word", _ADDRESS_WANTED)
    if name == "generic" and reader.accept("("):
        inner = _address(reader)
        reader.expect(")")
        if not isinstance(inner, SymbolAddress):
            reader.fail("generic of generic")
        return GenericAddress(SymbolAddress(inner.name, inner.offset + _plus(reader)))
    return SymbolAddress(name, _plus(reader))


def _plus(reader: Reader) -> int:
    return offset(reader) if reader.accept("+") else 0


def parameters(reader: Reader, function: str) -> tuple[Parameter, ...]:
    """The parameters of a function in the parentheses that begin here, and a step past them."""
    reader.expect("(")
    found: list[Parameter] = []
    while reader.text != ")":
        found.append(_parameter(reader, function))
        if not reader.accept(","):
            break
    reader.expect(")", "',' or ')'")
    return tuple(found)


def _parameter(reader: Reader, function: str) -> Parameter:
    origin = reader.origin(reader.start, function)
    register = reader.text == ".reg"
    if not register and reader.text != ".param":
        reader.fail(f"unexpected {reader.told()}", wanted="'.param', '.reg' or ')'")
    reader.advance()
    align = alignment(reader)
    vector = _vector(reader) if register else 1
    type_ = type_here(reader)
    pointer: PointerFacts | None = None
    align = alignment(reader) if align is None else align
    if reader.accept(".ptr"):
        space = _POINTEES[reader.advance()] if reader.text in _POINTEES else None
        pointer = PointerFacts(space, alignment(reader))
    name = reader.take("word", "a parameter's name")
    return Parameter(name, type_, shape_here(reader), align, pointer, register, vector, origin)
