"""Mutants: a module with one fault in its kernel, and where each of its instructions stood before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from attrs import evolve, frozen

from isa.forms import resolve
from isa.operands import OperandSlot
from isa.types import type_named
from ptxgen.ir import Function, Guard, Instruction, Module, Operand, Register, Registers, Scope, Statement


class Verb(Enum):
    """What is done to a statement."""

    DROP = "drop"
    MOVE = "move"
    WEAKEN = "weaken"


class Subject(Enum):
    """What the fault is about."""

    BARRIER = "barrier"
    WARP_BARRIER = "warp barrier"
    CLUSTER_BARRIER = "cluster barrier"
    WAIT = "wait"
    COMMIT = "commit"
    FENCE = "fence"
    INIT = "init"
    ARRIVAL = "arrival"
    PARITY = "parity"
    COUNT = "count"
    BYTES = "bytes"
    MASK = "mask"
    BOUND = "bound"
    GUARD = "guard"
    ALIGNMENT = "alignment"
    PLACE = "place"
    WRITE = "write"


VARIABLE = "of a variable"
Replacement = Mapping[int, tuple[Statement, ...]]
SPARE = {name: Register(f"%spare_{name}", type_named(name)) for name in ("b16", "b32", "pred")}


@frozen(eq=False)
class Change:
    """One fault: `how` in words, and by the identity of a statement what stands in its place.

    `places` are the instructions that it is about, by their number in the good kernel.
    """

    verb: Verb
    subject: Subject
    how: str
    places: tuple[int, ...]
    by: Replacement


@frozen(eq=False)
class Mutant:
    """A module with one fault; `homes` gives for each instruction of it the number that it had in the good kernel."""

    change: Change
    text: str
    module: Module
    homes: tuple[int, ...]

    @property
    def name(self) -> str:
        change = self.change
        return f"{change.verb.value} {change.subject.value} ({change.how}) at {change.places[0]}: {self.text}"


@frozen(eq=False)
class Kernel:
    """A kernel to put faults into: its instructions in order, and its statements scope by scope."""

    module: Module
    function: Function
    instructions: tuple[Instruction, ...]

    @classmethod
    def of(cls, module: Module, name: str | None = None) -> Kernel:
        """The only kernel of a module, or the one named, every statement an object of its own."""
        function = module.function(name)
        assert function.body is not None
        body = _distinct(function.body)
        own = evolve(function, body=body)
        items = tuple(own if each is function else each for each in module.items)
        return cls(evolve(module, items=items), own, tuple(own.instructions()))

    def mutant(self, change: Change) -> Mutant:
        """The module with this fault."""
        assert self.function.body is not None
        body = _replaced(self.function.body, change.by)
        spare = tuple(Registers(each.type, each.name) for each in SPARE.values())
        changed = evolve(self.function, body=Scope((*spare, *body.statements)))
        items = tuple(changed if each is self.function else each for each in self.module.items)
        home = {id(each): place for place, each in enumerate(self.instructions)}
        homes = tuple(home.get(id(each), change.places[0]) for each in changed.instructions())
        text = str(self.instructions[change.places[0]])
        return Mutant(change, text, evolve(self.module, items=items), homes)

    def sequences(self) -> Iterator[tuple[Statement, ...]]:
        """The statements of each scope."""
        assert self.function.body is not None
        pending = [self.function.body]
        while pending:
            scope = pending.pop()
            yield scope.statements
            pending += [each for each in scope.statements if isinstance(each, Scope)]


def _distinct(scope: Scope) -> Scope:
    made: list[Any] = []
    for each in scope.statements:
        made.append(_distinct(each) if isinstance(each, Scope) else evolve(each))
    return Scope(tuple(made))


def _replaced(scope: Scope, by: Replacement) -> Scope:
    made: list[Any] = []
    for each in scope.statements:
        if id(each) in by:
            made += by[id(each)]
        else:
            made.append(_replaced(each, by) if isinstance(each, Scope) else each)
    return Scope(tuple(made))


def made(name: str, *operands: Operand, guard: Guard | None = None) -> Instruction:
    """The instruction of that name that takes so many operands."""
    for form in resolve(name):
        if any(len(each.slots) == len(operands) for each in form.signatures):
            return Instruction(form, operands, guard)
    raise LookupError(f"{name} with {len(operands)} operands")


def with_operand(instruction: Instruction, place: int, operand: Operand) -> Instruction:
    """The instruction with another operand at a place."""
    operands = list(instruction.operands)
    operands[place] = operand
    return evolve(instruction, operands=tuple(operands))


def slots(instruction: Instruction) -> tuple[OperandSlot, ...]:
    """What each operand is for."""
    count = len(instruction.operands)
    return next((each.slots for each in instruction.form.signatures if len(each.slots) == count), ())


def slot(instruction: Instruction, *names: str) -> int | None:
    """The place of the operand for one of these; None without one."""
    return next((place for place, each in enumerate(slots(instruction)) if each.name in names), None)
