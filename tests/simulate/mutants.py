"""Faults put into kernels: one statement dropped, moved or weakened at a time."""

from collections.abc import Iterator
from typing import Any

from attrs import evolve, frozen

from ptxgen.ir import Address, Instruction, Int, Module, Scope


@frozen
class Mutant:
    """A module with one fault: what was done, and to which instruction (its place in the kernel from 0)."""

    operation: str
    statement: int
    text: str
    module: Module


def mutants(module: Module) -> Iterator[Mutant]:
    """Every fault at every place of the only kernel."""
    kernel = module.function()
    assert kernel.body is not None
    instructions = list(kernel.instructions())
    for place, instruction in enumerate(instructions):
        for operation, by in _faults(instruction):
            body = replaced(kernel.body, instruction, by)
            changed = evolve(
                module, items=tuple(evolve(kernel, body=body) if each is kernel else each for each in module.items)
            )
            yield Mutant(operation, place, str(instruction), changed)


def _faults(instruction: Instruction) -> Iterator[tuple[str, Instruction | None]]:
    opcode, words = instruction.form.opcode, instruction.form.words
    if opcode in ("bar", "barrier", "bar.warp.sync"):
        yield "drop barrier", None
    if "wait_group" in words:
        yield "drop wait", None
        yield "weaken wait", with_operand(instruction, 0, Int(instruction.operands[0].value + 1))  # type: ignore[union-attr]
    if "commit_group" in words:
        yield "drop commit", None
    if opcode in ("ld", "st") and instruction.guard is not None:
        yield "drop guard", evolve(instruction, guard=None)
    if opcode in ("ld", "st") and not str(words.get("space", "")).startswith("param"):
        yield from _misplaced(instruction)
    if opcode == "st" or "shared" in words.get("destination", ""):
        yield "drop write", None
    if opcode == "setp":
        yield from _bounds(instruction)


def _misplaced(instruction: Instruction) -> Iterator[tuple[str, Instruction]]:
    for place, operand in enumerate(instruction.operands):
        if isinstance(operand, Address):
            yield "break alignment", with_operand(instruction, place, evolve(operand, offset=operand.offset + 1))
            yield "move far away", with_operand(instruction, place, evolve(operand, offset=operand.offset + (1 << 20)))


def _bounds(instruction: Instruction) -> Iterator[tuple[str, Instruction]]:
    for place, operand in enumerate(instruction.operands):
        if isinstance(operand, Int):
            yield "move bound", with_operand(instruction, place, Int(operand.value + 1))


def with_operand(instruction: Instruction, place: int, operand: Any) -> Instruction:
    """The instruction with another operand at a place."""
    operands = list(instruction.operands)
    operands[place] = operand
    return evolve(instruction, operands=tuple(operands))


def replaced(scope: Scope, wanted: Instruction, by: Instruction | None) -> Scope:
    """The scope with another instruction in the place of one, or (None) without it."""
    made: list[Any] = []
    for statement in scope.statements:
        if statement is wanted:
            made += [by] if by is not None else []
        else:
            made.append(replaced(statement, wanted, by) if isinstance(statement, Scope) else statement)
    return Scope(tuple(made))
