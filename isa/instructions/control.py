"""Control flow, the stack, and the few instructions without a chapter of their own."""

from __future__ import annotations

from isa.availability import since
from isa.instructions.vocabulary import FAMILY, SPECIFIC, TYPE, immediate, register, value, written
from isa.operands import OperandKind, PowerOfTwo, Range, Role
from isa.rows import Operand, family, flag, line, slot, word
from isa.types import u32

UNI = flag("uni")
TARGET = Operand("target", Role.READ, OperandKind.LABEL)
TARGETS = Operand("targets", Role.READ, OperandKind.LABEL)
CALLEE = Operand("callee", Role.READ, OperandKind.SYMBOL)
ADDRESS_SIZE = slot("type", "u32 u64")
STACK_SINCE = since("7.3", 52)
ALIGNMENT = immediate("alignment", PowerOfTwo(1, 2**23)).maybe
_REGISTERS = immediate("registers", Range(24, 256, 8))
_MANY, _HOPPER = since("8.6", SPECIFIC, FAMILY), since("8.0", "sm_90a")

FAMILIES = (
    family("bra", line(UNI, operands=(TARGET,)), about="branch to a label; uni: all live lanes go"),
    family(
        "brx.idx",
        line(UNI, operands=(register("index", u32), TARGETS), since=since("6.0", 30)),
        about="branch to the label at an index of a list of branch targets",
    ),
    family("call", line(UNI, operands=(CALLEE,)), about="call a function; with arguments it is a statement of its own"),
    family("ret", line(UNI), about="return"),
    family("exit", line(), about="end the thread"),
    family(
        "alloca",
        line(ADDRESS_SIZE, operands=(written("d"), value("bytes", TYPE), ALIGNMENT), since=STACK_SINCE),
        about="take local memory from the stack",
    ),
    family("stacksave", line(ADDRESS_SIZE, operands=(written("d"),), since=STACK_SINCE), about="the top of the stack"),
    family("stackrestore", line(ADDRESS_SIZE, operands=(register("a"),), since=STACK_SINCE), about="set it back"),
    family("trap", line(), about="abort the grid"),
    family("brkpt", line(), about="stop for a debugger"),
    family("nanosleep", line(slot("type", "u32"), operands=(value("t", u32),), since=since("6.3", 70)), about="sleep"),
    family(
        "pmevent",
        line(operands=(immediate("a", Range(0, 15)),)),
        line(word("mask", since("3.0", 20)), operands=(immediate("a", Range(0, 65535)),)),
        about="trigger performance events",
    ),
    family(
        "griddepcontrol",
        line(slot("action", "launch_dependents wait"), since=since("7.8", 90)),
        about="let dependent grids start, or wait for those depended on",
    ),
    family(
        "setmaxnreg",
        line(
            slot("action", "inc dec"), word("sync"), word("aligned"), slot("type", "u32"),
            operands=(_REGISTERS,), since=_HOPPER | _MANY,
        ),
        about="give registers of the warp back, or take more",
    ),
)  # fmt: skip
