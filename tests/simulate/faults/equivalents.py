"""Why a fault that nothing tells of is none: what a run shows of it, or what is written down for its place."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import evolve, frozen

from ptxgen.ir import Guard, Instruction, Register, Statement
from ptxgen.simulate import simulator
from tests.simulate.faults.edits import SPARE, Change, Mutant, Subject, Verb, made, slot
from tests.simulate.faults.judging import Judge, run


class Shown(Enum):
    """What a run shows of a fault that changes nothing."""

    SAME_TRUTH = "the comparison, or the guard, says the same at every visit"
    RENAMED = "all threads of the CTA meet there, whatever the number"


def shown(judge: Judge, mutant: Mutant) -> Shown | None:
    """What runs of the case show; None where they show nothing."""
    change = mutant.change
    if change.subject in (Subject.BOUND, Subject.GUARD) and _says_the_same(judge, mutant):
        return Shown.SAME_TRUTH
    if change.subject is Subject.BARRIER and change.how == "of another number" and _all_meet(judge, change.places[0]):
        return Shown.RENAMED
    return None


def _says_the_same(judge: Judge, mutant: Mutant) -> bool:
    """A trap stands where the two differ, and is not reached with any arguments."""
    place = mutant.change.places[0]
    instruction = judge.kernel.instructions[place]
    witness = _witness(instruction, mutant.change)
    if witness is None:
        return False
    change = evolve(mutant.change, by={id(instruction): witness})
    decoded = simulator(judge.kernel.mutant(change).module, judge.case.kernel)
    for launch, limit in zip(judge.case.launches, judge.limits, strict=True):
        report, _ = run(decoded, launch, None, limit)
        if any(each.code == "trap" for each in report.findings):
            return False
    return True


def _witness(instruction: Instruction, change: Change) -> tuple[Statement, ...] | None:
    if change.verb is Verb.DROP and instruction.guard is not None:
        guard = evolve(instruction.guard, negated=not instruction.guard.negated)
        return made("trap", guard=guard), instruction
    (other,) = change.by[id(instruction)] if len(change.by[id(instruction)]) == 1 else (None,)
    truth: Any = instruction.operands[0] if instruction.operands else None
    if change.subject is not Subject.BOUND or not isinstance(other, Instruction) or not isinstance(truth, Register):
        return None
    spare = SPARE["pred"]
    second = evolve(other, operands=(spare, *other.operands[1:]))
    differs = made("xor.pred", spare, spare, truth)
    return second, instruction, differs, made("trap", guard=Guard(spare, negated=False))


def _all_meet(judge: Judge, place: int) -> bool:
    """Every thread of every CTA comes to the barrier as often as every other, and it has no number of threads."""
    if slot(judge.kernel.instructions[place], "b") is not None:
        return False
    counts = zip(judge.counts, judge.case.launches, strict=True)
    return all(lanes[place] % (launch.grid * launch.block) == 0 for lanes, launch in counts)


@frozen
class Known:
    """Faults of a case that change nothing: which, how many at most, and why."""

    verb: Verb
    subject: Subject
    how: str
    count: int
    why: str
    text: str = ""
    places: tuple[int, ...] = ()

    def holds(self, mutant: Mutant) -> bool:
        """Whether it is about this fault."""
        change = mutant.change
        alike = (change.verb, change.subject) == (self.verb, self.subject) and change.how.startswith(self.how)
        return alike and self.text in mutant.text and (not self.places or change.places[0] in self.places)
