"""What each instruction reads and writes, its registers as numbers."""

from __future__ import annotations

from typing import NamedTuple

from ptxgen.ir import Guard, Instruction, Int, Register, accesses, registers_of
from ptxgen.ir.flow import Flow

_SCALE = 3


class Step(NamedTuple):
    """The numbers of the registers that an instruction reads and writes, and its guard."""

    reads: list[int]
    writes: list[int]
    guard: Guard | None


class Numbers:
    """A number per register, the same for one name and scope: cheaper in sets than the register itself."""

    def __init__(self) -> None:
        self.registers: list[Register] = []
        self._by_id: dict[int, int] = {}
        self._by_name: dict[tuple[str, int], int] = {}

    def of(self, registers: list[Register]) -> list[int]:
        """The numbers of registers, whose objects must stay alive meanwhile."""
        known = self._by_id
        return [known[key] if (key := id(register)) in known else self._new(register) for register in registers]

    def number(self, register: Register) -> int:
        """The number of one register."""
        return self.of([register])[0]

    def _new(self, register: Register) -> int:
        number = self._by_name.setdefault((register.name, register.scope), len(self.registers))
        if number == len(self.registers):
            self.registers.append(register)
        self._by_id[id(register)] = number
        return number


def _starts_a_sum(instruction: Instruction) -> bool:
    """True for a multiply that may be told, by its `scale_d`, to start from 0 instead of its accumulators."""
    operands = instruction.operands
    return len(operands) > _SCALE and not (isinstance(scale := operands[_SCALE], Int) and scale.value)


def steps_of(flow: Flow, numbers: Numbers) -> list[Step]:
    """The steps of a flow's instructions, in their order."""
    made = []
    for instruction in flow.instructions:
        read, written = accesses(instruction)
        if instruction.form.opcode == "wgmma" and _starts_a_sum(instruction):
            read = read[len(registers_of(instruction.operands[0])) :]
        made.append(Step(numbers.of(read), numbers.of(written), instruction.guard))
    return made
