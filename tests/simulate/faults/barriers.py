"""Barriers of the CTA, of a warp and of the cluster: dropped, or weaker than they were."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from isa.forms import resolve
from ptxgen.ir import Instruction, Int, Operand, Statement
from tests.simulate.faults.edits import Subject, Verb, made, slot, with_operand

WARP = 32
Variant = tuple[Verb, Subject, str, tuple[Statement, ...]]


def faults(instruction: Instruction, threads: int) -> Iterator[Variant]:
    opcode, words = instruction.form.opcode, instruction.form.words
    match opcode:
        case "bar.warp.sync":
            yield Verb.DROP, Subject.WARP_BARRIER, "dropped", ()
        case "barrier.cluster":
            yield Verb.DROP, Subject.CLUSTER_BARRIER, "dropped", ()
            if "release" in words:
                name = instruction.form.name.replace("release", "relaxed")
                yield Verb.WEAKEN, Subject.CLUSTER_BARRIER, "relaxed", (evolve(instruction, form=resolve(name)[0]),)
        case "bar" | "barrier":
            for verb, how, statements in _of_cta(instruction, threads):
                yield verb, Subject.BARRIER, how, statements


def _of_cta(instruction: Instruction, threads: int) -> Iterator[tuple[Verb, str, tuple[Statement, ...]]]:
    """The barrier dropped (where it gives no result), of another number, of fewer or more threads, of the warp only,
    and passed without a wait.
    """
    words, guard = instruction.form.words, instruction.guard
    if "red" not in words:
        yield Verb.DROP, "dropped", ()
        everyone = made("bar.warp.sync", Int(0xFFFFFFFF), guard=guard)
        yield Verb.WEAKEN, "of the warp only", (everyone,)
    identity = slot(instruction, "a")
    count = slot(instruction, "b")
    assert identity is not None
    number = instruction.operands[identity]
    if isinstance(number, Int):
        yield Verb.WEAKEN, "of another number", (with_operand(instruction, identity, Int(number.value + 7)),)
    given = instruction.operands[count] if count is not None else Int(-(-threads // WARP) * WARP)
    if isinstance(given, Int):
        for how, by in (("of fewer threads", -WARP), ("of more threads", WARP)):
            if given.value + by > 0:
                yield Verb.WEAKEN, how, (_counted(instruction, Int(given.value + by)),)
        if "sync" in words and threads > WARP:
            arrival = made(instruction.form.name.replace("sync", "arrive"), number, given, guard=guard)
            yield Verb.WEAKEN, "without a wait", (arrival,)


def _counted(instruction: Instruction, count: Operand) -> Instruction:
    """The barrier with a number of threads."""
    place = slot(instruction, "b")
    if place is not None:
        return with_operand(instruction, place, count)
    identity = slot(instruction, "a")
    assert identity is not None
    operands = instruction.operands
    return made(instruction.form.name, *operands[: identity + 1], count, *operands[identity + 1 :],
                guard=instruction.guard)  # fmt: skip
