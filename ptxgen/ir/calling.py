"""A call as flows see it: an instruction that reads and writes the call's registers."""

from __future__ import annotations

from isa.availability import ALWAYS
from isa.forms import Form, resolve
from isa.operands import OperandKind, OperandSlot, Role, Signature
from ptxgen.ir.calls import Call
from ptxgen.ir.nodes import Instruction
from ptxgen.ir.operands import Register

CALL = "call"


def as_instruction(call: Call) -> Instruction:
    """The instruction of opcode `CALL` that stands for a call in a flow, with its guard and its line.

    Its operands are the registers that take the results, then those of the arguments and of the target; what is passed
    in memory is none of them. Its form is its own: it is told by no name and never printed.
    """
    written = tuple(call.registers_written())
    read = tuple(register for register in call.registers_read(guarding=False))
    slots = (*(_slot(each, Role.WRITE) for each in written), *(_slot(each, Role.READ) for each in read))
    form = Form(str(call).partition(";")[0], CALL, {}, (Signature(slots),), ALWAYS, 0, resolve("ret")[0].line)
    return Instruction(form, (*written, *read), call.guard, call.origin)


def _slot(register: Register, role: Role) -> OperandSlot:
    return OperandSlot("r", role, OperandKind.REGISTER, register.type, 1, frozenset({register.type}))
