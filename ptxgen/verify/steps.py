"""What each instruction reads and writes, its registers as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ptxgen.ir import Guard, Instruction, Int, Operand, Register, registers_of, roles_of
from ptxgen.ir.flow import Flow

_SCALE = 3


class Step(NamedTuple):
    """The numbers of the registers that an instruction reads and writes, and its guard."""

    reads: list[int]
    writes: list[int]
    guard: Guard | None


class Numbers:
    """A number per register, the same for one name and scope: cheaper in sets than the register itself.

    Registers are found again by the identity of their objects, which must stay alive meanwhile.
    """

    def __init__(self) -> None:
        self.registers: list[Register] = []
        self._known: dict[int, int] = {}
        self._by_name: dict[tuple[str, int], int] = {}

    def of(self, operands: Iterable[Operand]) -> list[int]:
        """The numbers of the registers that operands name, in order."""
        known = self._known
        found: list[int] = []
        for operand in operands:
            number = known.get(id(operand))
            if number is not None:
                found.append(number)
            elif operand.__class__ is Register:
                found.append(self._new(operand))
            elif operand.__class__ is not Int:
                found += self._inside(operand)
        return found

    def number(self, register: Register) -> int:
        """The number of one register."""
        return self.of((register,))[0]

    def _inside(self, operand: Operand) -> list[int]:
        if operand.__class__ is tuple:
            try:
                return [self._known[id(part)] for part in operand]
            except KeyError:
                return self.of(operand)
        return [self._new(register) for register in registers_of(operand)]

    def _new(self, register: Register) -> int:
        number = self._by_name.setdefault((register.name, register.scope), len(self.registers))
        if number == len(self.registers):
            self.registers.append(register)
        self._known[id(register)] = number
        return number


def _starts_a_sum(instruction: Instruction) -> bool:
    """True for a multiply that may be told, by its `scale_d`, to start from 0 instead of its accumulators."""
    operands = instruction.operands
    return len(operands) > _SCALE and not (isinstance(scale := operands[_SCALE], Int) and scale.value)


def steps_of(flow: Flow, numbers: Numbers) -> list[Step]:
    """The steps of a flow's instructions, in their order."""
    return [_step(instruction, numbers) for instruction in flow.instructions]


def _step(instruction: Instruction, numbers: Numbers) -> Step:
    operands, guard = instruction.operands, instruction.guard
    read, written = roles_of(instruction)
    if instruction.form.opcode == "wgmma" and _starts_a_sum(instruction):
        read = read[1:]
    reads = numbers.of(map(operands.__getitem__, read))
    if guard is not None:
        reads.append(numbers.number(guard.register))
    return Step(reads, numbers.of(map(operands.__getitem__, written)), guard)
