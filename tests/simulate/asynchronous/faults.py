"""Faults of synchronisation put into kernels: one instruction dropped, moved or weakened at a time."""

from collections.abc import Iterator
from typing import Any

from attrs import evolve

from isa.forms import resolve
from ptxgen.ir import Instruction, Int, Module, Scope
from tests.simulate.mutants import Mutant, replaced, with_operand

_DROPPED = {
    "fence": "drop fence", "barrier": "drop barrier", "bar": "drop barrier", "barrier.cluster": "drop cluster barrier",
    "mbarrier.init": "drop init", "mbarrier.arrive": "drop arrive", "cp.async.bulk.tensor": "drop copy",
    "cp.async.bulk": "drop copy", "mbarrier.expect_tx": "drop expect",
}  # fmt: skip
_GROUPS = {"commit_group": "drop commit", "wait_group": "drop wait", "fence": "drop fence"}


def faults(module: Module) -> Iterator[Mutant]:
    """Every fault at every place of the only kernel."""
    kernel = module.function()
    assert kernel.body is not None
    instructions = list(kernel.instructions())
    for place, instruction in enumerate(instructions):
        for operation, by in _of(instructions, place):
            body = replaced(kernel.body, instruction, by)
            changed = evolve(kernel, body=body)
            items = tuple(changed if each is kernel else each for each in module.items)
            yield Mutant(operation, place, str(instruction), evolve(module, items=items))
        for operation, by in _moves(instructions, place):
            changed = evolve(kernel, body=_moved(kernel.body, instruction, by, behind=operation == "late wait"))
            items = tuple(changed if each is kernel else each for each in module.items)
            yield Mutant(operation, place, str(instruction), evolve(module, items=items))


_PASSED = frozenset({"ld", "st", "bar", "barrier", "mbarrier.arrive"})


def _moves(instructions: list[Instruction], place: int) -> Iterator[tuple[str, Instruction]]:
    """Where an instruction may stand wrongly in its own block: before or behind another one, which is given."""
    instruction = instructions[place]
    opcode, words = instruction.form.opcode, set(instruction.form.words.values())
    for step, kind in ((-1, "early"), (1, "late")):
        other = place + step
        while 0 <= other < len(instructions) and instructions[other].form.opcode != "bra":
            there = instructions[other]
            waits = "wait_group" in there.form.words.values()
            if kind == "early" and opcode == "mbarrier.arrive" and (waits or there.form.opcode == "ld"):
                yield "early arrive", there
                break
            if kind == "early" and "commit_group" in words and len(there.operands) > 2:
                yield "early commit", there
                break
            if kind == "late" and "wait_group" in words and there.form.opcode in _PASSED:
                yield "late wait", there
                break
            other += step


def _moved(scope: Scope, wanted: Instruction, by: Instruction, *, behind: bool) -> Scope:
    """The scope with one instruction before or behind another of the same scope."""
    made: list[Any] = []
    for statement in scope.statements:
        if statement is wanted:
            continue
        if statement is by:
            made += [by, wanted] if behind else [wanted, by]
        elif isinstance(statement, Scope):
            made.append(_moved(statement, wanted, by, behind=behind))
        else:
            made.append(statement)
    return Scope(tuple(made))


def _of(instructions: list[Instruction], place: int) -> Iterator[tuple[str, Instruction | None]]:
    instruction = instructions[place]
    opcode, words = instruction.form.opcode, set(instruction.form.words.values())
    if opcode in _DROPPED and not words & _GROUPS.keys():
        yield _DROPPED[opcode], None
    if opcode in ("wgmma", "cp.async.bulk", "cp.async"):
        yield from ((name, None) for word, name in _GROUPS.items() if word in words)
        if "wait_group" in words:
            weaker = int(getattr(instruction.operands[0], "value", 0)) + 1
            yield "weaken wait", with_operand(instruction, 0, Int(weaker))
    if opcode == "mbarrier.init":
        count = int(getattr(instruction.operands[1], "value", 0))
        yield from (("wrong count", with_operand(instruction, 1, Int(count + by))) for by in (-1, 1) if count + by > 0)
    if "expect_tx" in words and isinstance(instruction.operands[-1], Int):
        last = len(instruction.operands) - 1
        size = instruction.operands[-1].value
        yield from (("wrong bytes", with_operand(instruction, last, Int(size + by))) for by in (-1024, 1024))
    if opcode in ("mbarrier.try_wait", "mbarrier.test_wait") and "parity" in words:
        yield from (("wrong parity", with_operand(instruction, 2, Int(parity))) for parity in (0, 1))
    before = instructions[place - 1].form.opcode if place else ""
    if instruction.form.opcode == "bra" and before in ("mbarrier.try_wait", "mbarrier.test_wait"):
        yield "drop wait", None
    if opcode == "barrier.cluster" and "release" in words:
        name = instruction.form.name.replace("release", "relaxed")
        yield "weaken barrier", evolve(instruction, form=resolve(name)[0])
