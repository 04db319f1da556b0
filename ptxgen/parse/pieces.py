"""What the usual spellings of operands mean, looked up by their text."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Any

from isa.special import SPECIAL_REGISTERS
from isa.types import Type, f32, f64
from ptxgen.ir import Address, Float, Int, Negated, Register, Sink, Special, SymbolAddress, VectorRegister

if TYPE_CHECKING:
    from ptxgen.parse.names import Open

_SPECIAL = {str(each): Special(each.name) for each in SPECIAL_REGISTERS}
_INTEGER = re.compile(r"-?(?:0|[1-9]\d*|0[xX][0-9a-fA-F]+)")
_FLOAT = re.compile(r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}")
_ADDRESS = re.compile(r"\[([A-Za-z][\w$]*|[_$%][\w$]+)(?:\+(-?(?:0|[1-9]\d{0,17})))?\]")
_SINK = Sink()
_NAMES = frozenset("%$_" + string.ascii_letters)


class Meanings(dict[str, Any]):
    """Operands by their text, as they are meant in a scope.

    A text that is not in it is worked out if it has one of the usual spellings, else it is a KeyError: such operands
    are read token by token, and put in by the reader. A name that the scope does not declare means what it means in the
    scope around.
    """

    __slots__ = ("_scope",)

    def __init__(self, scope: Open) -> None:
        self._scope = scope

    def __missing__(self, text: str) -> Any:
        scope = self._scope
        stem = text.rstrip("0123456789")
        family = scope.families.get(stem)
        if family is not None and text != stem:
            number = text[len(stem) :]
            if (number[0] != "0" or number == "0") and int(number) < family[1]:
                register = self[text] = declared(text, family[0], scope.ordinal, family[2])
                return register
        around = scope.parent
        if text[:1] in _NAMES and around is not None and around.cache is not self and not scope.declares(text):
            found = self[text] = around.cache[text]
            return found
        found = self[text] = self._meaning(text)
        return found

    def _meaning(self, text: str) -> Any:
        found = self._scope.find(text)
        if found is not None:
            return found
        match text[:1]:
            case "%":
                return _SPECIAL[text]
            case "[":
                return self._address(text)
            case "{":
                return self._vector(text)
            case "-" | "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9":
                return _number(text)
            case "!":
                return Negated(self._register(text[1:]))
            case "_" if text == "_":
                return _SINK
        raise KeyError(text)

    def _address(self, text: str) -> Address:
        found = _ADDRESS.fullmatch(text)
        if found is None:
            raise KeyError(text)
        base = self[found[1]]
        if not isinstance(base, Register | SymbolAddress):
            raise KeyError(text)
        return Address(base, int(found[2] or 0))

    def _vector(self, text: str) -> tuple[Any, ...]:
        parts = tuple([self[part.strip()] for part in text[1:-1].split(",")])
        if len(parts) == 1 or any(part.__class__ is tuple or part.__class__ is Address for part in parts):
            raise KeyError(text)
        return parts

    def _register(self, text: str) -> Register:
        found = self[text]
        if not isinstance(found, Register):
            raise KeyError(text)
        return found


def declared(name: str, type_: Type, scope: int, vector: int) -> Register:
    """A register as its declaration makes it."""
    return Register(name, type_, scope) if vector == 1 else VectorRegister(name, type_, scope, vector)


def _number(text: str) -> Int | Float:
    if _FLOAT.fullmatch(text):
        return Float(int(text[2:], 16), f32 if text[1] in "fF" else f64)
    if _INTEGER.fullmatch(text):
        value = int(text, 0)
        if abs(value) < 1 << 64:
            return Int(value)
    raise KeyError(text)
