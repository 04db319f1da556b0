"""What each instruction reads and writes, its registers as numbers."""

from __future__ import annotations

from typing import NamedTuple

from ptxgen.ir import Guard, Register, accesses
from ptxgen.ir.flow import Flow


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


def steps_of(flow: Flow, numbers: Numbers) -> list[Step]:
    """The steps of a flow's instructions, in their order."""
    made = []
    for instruction in flow.instructions:
        read, written = accesses(instruction)
        made.append(Step(numbers.of(read), numbers.of(written), instruction.guard))
    return made
