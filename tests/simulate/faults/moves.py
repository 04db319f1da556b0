"""Statements moved past the one that they are there to order: before the nearest one in front, behind the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptxgen.ir import Instruction, Label, Statement
from ptxgen.ir.access import reads, writes
from tests.simulate.faults.edits import Change, Kernel, Subject, Verb
from tests.simulate.faults.fences import is_fence
from tests.simulate.faults.waits import ASKING, is_wait

_MEMORY = frozenset({"ld", "st", "atom", "red", "ldmatrix", "stmatrix", "wmma.load", "wmma.store", "st.async"})
_COPIES = frozenset({"cp.async", "cp.async.bulk", "cp.async.bulk.tensor", "cp.reduce.async.bulk"})
_MEETINGS = frozenset({"bar", "barrier", "barrier.cluster", "bar.warp.sync", "mbarrier.arrive"})


def accesses(instruction: Instruction) -> bool:
    """Whether it touches memory that others may touch."""
    words = instruction.form.words
    if instruction.form.opcode in _MEMORY:
        return not str(words.get("space", "")).startswith(("param", "const", "local"))
    return starts(instruction) or instruction.form.opcode == "mbarrier.init"


def starts(instruction: Instruction) -> bool:
    """Whether it starts a copy or a product that goes on beside the threads."""
    words = instruction.form.words
    if instruction.form.opcode == "wgmma":
        return "mma_async" in words.values()
    return (
        instruction.form.opcode in _COPIES and len(instruction.operands) >= 2 and "commit_group" not in words.values()
    )


def meets(instruction: Instruction) -> bool:
    """Whether threads meet or tell each other there."""
    return instruction.form.opcode in _MEETINGS


Passed = Callable[[Instruction], bool]


def _rules(instruction: Instruction) -> Iterator[tuple[Subject, int, Passed]]:
    """What an instruction may be moved past: the subject, before (-1) or behind (1), and what it passes."""
    opcode = instruction.form.opcode
    if opcode in ("bar", "barrier"):
        yield Subject.BARRIER, -1, lambda each: accesses(each) or is_wait(each) or is_fence(each)
        yield Subject.BARRIER, 1, accesses
    elif opcode == "bar.warp.sync":
        yield Subject.WARP_BARRIER, -1, accesses
        yield Subject.WARP_BARRIER, 1, accesses
    elif opcode == "barrier.cluster" and "arrive" in instruction.form.words:
        yield Subject.CLUSTER_BARRIER, -1, accesses
    elif opcode == "barrier.cluster":
        yield Subject.CLUSTER_BARRIER, 1, accesses
    elif is_wait(instruction):
        yield Subject.WAIT, 1, lambda each: accesses(each) or meets(each)
    elif "commit_group" in instruction.form.words.values():
        yield Subject.COMMIT, -1, starts
    elif is_fence(instruction):
        yield Subject.FENCE, -1, accesses
        yield Subject.FENCE, 1, lambda each: accesses(each) or meets(each)
    elif opcode == "mbarrier.arrive" and "expect_tx" not in instruction.form.words.values():
        yield Subject.ARRIVAL, -1, lambda each: accesses(each) or is_wait(each) or is_fence(each)


def faults(kernel: Kernel) -> Iterator[Change]:
    """Every move that there is in the kernel."""
    number = {id(each): place for place, each in enumerate(kernel.instructions)}
    for statements in kernel.sequences():
        for at, statement in enumerate(statements):
            if not isinstance(statement, Instruction):
                continue
            for subject, step, passed in _rules(statement):
                there = _nearest(statements, at, step, passed)
                if there is not None:
                    taken = (statement,) if step > 0 else (*_needed(statements, statement, there), statement)
                    pair = (there, *taken) if step > 0 else (*taken, there)
                    how = f"{'behind' if step > 0 else 'before'} {there.form.name}"
                    by: dict[int, tuple[Statement, ...]] = {id(each): () for each in taken}
                    yield Change(Verb.MOVE, subject, how, (number[id(statement)], number[id(there)]),
                                 {**by, id(there): pair})  # fmt: skip
            yield from _late(statements, at, number)


def _needed(statements: tuple[Statement, ...], moved: Instruction, there: Instruction) -> tuple[Instruction, ...]:
    """What stands between and computes what the moved instruction reads."""
    inside = [id(each) for each in statements]
    between = statements[inside.index(id(there)) + 1 : inside.index(id(moved))]
    wanted, found = set(reads(moved)), list[Instruction]()
    for each in reversed(between):
        if isinstance(each, Instruction) and wanted.intersection(writes(each)):
            found.insert(0, each)
            wanted |= set(reads(each))
    return tuple(found)


def _nearest(statements: tuple[Statement, ...], at: int, step: int, passed: Passed) -> Instruction | None:
    """The nearest instruction of that kind in the same block; None without one, or with a barrier of its own before."""
    at += step
    while 0 <= at < len(statements):
        other = statements[at]
        if isinstance(other, Label) or (isinstance(other, Instruction) and other.form.opcode == "bra"):
            return None
        if isinstance(other, Instruction) and passed(other):
            return other
        at += step
    return None


def _late(statements: tuple[Statement, ...], at: int, number: dict[int, int]) -> Iterator[Change]:
    """The loop of a wait for an mbarrier moved behind the next access: the label, the question and the branch back."""
    if at < 1 or at + 1 >= len(statements):
        return
    label, asked, branch = statements[at - 1 : at + 2]
    if not (isinstance(label, Label) and isinstance(asked, Instruction) and isinstance(branch, Instruction)):
        return
    if asked.form.opcode not in ASKING or branch.form.opcode != "bra" or label.name not in branch.operands:
        return
    there = _nearest(statements, at + 1, 1, lambda each: accesses(each) or meets(each))
    if there is not None:
        yield Change(Verb.MOVE, Subject.WAIT, f"behind {there.form.name}", (number[id(asked)], number[id(there)]), {
            id(label): (), id(asked): (), id(branch): (), id(there): (there, label, asked, branch),
        })  # fmt: skip
