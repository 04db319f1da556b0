"""An instruction as the attribute chain that writes it, where the chain can mean nothing else."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

from isa.forms import Form, resolve
from isa.operands import OperandKind, OperandSlot, Signature
from isa.types import Kind
from ptxgen.build.chain import attribute_of
from ptxgen.build.immediates import UnfitNumber, immediate
from ptxgen.build.patterns import is_destination, sources_of
from ptxgen.ir import (
    Address,
    Float,
    Instruction,
    Int,
    LabelName,
    Negated,
    Operand,
    Register,
    Sink,
    SymbolAddress,
    signature_of,
)

Handles: TypeAlias = Mapping[Register | LabelName | str, str]


def chained(instruction: Instruction, handles: Handles) -> str | None:
    """`k.add.u32(r[1], 7, into=r[3])` without the guard; None where the instruction must be written as text.

    `handles` has a Python expression for each register, label, and symbol's name. The chain stands for an instruction
    if no other signature of its name takes as many sources and the same destinations, and each operand has a spelling.
    """
    form = instruction.form
    signature = signature_of(form, instruction.operands)
    if signature is None or not _alone(form, signature):
        return None
    sources: list[str] = []
    written: list[str] = []
    for slot, operand in zip(signature.slots, instruction.operands, strict=True):
        text = _expression(slot, operand, handles)
        if text is None:
            return None
        (written if is_destination(slot) else sources).append(text)
    if written:
        sources.append(f"into={written[0] if len(written) == 1 else '(' + ', '.join(written) + ')'}")
    words = ".".join(map(attribute_of, form.name.split(".")))
    return f"k.{words}({', '.join(sources)})"


@cache
def _alone(form: Form, signature: Signature) -> bool:
    shapes = [(each, _shape(one)) for each in resolve(form.name) for one in each.signatures]
    alike = [each for each, shape in shapes if shape == _shape(signature)]
    return alike == [form] and not any(slot.sampler or slot.minus or slot.selectors for slot in signature.slots)


def _shape(signature: Signature) -> tuple[int, tuple[int, ...]]:
    written = [slot for slot in signature.slots if is_destination(slot)]
    single = len(written) == 1 and written[0].kind is OperandKind.VECTOR
    return len(sources_of(signature)), (written[0].count, -1) if single else (len(written),)


def _expression(slot: OperandSlot, operand: Operand, handles: Handles) -> str | None:
    match operand:
        case Register() | LabelName():
            return handles.get(operand)
        case Negated(register=register) if slot.negatable:
            base = handles.get(register)
            return None if base is None else f"~{base}"
        case Address(base=base, offset=offset, unified=False) if slot.kind is OperandKind.ADDRESS:
            return _address(base, offset, handles)
        case Int(value=value, constant=None):
            floating = slot.type is not None and slot.type.kind is Kind.FLOAT
            return None if floating or slot.kind is OperandKind.ADDRESS else str(value)
        case Float():
            return _float(slot, operand)
        case Sink():
            return "sink" if slot.sink else None
        case tuple():
            parts = [_expression(slot, each, handles) for each in operand]
            known = [each for each in parts if each is not None]
            return f"({', '.join(known)}{',' * (len(known) == 1)})" if len(known) == len(parts) else None
        case _:
            return None


def _address(base: Register | SymbolAddress | Int, offset: int, handles: Handles) -> str | None:
    match base:
        case Register():
            text = handles.get(base)
        case SymbolAddress(name=name, offset=0):
            text = handles.get(name)
        case _:
            text = None
    if text is None or offset == 0:
        return text
    return f"{text} {'+' if offset > 0 else '-'} {abs(offset)}"


def _float(slot: OperandSlot, operand: Float) -> str | None:
    wide = operand.type.bits == 64
    value: float = struct.unpack("<d" if wide else "<f", operand.bits.to_bytes(8 if wide else 4, "little"))[0]
    if not math.isfinite(value):
        return None
    try:
        same = immediate(value, slot.type) == operand  # type: ignore[arg-type]
    except UnfitNumber:
        return None
    return repr(value) if same else None
