"""Where a register's value comes from: constants and addresses of variables, as far as single definitions tell."""

from __future__ import annotations

from functools import cached_property

from attrs import frozen

from isa.types import Kind
from ptxgen.ir import Instruction, Int, Operand, Parameter, Register, SymbolAddress, Variable
from ptxgen.verify.body import Body

_FAR = 40
ENTRY = -1


@frozen
class Pointer:
    """The address of a variable plus a known offset in bytes; `generic` behind `cvta`."""

    variable: Variable | Parameter
    offset: int
    generic: bool = False


class Values:
    """Answers about the values of registers in one body, found on demand and remembered."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self._reaching: dict[tuple[int, int], tuple[int, ...]] = {}
        self._by_call = {body.numbers.number(each) for call, _ in body.calls for each in call.registers_written()}

    @cached_property
    def writers(self) -> dict[int, list[int]]:
        """The instructions that write each register, by its number, in the order of the text."""
        found: dict[int, list[int]] = {}
        for index, step in enumerate(self.body.steps):
            for number in step.writes:
                found.setdefault(number, []).append(index)
        return found

    def reaching(self, register: Register, index: int) -> tuple[int, ...]:
        """The instructions whose value of `register` may arrive before `index`; ENTRY for one from elsewhere."""
        number = self.body.numbers.number(register)
        writers = self.writers.get(number, [])
        if number in self._by_call or not writers:
            return (ENTRY,)
        if len(writers) == 1:
            return tuple(writers)
        found = self._reaching.get((number, index))
        if found is None:
            found = self._reaching[number, index] = tuple(sorted(self._search(frozenset(writers), index)))
        return found

    def _search(self, writers: frozenset[int], index: int) -> set[int]:
        flow = self.body.flow
        found: set[int] = set()
        seen: set[int] = set()
        stack = [(flow.block_of(index), index)]
        while stack:
            block, before = stack.pop()
            for each in range(before - 1, flow.blocks[block].start - 1, -1):
                if each in writers:
                    found.add(each)
                    if flow.instructions[each].guard is None:
                        break
            else:
                if block == 0:
                    found.add(ENTRY)
                new = [each for each in flow.blocks[block].predecessors if each not in seen]
                seen.update(new)
                stack += [(each, flow.blocks[each].stop) for each in new]
        return found

    def definition(self, register: Register, index: int) -> int | None:
        """The one instruction that gives `register` its value before `index`; None where there are others."""
        found = self.reaching(register, index)
        return found[0] if len(found) == 1 and found[0] != ENTRY else None

    def constant(self, operand: Operand, index: int) -> int | None:
        """The integer that an operand surely is before `index`."""
        if isinstance(operand, Int):
            return operand.value
        if not isinstance(operand, Register):
            return None
        at = self.definition(operand, index)
        if at is None:
            return None
        made = self.body.flow.instructions[at]
        source = made.operands[1] if made.form.opcode == "mov" else None
        return source.value if isinstance(source, Int) else None

    def pointer(self, operand: Operand, index: int, depth: int = _FAR) -> Pointer | None:
        """The variable and offset that an operand surely points to before `index`."""
        if isinstance(operand, SymbolAddress):
            variable = self.body.declared[index].get(operand.name)
            return None if variable is None else Pointer(variable, operand.offset)
        if not isinstance(operand, Register) or not depth:
            return None
        at = self.definition(operand, index)
        return None if at is None else self._made(self.body.flow.instructions[at], at, depth - 1)

    def _made(self, made: Instruction, at: int, depth: int) -> Pointer | None:
        opcode, operands = made.form.opcode, made.operands
        if opcode in ("mov", "cvt", "cvta"):
            found = self.pointer(operands[1], at, depth)
            if found is None or opcode != "cvta":
                return found
            return Pointer(found.variable, found.offset, not made.form.has("to"))
        if opcode in ("add", "sub") and made.form.has("type") and made.form.type_of().kind is not Kind.FLOAT:
            places = ((1, 2), (2, 1)) if opcode == "add" else ((1, 2),)
            for base, distance in places:
                known = operands[distance]
                if isinstance(known, Int) and (found := self.pointer(operands[base], at, depth)) is not None:
                    offset = known.value if opcode == "add" else -known.value
                    return Pointer(found.variable, found.offset + offset, found.generic)
        return None
