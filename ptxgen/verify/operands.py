"""Whether one operand may stand in one slot; the builder asks the same question at the user's call."""

from __future__ import annotations

from typing import NamedTuple

from isa.operands import OperandKind, OperandSlot
from isa.special import UnknownSpecialRegister, special
from isa.types import Kind, Type, bf16, bf16x2, f16, f16x2
from ptxgen.ir import (
    Address,
    Bracket,
    Component,
    Float,
    Int,
    Minus,
    Negated,
    Operand,
    Register,
    Sink,
    Special,
    SymbolAddress,
    TensorCoordinate,
    operand_text,
    stands,
)

_ELEMENTS = frozenset("xyzwrgba")
_HALVES = frozenset({f16, f16x2, bf16, bf16x2})


class Refusal(NamedTuple):
    """Why an operand may not stand in a slot: a stable code and what was wanted and what came."""

    code: str
    message: str


def refusal(slot: OperandSlot, operand: Operand) -> Refusal | None:
    """Why `operand` may not stand in `slot`: wrong sort, register type, vector size or immediate; None if it may."""
    if isinstance(operand, tuple):
        return _vector_refusal(slot, operand)
    if not stands(slot, operand):
        return Refusal("operand.kind", f"operand {slot.name} wants {wanted(slot)}, got {told(operand)}")
    if operand.__class__ is Int:
        return _int_refusal(slot, operand.value)
    if operand.__class__ is Float:
        return _float_refusal(slot, operand)
    if isinstance(operand, Address) and operand.unified and slot.unified is None:
        return Refusal("operand.kind", f"operand {slot.name} wants an address without .unified, got {operand.text}")
    match operand:
        case Register():
            return _register_refusal(slot, operand) or _whole_refusal(slot, operand)
        case Component():
            return _part_refusal(slot, operand)
        case Minus(base=base):
            return refusal(slot, base)
        case TensorCoordinate():
            return _coordinate_refusal(slot, operand)
        case Bracket(parts=parts):
            return next((refused for refused in map(refusal, slot.parts, parts) if refused is not None), None)
        case Negated(register=register):
            return _register_refusal(slot, register)
        case Address(base=Register() as base):
            return _register_refusal(slot, base)
        case Special():
            return _special_refusal(slot, operand)
        case _:
            return None


def _special_refusal(slot: OperandSlot, operand: Special) -> Refusal | None:
    try:
        fact = special(operand.name)
    except UnknownSpecialRegister:
        return Refusal("operand.part", f"operand {slot.name} wants one component; {operand.text} is a vector")
    bits = fact.type.bits
    if slot.type is None or any(each.bits in (bits, *fact.older_bits) for each in slot.accepts):
        return None
    return Refusal("type.mismatch", f"operand {slot.name} wants {slot.type.bits} bits; {operand.text} has {bits}")


def _vector_refusal(slot: OperandSlot, operand: tuple[Operand, ...]) -> Refusal | None:
    if slot.kind is not OperandKind.VECTOR:
        return Refusal("operand.kind", f"operand {slot.name} wants {wanted(slot)}, got a vector of {len(operand)}")
    if len(operand) != slot.count:
        return Refusal("vector.size", f"operand {slot.name} wants {wanted(slot)}, got a vector of {len(operand)}")
    for index, element in enumerate(operand):
        if element.__class__ is Register and element.type in slot.accepts:
            continue
        if slot.parts and isinstance(element, Int) and (refused := refusal(slot.parts[index], element)) is not None:
            return Refusal(refused.code, f"operand {slot.name}: {refused.message}")
        where = f"element {index} of operand {slot.name}"
        match element:
            case Register():
                return Refusal("type.mismatch", f"{where} wants {_types(slot)}, got {told(element)}")
            case Sink() if slot.sink or slot.written:
                pass
            case Special() if slot.special:
                if (refused := _special_refusal(slot, element)) is not None:
                    return Refusal(refused.code, f"{where}: {refused.message}")
            case Int() | Float() if _takes_constants(slot):
                refused = (
                    _int_refusal(slot, element.value) if isinstance(element, Int) else _float_refusal(slot, element)
                )
                if refused is not None:
                    return Refusal(refused.code, f"{where}: {refused.message}")
            case _:
                return Refusal("operand.kind", f"{where} wants a {_types(slot)} register, got {told(element)}")
    return None


def _takes_constants(slot: OperandSlot) -> bool:
    """Whether an element of a vector may be a constant: where the slot says so, and in most that are only read.

    Vectors of halves, and of one element, are registers.
    """
    return slot.immediates or (not slot.written and slot.count > 1 and slot.type not in _HALVES)


def _register_refusal(slot: OperandSlot, register: Register) -> Refusal | None:
    if register.type in slot.accepts:
        return None
    return Refusal("type.mismatch", f"operand {slot.name} wants {wanted(slot)}, got {told(register)}")


def _whole_refusal(slot: OperandSlot, register: Register) -> Refusal | None:
    if not slot.partial:
        return None
    return Refusal(
        "operand.part", f"operand {slot.name} wants a part ({_parts(slot)}) of a register, got {register.name}"
    )


def _part_refusal(slot: OperandSlot, operand: Component) -> Refusal | None:
    """Parts of a register stand where the slot has them, elements of a vector register wherever a register does."""
    if operand.part in slot.selectors:
        return _register_refusal(slot, operand.base)
    if operand.part in _ELEMENTS and not slot.partial:
        return _register_refusal(slot, operand.base)
    allowed = f"of {_parts(slot)}" if slot.selectors else "no part of a register"
    return Refusal("operand.part", f"operand {slot.name} takes {allowed}, got {operand.text}")


def _parts(slot: OperandSlot) -> str:
    return " ".join(f".{each}" for each in slot.selectors)


def _coordinate_refusal(slot: OperandSlot, operand: TensorCoordinate) -> Refusal | None:
    if operand.count != slot.count:
        message = f"operand {slot.name} wants {slot.count} coordinates, got {operand.count}: {operand.text}"
        return Refusal("vector.size", message)
    for index, each in enumerate(operand.coordinates):
        if isinstance(each, Register) and each.type not in slot.accepts:
            where = f"coordinate {index} of operand {slot.name}"
            return Refusal("type.mismatch", f"{where} wants {_types(slot)}, got {told(each)}")
        if not isinstance(each, Register | Component | Int):
            return Refusal("operand.kind", f"coordinate {index} of operand {slot.name} is {told(each)}")
    return None


def _int_refusal(slot: OperandSlot, value: int) -> Refusal | None:
    if slot.domain is not None:
        if slot.domain.holds(value):
            return None
        return Refusal("immediate.domain", f"operand {slot.name} wants {slot.domain}, got {value}")
    bits = 64 if slot.type is None else max(slot.type.bits, 32) if slot.type.kind is Kind.PREDICATE else slot.type.bits
    if slot.type is not None and slot.type.kind is Kind.FLOAT and slot.type.lanes == 1 and bits >= 32:
        return Refusal(
            "immediate.type", f"operand {slot.name} wants a floating-point immediate, got the integer {value}"
        )
    if -(1 << (bits - 1)) <= value < 1 << bits:
        return None
    return Refusal("immediate.range", f"operand {slot.name} wants {wanted(slot)}, got {value}, which needs more bits")


def _float_refusal(slot: OperandSlot, operand: Float) -> Refusal | None:
    wanted_type = slot.type
    if wanted_type is not None and wanted_type.lanes == 1:
        if wanted_type.kind is Kind.FLOAT and wanted_type.bits >= 32:
            return None
        if wanted_type.kind is Kind.BITS and wanted_type.bits == operand.type.bits:
            return None
    return Refusal("immediate.type", f"operand {slot.name} wants {wanted(slot)}, got {told(operand)}")


def _types(slot: OperandSlot) -> str:
    return "address" if slot.type is None else slot.type.name


def wanted(slot: OperandSlot) -> str:
    """What a slot takes, in words: `a u32 register or immediate`, `a vector of 4 b32 registers`."""
    match slot.kind:
        case OperandKind.BRACKET:
            return f"{slot} in brackets"
        case OperandKind.VECTOR:
            return f"a vector of {slot.count} {_types(slot)} registers"
        case OperandKind.PREDICATE:
            return "a predicate"
        case OperandKind.REGISTER | OperandKind.VALUE:
            return f"{_article(slot.type)} {slot.kind.value}"
        case OperandKind.IMMEDIATE:
            return "an immediate" if slot.domain is None else f"an immediate, {slot.domain}"
        case (
            OperandKind.ADDRESS | OperandKind.COORDINATE | OperandKind.LABEL | OperandKind.SYMBOL | OperandKind.SPECIAL
        ):
            return f"an {slot.kind.value}" if slot.kind is OperandKind.ADDRESS else f"a {slot.kind.value}"
        case OperandKind.SINK:
            return "the sink _"


def _article(type_: Type | None) -> str:
    if type_ is None:
        return "a"
    return f"an {type_.name}" if type_.name[0] in "fs" else f"a {type_.name}"


def told(operand: Operand) -> str:
    """What came, in words: `f32 register %f3`, `the immediate 7`."""
    match operand:
        case Register(name=name, type=type_):
            return f"{type_.name} register {name}"
        case Int(value=value):
            return f"the immediate {value}"
        case Float(type=type_):
            return f"the {type_.name} immediate {operand.text}"
        case Address():
            return f"the address {operand.text}"
        case SymbolAddress():
            return f"the symbol {operand.text}"
        case Special():
            return f"the special register {operand.text}"
        case _:
            return operand_text(operand)
