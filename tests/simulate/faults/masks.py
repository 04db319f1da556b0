"""Masks: of the lanes that meet, and of the CTAs that a copy goes to."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.ir import Instruction, Int, Statement
from tests.simulate.faults.edits import SPARE, Subject, Verb, made, slot, with_operand

Variant = tuple[Verb, Subject, str, tuple[Statement, ...]]
ALL, LAST, FIRST = 0xFFFFFFFF, 0x80000000, 0x00000001


def faults(instruction: Instruction, threads: int) -> Iterator[Variant]:
    if (ctas := slot(instruction, "ctas")) is not None:
        spare = SPARE["b16"]
        for how, mask in (("without CTA 1", 2), ("with CTA 2", 4)):
            computed = made("xor.b16", spare, instruction.operands[ctas], Int(mask))
            yield Verb.WEAKEN, Subject.MASK, how, (computed, with_operand(instruction, ctas, spare))
    place = slot(instruction, "membermask")
    if place is None:
        return
    for how, operation, mask in (
        ("without lane 31", "and", ALL ^ LAST), ("without lane 0", "and", ALL ^ FIRST), ("of all lanes", "or", ALL),
    ):  # fmt: skip
        operand = instruction.operands[place]
        if isinstance(operand, Int):
            value = operand.value & ALL
            changed = value & mask if operation == "and" else mask
            if changed != value:
                yield Verb.WEAKEN, Subject.MASK, how, (with_operand(instruction, place, Int(changed)),)
        else:
            spare = SPARE["b32"]
            computed = made(f"{operation}.b32", spare, operand, Int(mask))
            yield Verb.WEAKEN, Subject.MASK, how, (computed, with_operand(instruction, place, spare))
