"""What each instruction reads and writes, its registers as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        self._by_id: dict[int, int] = {}
        self._by_name: dict[tuple[str, int], int] = {}

    def of(self, registers: Sequence[Register]) -> list[int]:
        """The numbers of registers."""
        known = self._by_id
        return [known[key] if (key := id(register)) in known else self._new(register) for register in registers]

    def number(self, register: Register) -> int:
        """The number of one register."""
        return self.of([register])[0]

    def named_in(self, operand: Operand) -> list[int]:
        """The numbers of the registers that an operand names, in order."""
        number = self._by_id.get(id(operand))
        if number is not None:
            return [number]
        if operand.__class__ is tuple:
            try:
                return [self._by_id[id(part)] for part in operand]
            except KeyError:
                pass
        return self.of(registers_of(operand))

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
    return [_step(instruction, numbers.named_in) for instruction in flow.instructions]


def _step(instruction: Instruction, named_in: Callable[[Operand], list[int]]) -> Step:
    reads: list[int] = []
    writes: list[int] = []
    for operand, (is_read, is_written) in zip(instruction.operands, roles_of(instruction), strict=False):
        if operand.__class__ is not Int:
            named = named_in(operand)
            if is_read:
                reads += named
            if is_written:
                writes += named
    if instruction.form.opcode == "wgmma" and _starts_a_sum(instruction):
        reads = reads[len(named_in(instruction.operands[0])) :]
    guard = instruction.guard
    if guard is not None:
        reads += named_in(guard.register)
    return Step(reads, writes, guard)
