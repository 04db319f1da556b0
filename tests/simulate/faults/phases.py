"""Objects that count: initialisations, arrivals, parities, expected bytes."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.ir import Instruction, Int, Operand, Register, Statement
from tests.simulate.faults.edits import SPARE, Subject, Verb, made, slot, with_operand
from tests.simulate.faults.waits import ASKING

Variant = tuple[Verb, Subject, str, tuple[Statement, ...]]
_COPIES = ("cp.async.bulk", "cp.async.bulk.tensor", "st.async", "red.async", "cp.reduce.async.bulk")
_GRAIN = 16


def faults(instruction: Instruction, threads: int) -> Iterator[Variant]:
    opcode, words = instruction.form.opcode, set(instruction.form.words.values())
    match opcode:
        case "mbarrier.init":
            yield Verb.DROP, Subject.INIT, "dropped", ()
            yield from _shifted(instruction, "count", Subject.COUNT, 1)
        case "mbarrier.arrive" | "mbarrier.arrive_drop":
            yield from _arrival(instruction, words)
        case "mbarrier.expect_tx":
            yield Verb.DROP, Subject.BYTES, "dropped", ()
        case "cp.async" if "mbarrier" in instruction.form.name:
            yield Verb.DROP, Subject.ARRIVAL, "dropped", ()
    if "expect_tx" in words or opcode == "mbarrier.expect_tx":
        yield from _shifted(instruction, "tx_count", Subject.BYTES, _GRAIN)
    if opcode in _COPIES and not {"commit_group", "wait_group"} & words:
        told = Subject.WRITE if slot(instruction, "mbar") is None else Subject.BYTES
        yield Verb.DROP, Subject.WRITE, "copy dropped", ()
        yield from _shifted(instruction, "bytes", told, _GRAIN)
    if opcode in ASKING and (place := slot(instruction, "parity")) is not None:
        yield Verb.WEAKEN, Subject.PARITY, "flipped", _flipped(instruction, place)


def _arrival(instruction: Instruction, words: set[str]) -> Iterator[Variant]:
    state = instruction.operands[0]
    if not isinstance(state, Register):
        yield Verb.DROP, Subject.ARRIVAL, "dropped", ()
    if "expect_tx" in words:
        return
    if slot(instruction, "count") is not None:
        yield from _shifted(instruction, "count", Subject.COUNT, 1)
    else:
        twice = made(instruction.form.name, *instruction.operands, Int(2), guard=instruction.guard)
        yield Verb.WEAKEN, Subject.COUNT, "+1", (twice,)


def _shifted(instruction: Instruction, name: str, subject: Subject, step: int) -> Iterator[Variant]:
    """An immediate, or a register, that is one step less or more."""
    place = slot(instruction, name)
    if place is None:
        return
    for by in (-step, step):
        yield Verb.WEAKEN, subject, f"{by:+}", _added(instruction, place, by)


def _added(instruction: Instruction, place: int, by: int) -> tuple[Statement, ...]:
    operand: Operand = instruction.operands[place]
    if isinstance(operand, Int):
        return (with_operand(instruction, place, Int(operand.value + by)),)
    spare = SPARE["b32"]
    return made("add.s32", spare, operand, Int(by)), with_operand(instruction, place, spare)


def _flipped(instruction: Instruction, place: int) -> tuple[Statement, ...]:
    operand = instruction.operands[place]
    if isinstance(operand, Int):
        return (with_operand(instruction, place, Int(1 - operand.value)),)
    spare = SPARE["b32"]
    return made("xor.b32", spare, operand, Int(1)), with_operand(instruction, place, spare)
