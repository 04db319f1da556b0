"""Waits for work that goes on beside the threads, and the commits that they count."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from isa.forms import resolve
from ptxgen.ir import Instruction, Int, Statement
from tests.simulate.faults.edits import Change, Kernel, Subject, Verb, made, with_operand

Variant = tuple[Verb, Subject, str, tuple[Statement, ...]]
ASKING = ("mbarrier.try_wait", "mbarrier.test_wait")


def is_wait(instruction: Instruction) -> bool:
    """Whether it waits for groups of copies or products."""
    return bool({"wait_group", "wait_all"} & set(instruction.form.words.values()))


def faults(instruction: Instruction, threads: int) -> Iterator[Variant]:
    words = set(instruction.form.words.values())
    if is_wait(instruction):
        yield Verb.DROP, Subject.WAIT, "dropped", ()
        for how, weaker in _weaker_groups(instruction):
            yield Verb.WEAKEN, Subject.WAIT, how, (weaker,)
    if "commit_group" in words:
        yield Verb.DROP, Subject.COMMIT, "dropped", ()
    if instruction.form.opcode in ASKING:
        truth = made("setp.eq.u32", instruction.operands[0], Int(0), Int(0), guard=instruction.guard)
        yield Verb.DROP, Subject.WAIT, "dropped", (truth,)
        for how, name in _weaker_names(instruction.form.name):
            yield Verb.WEAKEN, Subject.WAIT, how, (evolve(instruction, form=resolve(name)[0]),)


def _weaker_groups(instruction: Instruction) -> Iterator[tuple[str, Instruction]]:
    name = instruction.form.name
    if "wait_all" in name:
        yield "for all but one", made(name.replace("wait_all", "wait_group"), Int(1), guard=instruction.guard)
        return
    number = instruction.operands[0]
    assert isinstance(number, Int)
    yield "for one group less", with_operand(instruction, 0, Int(number.value + 1))
    if name == "cp.async.bulk.wait_group":
        yield "for the reads only", made(f"{name}.read", number, guard=instruction.guard)


def _weaker_names(name: str) -> Iterator[tuple[str, str]]:
    if ".acquire." in name:
        yield "relaxed", name.replace(".acquire.", ".relaxed.")
    if ".cluster." in name:
        yield "of the CTA only", name.replace(".acquire.cluster.", ".acquire.cta.")


def unrepeated(kernel: Kernel) -> Iterator[Change]:
    """Waits that ask once: the branch back that stands behind is gone."""
    for place, (asked, branch) in enumerate(zip(kernel.instructions, kernel.instructions[1:], strict=False)):
        if asked.form.opcode in ASKING and branch.form.opcode == "bra" and branch.guard is not None:
            yield Change(Verb.WEAKEN, Subject.WAIT, "asked once", (place, place + 1), {id(branch): ()})
