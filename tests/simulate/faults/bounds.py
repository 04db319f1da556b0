"""Bounds: what comparisons compare with and how, and the guards of what they guard."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from ptxgen.ir import Instruction, Int, Statement
from tests.simulate.faults.edits import Subject, Verb, made, with_operand

Variant = tuple[Verb, Subject, str, tuple[Statement, ...]]
_NEIGHBOURS = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq", "lo": "ls", "ls": "lo",
               "hi": "hs", "hs": "hi", "ltu": "leu", "leu": "ltu", "gtu": "geu", "geu": "gtu"}  # fmt: skip


def faults(instruction: Instruction, threads: int) -> Iterator[Variant]:
    opcode = instruction.form.opcode
    if opcode == "setp":
        name = instruction.form.name.split(".")
        place = next((at for at, word in enumerate(name) if word in _NEIGHBOURS and at > 0), None)
        if place is not None:
            other = ".".join((*name[:place], _NEIGHBOURS[name[place]], *name[place + 1 :]))
            changed = made(other, *instruction.operands, guard=instruction.guard)
            yield Verb.WEAKEN, Subject.BOUND, f".{_NEIGHBOURS[name[place]]}", (changed,)
        for at, operand in enumerate(instruction.operands):
            if isinstance(operand, Int):
                for by in (-1, 1):
                    moved = with_operand(instruction, at, Int(operand.value + by))
                    yield Verb.MOVE, Subject.BOUND, f"{by:+}", (moved,)
    if instruction.guard is not None:
        guard = instruction.guard
        yield (
            Verb.WEAKEN,
            Subject.GUARD,
            "negated",
            (evolve(instruction, guard=evolve(guard, negated=not guard.negated)),),
        )
        if opcode != "bra":
            yield Verb.DROP, Subject.GUARD, "dropped", (evolve(instruction, guard=None),)
