"""Control flow and the few instructions without a chapter of their own."""

from __future__ import annotations

from isa.availability import since
from isa.instructions.vocabulary import immediate, value
from isa.operands import OperandKind, Range, Role
from isa.rows import Operand, family, flag, line, slot
from isa.types import u32

UNI = flag("uni")
TARGET = Operand("target", Role.READ, OperandKind.LABEL)

FAMILIES = (
    family("bra", line(UNI, operands=(TARGET,)), about="branch to a label; uni: all live lanes go"),
    family("ret", line(UNI), about="return"),
    family("exit", line(), about="end the thread"),
    family("trap", line(), about="abort the grid"),
    family("brkpt", line(), about="stop for a debugger"),
    family("nanosleep", line(slot("type", "u32"), operands=(value("t", u32),), since=since("6.3", 70)), about="sleep"),
    family("pmevent", line(operands=(immediate("a", Range(0, 15)),)), about="trigger a performance event"),
)
