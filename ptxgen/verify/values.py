"""Where a register's value comes from: constants and addresses of variables, as far as single definitions tell."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import TypeAlias

from attrs import frozen

from isa.types import Kind
from ptxgen.ir import Address, Instruction, Int, Operand, Parameter, Register, SymbolAddress, Variable
from ptxgen.verify.body import Body
from ptxgen.verify.effects import Effects, callees, joined
from ptxgen.verify.launch import Launch, launch_of

_FAR = 40
ENTRY = -1


@frozen
class Pointer:
    """The address of a variable plus a known offset in bytes; `generic` behind `cvta`."""

    variable: Variable | Parameter
    offset: int
    generic: bool = False


Base: TypeAlias = str | int


@frozen
class Place:
    """Bytes of memory from `offset` on: of a variable by its name, or behind a register, by its number."""

    base: Base
    offset: int
    bytes_: int

    def meets(self, other: Place) -> bool:
        """True if both surely have a byte in common."""
        apart = self.offset + self.bytes_ <= other.offset or other.offset + other.bytes_ <= self.offset
        return self.base == other.base and not apart


class Values:
    """Answers about the values of registers in one body, found on demand and remembered."""

    def __init__(self, body: Body, effects: Mapping[str, Effects] | None = None) -> None:
        self.body = body
        self.launch: Launch = launch_of(body.function)
        self._effects = effects or {}
        self._reaching: dict[tuple[int, int], tuple[int, ...]] = {}
        self._pointers: dict[tuple[int, int], Pointer | None] = {}
        self._passed = {each.name for each in body.function.parameters if each.register}

    def effects_at(self, index: int) -> Effects:
        """What the call at an index may do."""
        return joined(self._effects, callees(self.body.function, self.body.calls[index]))

    @cached_property
    def effects(self) -> Effects:
        """What the function may do, with all that it calls."""
        return joined(self._effects, (self.body.function.name,))

    @cached_property
    def parts_threads(self) -> bool:
        """True if guards or tables of branches may part the threads of the body."""
        return any(each.guard is not None or each.form.opcode == "brx.idx" for each in self.body.flow.instructions)

    @cached_property
    def writers(self) -> dict[int, list[int]]:
        """The instructions that write each register, by its number, in the order of the text."""
        found = defaultdict[int, list[int]](list)
        for index, (_, writes, _) in enumerate(self.body.steps):
            for number in writes:
                found[number].append(index)
        return dict(found)

    def reaching(self, register: Register, index: int) -> tuple[int, ...]:
        """The instructions whose value of `register` may arrive before `index`; ENTRY for one from elsewhere."""
        number = self.body.numbers.number(register)
        writers = self.writers.get(number, [])
        if not writers:
            return (ENTRY,)
        if len(writers) == 1 and register.name not in self._passed:
            return tuple(writers)
        found = self._reaching.get((number, index))
        if found is None:
            found = self._reaching[number, index] = tuple(sorted(self._search(writers, index)))
        return found

    def _search(self, writers: list[int], index: int) -> set[int]:
        flow = self.body.flow
        found: set[int] = set()
        seen: set[int] = set()
        stack = [(flow.block_of(index), index)]
        while stack:
            block, before = stack.pop()
            here = writers[bisect_left(writers, flow.blocks[block].start) : bisect_left(writers, before)]
            for each in reversed(here):
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

    def makers(self, register: Register, index: int) -> frozenset[int]:
        """All instructions that a register's value before `index` may be computed from."""
        found: set[int] = set()
        stack = [(register, index)]
        while stack:
            for made in self.reaching(*stack.pop()):
                if made != ENTRY and made not in found:
                    found.add(made)
                    stack += [(self.body.numbers.registers[each], made) for each in self.body.steps[made].reads]
        return frozenset(found)

    def constant(self, operand: Operand, index: int) -> int | None:
        """The integer that an operand surely is before `index`, through moves."""
        for _ in range(_FAR):
            if isinstance(operand, Int):
                return operand.value
            at = self.definition(operand, index) if isinstance(operand, Register) else None
            if at is None or self.body.flow.instructions[at].form.opcode != "mov":
                return None
            operand, index = self.body.flow.instructions[at].operands[1], at
        return None

    def pointer(self, operand: Operand, index: int, depth: int = _FAR) -> Pointer | None:
        """The variable and offset that an operand surely points to before `index`."""
        if isinstance(operand, SymbolAddress):
            variable = self.body.declared[index].get(operand.name)
            return None if variable is None else Pointer(variable, operand.offset)
        if not isinstance(operand, Register) or not depth:
            return None
        at = self.definition(operand, index)
        if at is None:
            return None
        if (at, depth) not in self._pointers:
            self._pointers[at, depth] = self._made(self.body.flow.instructions[at], at, depth - 1)
        return self._pointers[at, depth]

    def place(self, address: Address, index: int, bytes_: int) -> Place | None:
        """The bytes that an address names before `index`, as far as anybody can tell."""
        found = self.pointer(address.base, index)
        if found is not None:
            return Place(found.variable.name, found.offset + address.offset, bytes_)
        if isinstance(address.base, Register):
            return Place(self.body.numbers.number(address.base), address.offset, bytes_)
        return None

    def roots(self, operand: Operand, index: int) -> frozenset[str]:
        """The pointers that an address may be made of, by name: variables, parameters of `.ptr` or `cvta`."""
        found: set[str] = set()
        seen: set[int] = set()
        stack: list[tuple[Operand, int, bool]] = [(operand, index, False)]
        while stack:
            each, at, pointing = stack.pop()
            if isinstance(each, SymbolAddress) and each.name in self.body.declared[at]:
                found.add(each.name)
            for made in self.reaching(each, at) if isinstance(each, Register) else ():
                if made != ENTRY and made not in seen:
                    seen.add(made)
                    stack += self._parts(made, pointing, found)
        return frozenset(found)

    def _parts(self, made: int, pointing: bool, found: set[str]) -> list[tuple[Operand, int, bool]]:
        instruction = self.body.flow.instructions[made]
        opcode, operands = instruction.form.opcode, instruction.operands
        if opcode == "ld" and isinstance(address := operands[1], Address) and isinstance(address.base, SymbolAddress):
            known = self.body.declared[made].get(address.base.name)
            if isinstance(known, Parameter) and (pointing or known.pointer is not None):
                found.add(known.name if not address.offset else f"{known.name}+{address.offset}")
            return []
        if opcode in ("mov", "cvt", "cvta"):
            return [(operands[1], made, pointing or opcode == "cvta")]
        if opcode in ("add", "sub"):
            return [(each, made, pointing) for each in operands[1:3]]
        return [(operands[3], made, pointing)] if opcode == "mad" else []

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
