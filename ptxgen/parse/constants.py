"""Constant expressions, folded to their value as they are read (manual, chapter on constants)."""

from __future__ import annotations

import math
import re
import struct
from typing import NamedTuple

from isa.types import Kind, Type, f32, f64
from ptxgen.ir import Constant, Float, Int
from ptxgen.parse.reader import Reader, integer

_BITS = 1 << 64
_PREDEFINED = {Constant.WARP_SZ.value: 32}
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip


class Decimal(NamedTuple):
    """A float written as a decimal, or computed: a double that takes the width of the place where it stands."""

    value: float

    def of(self, type_: Type | None) -> Float:
        """As an immediate of the operand's type: rounded to nearest where that is f32, to infinity if too large."""
        narrow = type_ is not None and type_.kind is Kind.FLOAT and type_.bits == 32
        try:
            packed = struct.pack("<f" if narrow else "<d", self.value)
        except OverflowError:
            packed = struct.pack("<f", math.copysign(math.inf, self.value))
        return Float(int.from_bytes(packed, "little"), f32 if narrow else f64)


class Number(NamedTuple):
    """An integer of 64 bits, signed or unsigned; `computed` where an operator made it."""

    value: int
    signed: bool
    computed: bool = True

    def node(self) -> Int:
        """As an immediate; what operators made of all ones is negative, whatever their result's type is called."""
        return Int(self.value - _BITS if self.computed and self.value >= _BITS >> 1 else self.value)


Value = Number | Decimal | Float
_ALONE = re.compile(r"\s*[,;\]})]")


def constant(reader: Reader) -> Int | Float | Decimal:
    """The value of the constant expression that begins here, and a step past it; a name that stands alone is kept."""
    alone = _ALONE.match(reader.source, reader.end) is not None
    if alone and reader.text in _PREDEFINED:
        name = reader.advance()
        return Int(_PREDEFINED[name], Constant(name))
    alone = alone and reader.kind == "number"
    value = _primary(reader) if alone else _ternary(reader)
    return value.node() if isinstance(value, Number) else value


def offset(reader: Reader) -> int:
    """The value of the integer expression that begins here, and a step past it."""
    at = reader.start
    value = constant(reader)
    if not isinstance(value, Int):
        reader.fail("a float cannot be an offset", wanted="an integer", at=at)
    return value.value


def begins_constant(reader: Reader) -> bool:
    """True if the token here can begin a constant expression."""
    return reader.kind == "number" or reader.text in ("(", "-", "+", "~", "!") or reader.text in _PREDEFINED


def _ternary(reader: Reader) -> Value:
    condition = _binary(reader, 0)
    if not reader.accept("?"):
        return condition
    held = _integer(reader, condition).value
    first = _ternary(reader)
    reader.expect(":")
    second = _ternary(reader)
    return first if held else second


def _binary(reader: Reader, level: int) -> Value:
    if level == len(_LEVELS):
        return _unary(reader)
    left = _binary(reader, level + 1)
    while reader.kind == "sign" and reader.text in _LEVELS[level]:
        sign = reader.advance()
        left = _applied(reader, sign, left, _binary(reader, level + 1))
    return left


def _unary(reader: Reader) -> Value:
    at = reader.start
    if reader.kind == "sign" and reader.text in ("-", "+", "~", "!"):
        sign = reader.advance()
        if sign in "+-" and reader.kind == "number" and reader.source[at + 1 : at + 2] == reader.text[0]:
            return _signed_literal(sign, _primary(reader))
        value = _unary(reader)
        if sign == "+":
            return value
        if sign == "-":
            if isinstance(value, Decimal):
                return Decimal(-value.value)
            number = _integer(reader, value)
            return _number(-number.value, number.signed)
        number = _integer(reader, value)
        return _number(int(not number.value), True) if sign == "!" else _number(~number.value, False)
    return _primary(reader)


def _signed_literal(sign: str, value: Value) -> Value:
    if isinstance(value, Float):
        top = 1 << value.type.bits - 1
        return Float(value.bits ^ top, value.type) if sign == "-" else value
    if isinstance(value, Decimal):
        return Decimal(-value.value) if sign == "-" else value
    return Number(-value.value, True, False) if sign == "-" else value


def _primary(reader: Reader) -> Value:
    if reader.kind == "number":
        at, text = reader.start, reader.advance()
        whole = integer(text)
        if whole is None:
            return _float(text)
        if whole >= _BITS:
            reader.fail(f"{text} does not fit in 64 bits", at=at)
        return Number(whole, whole < _BITS >> 1 and not text.endswith("U"), False)
    if reader.text in _PREDEFINED:
        return Number(_PREDEFINED[reader.advance()], True)
    if reader.accept("("):
        if reader.text in (".s64", ".u64"):
            signed = reader.advance() == ".s64"
            reader.expect(")")
            return _number(_integer(reader, _unary(reader)).value, signed)
        value = _ternary(reader)
        reader.expect(")")
        return value
    raise reader.failure(f"unexpected {reader.told()}", wanted="a constant")


def _float(text: str) -> Float | Decimal:
    if text[:2] in ("0f", "0F"):
        return Float(int(text[2:], 16), f32)
    if text[:2] in ("0d", "0D"):
        return Float(int(text[2:], 16), f64)
    return Decimal(float(text))


def _number(value: int, signed: bool) -> Number:
    """The integer of 64 bits: wrapped round where it is too large."""
    wrapped = value % _BITS
    return Number(wrapped - _BITS if signed and wrapped >= _BITS >> 1 else wrapped, signed)


def _integer(reader: Reader, value: Value) -> Number:
    if not isinstance(value, Number):
        reader.fail("a float in an expression of integers")
    return value


def _double(reader: Reader, value: Value) -> float:
    if isinstance(value, Decimal):
        return value.value
    if isinstance(value, Float) and value.type.bits == 64:
        found: float = struct.unpack("<d", value.bits.to_bytes(8, "little"))[0]
        return found
    raise reader.failure("an integer or a 0f constant in an expression of floats")


def _applied(reader: Reader, sign: str, left: Value, right: Value) -> Value:
    if not isinstance(left, Number) or not isinstance(right, Number):
        return _of_floats(reader, sign, _double(reader, left), _double(reader, right))
    a, b = left.value, right.value
    signed = left.signed and right.signed
    if not signed:
        a, b = a % _BITS, b % _BITS
    match sign:
        case "+" | "-" | "*":
            return _number(a + b if sign == "+" else a - b if sign == "-" else a * b, signed)
        case "/" | "%":
            if b == 0:
                reader.fail("division by zero in a constant expression")
            if sign == "%":
                return _number(a % _BITS % (b % _BITS), True)
            return _number(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1), signed)
        case "<<" | ">>":
            count = min(right.value % _BITS, 64)
            return _number(left.value << count if sign == "<<" else left.value >> count, left.signed)
        case "&" | "|" | "^":
            return _number(a & b if sign == "&" else a | b if sign == "|" else a ^ b, False)
        case "&&" | "||":
            return _number(int(bool(a) and bool(b) if sign == "&&" else bool(a) or bool(b)), True)
        case _:
            return _number(int(_compared(sign, a, b)), True)


def _of_floats(reader: Reader, sign: str, a: float, b: float) -> Value:
    match sign:
        case "+" | "-" | "*":
            return Decimal(a + b if sign == "+" else a - b if sign == "-" else a * b)
        case "/":
            if b == 0:
                reader.fail("division by zero in a constant expression")
            return Decimal(a / b)
        case "<" | ">" | "<=" | ">=" | "==" | "!=":
            return _number(int(_compared(sign, a, b)), True)
        case _:
            raise reader.failure(f"the operator {sign} takes integers")


def _compared(sign: str, a: float, b: float) -> bool:
    match sign:
        case "<":
            return a < b
        case ">":
            return a > b
        case "<=":
            return a <= b
        case ">=":
            return a >= b
        case "==":
            return a == b
        case _:
            return a != b
