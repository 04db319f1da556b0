"""What each instruction reads and writes, its registers as numbers."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from ptxgen.ir import Address, Float, Guard, Instruction, Int, Operand, Register, registers_of, roles_of
from ptxgen.ir.flow import Flow

_SCALE = 3
_FIRST = (0,)
_CONSTANTS = frozenset({Int, Float})
_OF_REGISTERS = frozenset({tuple, Address})


class Step(NamedTuple):
    """The numbers of the registers that an instruction reads and writes, and its guard."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    guard: Guard | None


class Numbers:
    """A number per register, the same for one name and scope: cheaper in sets than the register itself.

    `registers` has one register for each number, `objects` every object that stands for one. What an operand names is
    found again by the identity of its object, which must stay alive meanwhile.
    """

    def __init__(self) -> None:
        self.registers: list[Register] = []
        self.objects: list[Register] = []
        self._known: dict[int, tuple[int, ...]] = {}
        self._by_name: dict[tuple[str, int], int] = {}

    def at(self, places: Sequence[int], operands: Sequence[Operand]) -> tuple[int, ...]:
        """The numbers of the registers that the operands at these places name, in order."""
        known = self._known
        found: tuple[int, ...] = ()
        for place in places:
            operand = operands[place]
            numbers = known.get(id(operand))
            found += self._look(operand) if numbers is None else numbers
        return found

    def of(self, operands: Sequence[Operand]) -> tuple[int, ...]:
        """The numbers of the registers that operands name, in order."""
        return self.at(range(len(operands)), operands)

    def number(self, register: Register) -> int:
        """The number of one register."""
        return self.at(_FIRST, (register,))[0]

    def of_registers_alone(self) -> Set[int]:
        """The identities of the operands met that name registers at most: no label and no symbol."""
        return self._known.keys()

    def _look(self, operand: Operand) -> tuple[int, ...]:
        if isinstance(operand, Register):
            numbers = self._new(operand)
        elif operand.__class__ in _CONSTANTS:
            numbers = ()
        else:
            parts = operand if operand.__class__ is tuple else registers_of(operand)
            numbers = self.of(parts)
            if not numbers or len(numbers) < len(parts) or operand.__class__ not in _OF_REGISTERS:
                return numbers
        self._known[id(operand)] = numbers
        return numbers

    def _new(self, register: Register) -> tuple[int, ...]:
        self.objects.append(register)
        number = self._by_name.setdefault((register.name, register.scope), len(self.registers))
        if number == len(self.registers):
            self.registers.append(register)
        return (number,)


def _starts_a_sum(instruction: Instruction) -> bool:
    """True for a multiply that may be told, by its `scale_d`, to start from 0 instead of its accumulators."""
    operands = instruction.operands
    return len(operands) > _SCALE and not (isinstance(scale := operands[_SCALE], Int) and scale.value)


def steps_of(flow: Flow, numbers: Numbers) -> list[Step]:
    """The steps of a flow's instructions, in their order."""
    at, new, made = numbers.at, tuple.__new__, list[Step]()
    for instruction in flow.instructions:
        operands, guard = instruction.operands, instruction.guard
        read, written = roles_of(instruction)
        if instruction.form.opcode == "wgmma" and _starts_a_sum(instruction):
            read = read[1:]
        reads = at(read, operands)
        if guard is not None:
            reads += at(_FIRST, (guard.register,))
        made.append(new(Step, (reads, at(written, operands), guard)))
    return made
