"""One operand from text to node."""

from __future__ import annotations

from typing import Any

from isa.special import UnknownSpecialRegister, special
from ptxgen.ir import (
    Address,
    Bracket,
    Component,
    Int,
    LabelName,
    Minus,
    Negated,
    Register,
    Sink,
    Special,
    SymbolAddress,
    TensorCoordinate,
)
from ptxgen.parse.constants import Decimal, begins_constant, constant, offset
from ptxgen.parse.names import UNPLACED, Open
from ptxgen.parse.reader import Misuse, Reader

WANTED = "a register, a constant, an address in brackets, a vector in braces or a name"


def operand(reader: Reader, scope: Open) -> Any:
    """The operand that begins here, and a step past it.

    A decimal stays a `Decimal` until its instruction is known, so does a vector of one element; a name that nothing
    declares is taken for a label whose scope is not known yet. What it means is kept in the scope's cache by its text,
    those three excepted.
    """
    start = reader.start
    node = _operand(reader, scope)
    if not _open(node):
        scope.cache[reader.source[start : reader.start].rstrip()] = node
    return node


def _open(node: Any) -> bool:
    if isinstance(node, tuple) and not isinstance(node, Decimal):
        return len(node) == 1 or any(map(_open, node))
    return isinstance(node, Decimal | LabelName)


def _operand(reader: Reader, scope: Open) -> Any:
    if reader.text == "{":
        return _vector(reader, scope)
    if reader.text == "[":
        return _bracketed(reader, scope)
    return element(reader, scope)


def _vector(reader: Reader, scope: Open) -> tuple[Any, ...]:
    reader.expect("{")
    found = [element(reader, scope)]
    while reader.accept(","):
        found.append(element(reader, scope))
    reader.expect("}", "',' or '}'")
    return tuple(found)


def element(reader: Reader, scope: Open) -> Any:
    """An operand without brackets and braces."""
    if reader.kind == "word" and not begins_constant(reader):
        return _sink_or_name(reader, scope)
    if reader.text in ("!", "-"):
        start, sign = reader.start, reader.text
        reader.advance()
        if reader.kind == "word" and not begins_constant(reader):
            return _signed(reader, scope, sign)
        reader.go(start)
    if begins_constant(reader):
        return constant(reader)
    raise reader.failure(f"unexpected {reader.told()}", wanted=WANTED)


def _signed(reader: Reader, scope: Open, sign: str) -> Negated | Minus:
    at = reader.start
    node = _named(reader, scope)
    if sign == "!" and isinstance(node, Register):
        return Negated(node)
    if sign == "-" and isinstance(node, Register | Component):
        return Minus(node)
    raise reader.failure("a sign stands before something that is no register", at=at)


def _sink_or_name(reader: Reader, scope: Open) -> Any:
    if reader.text == "_":
        reader.advance()
        return Sink()
    node = _named(reader, scope)
    if isinstance(node, SymbolAddress) and reader.accept("+"):
        return SymbolAddress(node.name, offset(reader))
    return node


def _named(reader: Reader, scope: Open) -> Register | Component | Special | SymbolAddress | LabelName:
    at, name, end = reader.start, reader.text, reader.end
    part = ""
    reader.advance()
    if reader.kind == "directive" and reader.start == end:
        part = reader.advance()
    found = scope.find(name)
    if found is None and name[0] == "%":
        return _special(reader, name + part, at)
    if isinstance(found, Register):
        return Component(found, part[1:]) if part else found
    if part:
        reader.misuse(f"{name} is no register and has no part {part}", "register.undeclared", at=at)
    return found if found is not None else LabelName(name, UNPLACED)


def _special(reader: Reader, name: str, at: int) -> Special:
    for known in (name, f"{name}.x"):
        try:
            special(known)
            return Special(name[1:])
        except UnknownSpecialRegister:
            continue
    raise reader.error(Misuse, f"register {name} is not declared here", "", at, "register.undeclared")


def _bracketed(reader: Reader, scope: Open) -> Address | TensorCoordinate | Bracket:
    reader.expect("[")
    at = reader.start
    base = _base(reader, scope)
    if reader.text == ",":
        return _coordinates(reader, scope, base, at)
    byte_offset = offset(reader) if reader.accept("+") else 0
    end = reader.end
    reader.expect("]", "'+', ',' or ']'")
    unified = reader.text == ".unified" and reader.start == end
    if unified:
        reader.advance()
    if isinstance(base, Int):
        return Address(Int(base.value + byte_offset), 0, unified)
    return Address(base, byte_offset, unified)


def _base(reader: Reader, scope: Open) -> Register | SymbolAddress | Int:
    at = reader.start
    if begins_constant(reader):
        return Int(offset(reader))
    if reader.kind != "word":
        reader.fail(f"unexpected {reader.told()}", wanted="a register, a variable or a number of bytes")
    node = _named(reader, scope)
    if isinstance(node, Register | SymbolAddress):
        return node
    if isinstance(node, LabelName):
        reader.misuse(f"{node.name} is not declared here", "symbol.unknown", at=at)
    raise reader.failure(f"{node.text} cannot be an address", wanted="a register or a variable", at=at)


def _coordinates(reader: Reader, scope: Open, map_: Any, at: int) -> TensorCoordinate | Bracket:
    """What stands in brackets behind a comma: coordinates behind one or two handles, or any other list of operands."""
    if isinstance(map_, Int):
        reader.fail("a number cannot be a tensor map, a texture or a surface", at=at)
    parts: list[Any] = [map_]
    while reader.accept(","):
        parts.append(_vector(reader, scope) if reader.text == "{" else element(reader, scope))
    reader.expect("]", "',' or ']'")
    handles, last = parts[:-1], parts[-1]
    coordinates = last if last.__class__ is tuple else (last,)
    match handles:
        case [_]:
            return TensorCoordinate(map_, coordinates)
        case [_, Register() | SymbolAddress() as sampler]:
            return TensorCoordinate(map_, coordinates, sampler)
        case [_, _]:
            raise reader.failure("a sampler is a register or a variable")
        case _:
            return Bracket(tuple(parts))
