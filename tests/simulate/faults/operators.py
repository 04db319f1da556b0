"""Mutation operators: each drops, moves or weakens one kind of thing, at every statement where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptxgen.ir import Instruction, Statement
from tests.simulate.faults import barriers, bounds, fences, masks, moves, phases, places, waits
from tests.simulate.faults.edits import Change, Kernel, Mutant, Subject, Verb

# What stands in the place of one instruction: what was done in words, and the statements.
Variant = tuple[Verb, Subject, str, tuple[Statement, ...]]
Operator = Callable[[Instruction, int], Iterator[Variant]]


def mutants(kernel: Kernel, threads: int) -> Iterator[Mutant]:
    """Every fault at every place of a kernel that runs with so many threads to a CTA."""
    for operator in (barriers.faults, waits.faults, fences.faults, phases.faults, masks.faults, bounds.faults,
                     places.faults):  # fmt: skip
        for place, instruction in enumerate(kernel.instructions):
            for verb, subject, how, statements in operator(instruction, threads):
                change = Change(verb, subject, how, (place,), {id(instruction): statements})
                yield kernel.mutant(change)
    for operator in (moves.faults, waits.unrepeated):
        yield from map(kernel.mutant, operator(kernel))
