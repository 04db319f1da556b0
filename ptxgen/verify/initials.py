"""Initial values against the variables that begin with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from isa.types import Kind, Type
from ptxgen.errors import Finding, Severity
from ptxgen.ir import (
    Fields,
    Float,
    Function,
    GenericAddress,
    Initial,
    Int,
    Linkage,
    MaskedAddress,
    Space,
    SymbolAddress,
    Variable,
)

_INITIALISED = (Space.GLOBAL, Space.CONST)
_WITHOUT = frozenset({"f16", "f16x2", "bf16", "bf16x2"})
_ADDRESSES = frozenset({"u32", "u64"})
_BYTES_OF_ADDRESSES = _ADDRESSES | {"u8"}
_BYTE_MASKS = frozenset(0xFF << 8 * byte for byte in range(8))


def initial_findings(variable: Variable, declared: Mapping[str, Variable | Function]) -> Iterator[Finding]:
    """`variable.initial` and `symbol.unknown` of one variable; `declared` is what stands before it in the module."""
    if variable.initial is None:
        return
    where = next(_misplaced(variable), None)
    wrong = [("variable.initial", where)] if where else chain(_values(variable), _symbols(variable, declared))
    for code, words in wrong:
        yield Finding(code, Severity.ERROR, f"{variable.name}: {words}", variable.origin)
        return


def _misplaced(variable: Variable) -> Iterator[str]:
    if variable.linkage is Linkage.EXTERN:
        yield "what is declared .extern has its initial value elsewhere"
    if variable.space not in _INITIALISED:
        yield f"a variable in .{variable.space.value} has no initial value"
    if variable.type.name in _WITHOUT:
        yield f"{variable.type} variables have no initial values; a .b variable takes the bits"


def _values(variable: Variable) -> Iterator[tuple[str, str]]:
    extents = (*variable.shape, *((variable.vector,) if variable.vector > 1 else ()))
    for words in _shaped(variable.initial, extents, variable.type):
        yield "variable.initial", words


def _shaped(given: Initial | None, extents: tuple[int | None, ...], type_: Type) -> Iterator[str]:
    """What does not fit into an array of these extents."""
    match given:
        case None | Fields():
            return
        case tuple():
            if not extents:
                yield "a list stands where one value does"
            elif extents[0] is not None and len(given) > extents[0]:
                yield f"{len(given)} values for {extents[0]} elements"
            else:
                for each in given:
                    yield from _shaped(each, extents[1:], type_)
        case _ if extents:
            yield "one value stands where a list does"
        case _:
            yield from _value(given, type_)


def _value(given: Initial, type_: Type) -> Iterator[str]:
    match given:
        case Int() if type_.kind is Kind.FLOAT:
            yield f"an {type_} variable wants a floating-point value, got {given.text}"
        case Float() if type_.kind not in (Kind.FLOAT, Kind.BITS):
            yield f"an integer variable wants an integer, got {given.text}"
        case SymbolAddress() | GenericAddress() if type_.name not in _ADDRESSES:
            yield f"an address begins a u32 or u64 variable, not one of {type_}"
        case MaskedAddress() if type_.name not in _BYTES_OF_ADDRESSES:
            yield f"a byte of an address begins a u8, u32 or u64 variable, not one of {type_}"
        case MaskedAddress() if given.mask not in _BYTE_MASKS:
            yield f"the mask 0x{given.mask:X} names no single byte"
        case _:
            return


def _symbols(variable: Variable, declared: Mapping[str, Variable | Function]) -> Iterator[tuple[str, str]]:
    for symbol in _addressed(variable.initial):
        known = variable if symbol.name == variable.name else declared.get(symbol.name)
        if known is None:
            yield "symbol.unknown", f"{symbol.name} is not declared before it"
        elif isinstance(known, Variable) and known.space not in _INITIALISED:
            yield "variable.initial", f"{symbol.name} is in .{known.space.value}, which has no address before a launch"


def _addressed(given: Initial | None) -> Iterator[SymbolAddress]:
    match given:
        case tuple():
            for each in given:
                yield from _addressed(each)
        case GenericAddress(symbol=symbol):
            yield symbol
        case MaskedAddress(address=address):
            yield from _addressed(address)
        case SymbolAddress():
            yield given
        case _:
            return
