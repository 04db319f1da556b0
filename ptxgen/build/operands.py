"""From what the user gave to an operand node, judged by the slot it is for."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

from isa.operands import OperandKind, OperandSlot
from ptxgen.build.blame import fail, failure
from ptxgen.build.handles import Label, Not, Offset, SpecialRegister, Symbol, Value, sink
from ptxgen.build.immediates import UnfitNumber, immediate
from ptxgen.ir import Address, Bracket, Int, Negated, Operand, Register, Scalar, Sink, SymbolAddress, TensorCoordinate
from ptxgen.verify.operands import refusal, told, wanted

if TYPE_CHECKING:
    from ptxgen.build.draft import Draft


def operand(kernel: Draft, name: str, slot: OperandSlot, given: object) -> Operand:
    """The operand node for what was given to a slot of instruction `name`.

    Raises KernelError on the user's line, naming the operand, what the slot wants and what came.
    """
    if slot.kind is OperandKind.COORDINATE:
        node: Operand = _tensor_coordinate(kernel, name, slot, given)
    elif slot.kind is OperandKind.BRACKET:
        node = _bracket(kernel, name, slot, given)
    elif isinstance(given, tuple | list):
        node = tuple(scalar(kernel, name, slot, each) for each in given)
    else:
        node = scalar(kernel, name, slot, given)
    refused = refusal(slot, node)
    if refused is not None:
        fail(refused.code, f"{name}: {refused.message}")
    return node


def scalar(kernel: Draft, name: str, slot: OperandSlot, given: object) -> Scalar:
    """The node for one handle or number; KernelError for a foreign kernel's handle or something else entirely."""
    if isinstance(given, Value | Offset | Label | Symbol) and given.kernel is not None and given.kernel is not kernel:
        fail(
            "register.foreign",
            f"{name}: operand {slot.name} is {given!r} of kernel {given.kernel.name}, not of {kernel.name}",
        )
    match given:
        case Value(node=node):
            return Address(node) if slot.kind is OperandKind.ADDRESS else node
        case Not(value=value):
            if value.kernel is not kernel:
                fail("register.foreign", f"{name}: operand {slot.name} is {value!r} of kernel {value.kernel.name}")
            return Negated(value.node)
        case Offset(address=address):
            return _address(slot, address)
        case Symbol(name=symbol):
            return _address(slot, Address(SymbolAddress(symbol)))
        case Label(node=node) | SpecialRegister(node=node):
            return node
        case Real():
            return _number(name, slot, given)
        case _:
            if given is sink:
                return Sink()
            raise failure("operand.kind", f"{name}: operand {slot.name} wants {wanted(slot)}, got {given!r}")


def _tensor_coordinate(kernel: Draft, name: str, slot: OperandSlot, given: object) -> TensorCoordinate:
    parts = 3 if slot.sampler else 2
    if not (isinstance(given, tuple | list) and len(given) == parts and isinstance(given[-1], tuple | list)):
        handles = "map, sampler, (c0, ...)" if slot.sampler else "map, (c0, ...)"
        fail("operand.kind", f"{name}: operand {slot.name} wants ({handles}), got {given!r}")
    *handles_given, coordinates = given
    if len(coordinates) != slot.count:
        fail("vector.size", f"{name}: operand {slot.name} wants {slot.count} coordinates, got {len(coordinates)}")
    handles_made = [_handle(kernel, name, slot, each) for each in handles_given]
    made = tuple(scalar(kernel, name, slot, each) for each in coordinates)
    for each in made:
        if isinstance(each, Register) and each.type not in slot.accepts:
            fail("type.mismatch", f"{name}: operand {slot.name} wants {slot.type} coordinates, got {told(each)}")
    return TensorCoordinate(handles_made[0], made, handles_made[1] if slot.sampler else None)


def _bracket(kernel: Draft, name: str, slot: OperandSlot, given: object) -> Bracket:
    if not (isinstance(given, tuple | list) and len(given) == len(slot.parts)):
        wants = ", ".join(part.name for part in slot.parts)
        fail("operand.kind", f"{name}: operand {slot.name} wants ({wants}), got {given!r}")
    return Bracket(tuple(operand(kernel, name, part, each) for part, each in zip(slot.parts, given, strict=True)))


def _handle(kernel: Draft, name: str, slot: OperandSlot, given: object) -> Register | SymbolAddress:
    node = scalar(kernel, name, slot, given)
    if not isinstance(node, Register | SymbolAddress):
        fail("operand.kind", f"{name}: operand {slot.name} wants a register or a variable as its handle, got {given!r}")
    return node


def _address(slot: OperandSlot, address: Address) -> Scalar:
    if slot.kind is OperandKind.ADDRESS or not isinstance(address.base, SymbolAddress):
        return address
    return SymbolAddress(address.base.name, address.offset)


def _number(name: str, slot: OperandSlot, number: Real) -> Scalar:
    if slot.kind is OperandKind.ADDRESS and isinstance(number, Integral):
        return Address(Int(int(number)))
    try:
        return immediate(number, slot.type)
    except UnfitNumber as unfit:
        fail("immediate.type", f"{name}: operand {slot.name} wants {wanted(slot)}: {unfit}")
