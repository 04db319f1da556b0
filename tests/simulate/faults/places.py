"""Addresses: misaligned, far away; and writes that are missing."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from isa.types import type_named
from ptxgen.ir import Address, Instruction, Space, Statement, SymbolAddress, Variable
from tests.simulate.faults.edits import VARIABLE, Change, Kernel, Subject, Verb, slot, with_operand

Variant = tuple[Verb, Subject, str, tuple[Statement, ...]]
FAR = 1 << 20
_ACCESSES = frozenset({
    "ld", "ldu", "st", "atom", "red", "cp.async", "ldmatrix", "stmatrix", "cp.async.bulk", "cp.async.bulk.tensor",
    "st.async", "red.async", "mbarrier.init", "mbarrier.arrive", "mbarrier.try_wait", "mbarrier.test_wait",
    "mbarrier.expect_tx", "wmma.load", "wmma.store",
})  # fmt: skip


def faults(instruction: Instruction, threads: int) -> Iterator[Variant]:
    opcode, words = instruction.form.opcode, instruction.form.words
    if opcode not in _ACCESSES or str(words.get("space", "")).startswith(("param", "const")):
        return
    for place, operand in enumerate(instruction.operands):
        if isinstance(operand, Address):
            for bytes_ in _odd(instruction, place):
                moved = with_operand(instruction, place, evolve(operand, offset=operand.offset + bytes_))
                yield Verb.WEAKEN, Subject.ALIGNMENT, f"operand {place} {bytes_:+} bytes", (moved,)
            moved = with_operand(instruction, place, evolve(operand, offset=operand.offset + FAR))
            yield Verb.MOVE, Subject.PLACE, f"operand {place} far away", (moved,)
    if opcode in ("st", "stmatrix", "red") or (opcode == "cp.async" and len(instruction.operands) > 2):
        yield Verb.DROP, Subject.WRITE, "dropped", ()


def odd_variables(kernel: Kernel) -> Iterator[Change]:
    """Variables of shared memory that begin at an odd byte, without their alignment."""
    for statement in (each for scope in kernel.sequences() for each in scope):
        if not isinstance(statement, Variable) or statement.space is not Space.SHARED:
            continue
        if (statement.align or statement.type.bytes) > 1:
            users = tuple(place for place, each in enumerate(kernel.instructions) if _names(each, statement.name))
            byte = Variable("spare_byte", type_named("b8"), Space.SHARED)
            by = {id(statement): (byte, evolve(statement, align=1))}
            yield Change(Verb.WEAKEN, Subject.ALIGNMENT, VARIABLE, users or (0,), by)


def _names(instruction: Instruction, name: str) -> bool:
    bases = (each.base if isinstance(each, Address) else each for each in instruction.operands)
    return any(isinstance(each, SymbolAddress) and each.name == name for each in bases)


def _odd(instruction: Instruction, place: int) -> tuple[int, ...]:
    """Bytes that take an address off its alignment: one, and where the access has parts, the size of one."""
    opcode, words = instruction.form.opcode, instruction.form.words
    if place == slot(instruction, "mbar"):
        return 1, 4
    if opcode in ("ld", "ldu", "st", "atom", "red", "st.async", "red.async"):
        size = instruction.form.type_of().bytes
        parts = int(words["vec"][1:]) if "vec" in words else 1
        return tuple(dict.fromkeys(each for each in (1, size) if each < size * parts))
    if opcode in ("ldmatrix", "stmatrix", "cp.async.bulk"):
        return 1, 8
    if opcode == "cp.async":
        return 1, 2
    if opcode == "cp.async.bulk.tensor":
        return 1, 16
    return 1, 4
