"""Which signature an instruction follows, and which registers it reads and writes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from isa.operands import OperandKind, OperandSlot, Signature
from ptxgen.ir.nodes import Instruction
from ptxgen.ir.operands import (
    Address,
    Bracket,
    Component,
    Float,
    Int,
    LabelName,
    Minus,
    Negated,
    Operand,
    Register,
    Sink,
    Special,
    SymbolAddress,
    TensorCoordinate,
    VectorRegister,
    registers_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isa.forms import Form

_STANDS: dict[OperandKind, tuple[type, ...]] = {
    OperandKind.REGISTER: (Register, Component),
    OperandKind.VALUE: (Register, Component, Int, Float),
    OperandKind.PREDICATE: (Register, Negated),
    OperandKind.VECTOR: (tuple,),
    OperandKind.ADDRESS: (Address,),
    OperandKind.COORDINATE: (TensorCoordinate,),
    OperandKind.BRACKET: (Bracket,),
    OperandKind.IMMEDIATE: (Int, Float),
    OperandKind.LABEL: (LabelName,),
    OperandKind.SYMBOL: (SymbolAddress,),
    OperandKind.SPECIAL: (Special,),
    OperandKind.SINK: (Sink,),
}
_PLAIN = frozenset({Register, Int, Float, Address, LabelName, SymbolAddress})
Roles: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


def stands(slot: OperandSlot, operand: Operand) -> bool:
    """True if an operand is of the sort that the slot takes, whatever its type and value."""
    if operand.__class__ in _PLAIN and operand.__class__ in _STANDS[slot.kind]:
        return True
    if isinstance(operand, tuple):
        return slot.kind is OperandKind.VECTOR and len(operand) == slot.count
    if isinstance(operand, VectorRegister):
        return slot.kind is OperandKind.VECTOR and operand.vector == slot.count
    if isinstance(operand, Bracket):
        return len(operand.parts) == len(slot.parts) and all(map(stands, slot.parts, operand.parts))
    if isinstance(operand, TensorCoordinate):
        return slot.kind is OperandKind.COORDINATE and slot.sampler is (operand.sampler is not None)
    if isinstance(operand, _STANDS[slot.kind]):
        return slot.negatable or not isinstance(operand, Negated)
    if isinstance(operand, Minus):
        return slot.minus and isinstance(operand.base, _STANDS[slot.kind])
    return (
        (isinstance(operand, Sink) and slot.sink)
        or (isinstance(operand, Special) and slot.special)
        or (isinstance(operand, Int) and slot.immediates and slot.kind is OperandKind.PREDICATE)
        or (isinstance(operand, SymbolAddress) and slot.symbol)
    )


@cache
def signatures_of_length(form: Form, count: int) -> tuple[Signature, ...]:
    """The signatures of a form with that many operands."""
    return tuple(signature for signature in form.signatures if len(signature.slots) == count)


def signature_of(form: Form, operands: tuple[Operand, ...]) -> Signature | None:
    """The signature that the operands follow: by their number, and by their sort where several have that number.

    None where the form has no signature of that many operands; where none fits by sort, the first of that number.
    """
    found = signatures_of_length(form, len(operands))
    if len(found) < 2:
        return found[0] if found else None
    for signature in found:
        if all(map(stands, signature.slots, operands)):
            return signature
    return found[0]


def form_of(candidates: Sequence[Form], operands: tuple[Operand, ...]) -> tuple[Form, Signature | None]:
    """The first of the forms that the operands fit, and its signature that they follow.

    Fitting is by number, sort, register types and domains of immediates; where none fits so, by number and sort, then
    by number; at last the first form, with no signature. Give the forms that the target has first.
    """
    found = [(form, signature) for form in candidates for signature in signatures_of_length(form, len(operands))]
    standing = [each for each in found if all(map(stands, each[1].slots, operands))]
    for form, signature in standing:
        if all(map(_accepted, signature.slots, operands)):
            return form, signature
    if standing or found:
        return (standing or found)[0]
    return candidates[0], None


def _accepted(slot: OperandSlot, operand: Operand) -> bool:
    if isinstance(operand, Int):
        return slot.domain is None or slot.domain.holds(operand.value)
    if isinstance(operand, Bracket):
        return all(map(_accepted, slot.parts, operand.parts))
    if isinstance(operand, TensorCoordinate):
        operand = operand.coordinates
    return not slot.accepts or all(register.type in slot.accepts for register in registers_of(operand))


@cache
def joins(form: Form) -> bool:
    """True if some operand of the form is written behind `|`, however many there are."""
    return any(slot.joined for signature in form.signatures for slot in signature.slots)


@cache
def joined_slots(form: Form, count: int) -> frozenset[int]:
    """The indices of the operands that are written behind `|` when the form stands with that many operands."""
    found = signatures_of_length(form, count)
    return frozenset(index for index, slot in enumerate(found[0].slots) if slot.joined) if found else frozenset()


@cache
def _roles(form: Form, count: int) -> Roles | None:
    """The places of the operands read and written; None where that depends on the sorts of the operands."""
    found = signatures_of_length(form, count)
    return _roles_of(found[0]) if len(found) == 1 else None


@cache
def _roles_of(signature: Signature) -> Roles:
    addresses = [slot.kind is OperandKind.ADDRESS for slot in signature.slots]
    slots = list(enumerate(signature.slots))
    read = tuple(place for place, slot in slots if slot.read or addresses[place])
    return read, tuple(place for place, slot in slots if slot.written and not addresses[place])


def roles_of(instruction: Instruction) -> Roles:
    """The places of the operands whose registers an instruction reads, bases of addresses among them, and of those
    whose registers it writes; none where no signature has so many operands."""
    roles = _roles(instruction.form, len(instruction.operands))
    if roles is not None:
        return roles
    signature = signature_of(instruction.form, instruction.operands)
    return ((), ()) if signature is None else _roles_of(signature)


def accesses(instruction: Instruction) -> tuple[list[Register], list[Register]]:
    """The registers that an instruction reads (sources, bases of addresses, the guard last) and those it writes."""
    operands, guard = instruction.operands, instruction.guard
    read, written = (
        [each for place in places for each in registers_of(operands[place])] for places in roles_of(instruction)
    )
    return read if guard is None else [*read, guard.register], written


def reads(instruction: Instruction) -> tuple[Register, ...]:
    """The registers that an instruction reads: sources, bases of addresses, and the guard, in this order."""
    return tuple(accesses(instruction)[0])


def writes(instruction: Instruction) -> tuple[Register, ...]:
    """The registers that an instruction writes, in order; those that it also reads included."""
    return tuple(accesses(instruction)[1])
