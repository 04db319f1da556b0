"""Mutation operators: each drops, moves or weakens one kind of thing, at every statement where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptxgen.ir import Instruction, Statement
from tests.simulate.faults import barriers, bounds, fences, masks, moves, phases, places, waits
from tests.simulate.faults.edits import Change, Kernel, Mutant, Subject, Verb

# What stands in the place of one instruction: what was done in words, and the statements.
Variant = tuple[Verb, Subject, str, tuple[Statement, ...]]
OF_ONE: tuple[Callable[[Instruction, int], Iterator[Variant]], ...] = (
    barriers.faults, waits.faults, fences.faults, phases.faults, masks.faults, bounds.faults, places.faults,
)  # fmt: skip
OF_SEVERAL: tuple[Callable[[Kernel], Iterator[Change]], ...] = (moves.faults, waits.unrepeated, places.odd_variables)


def mutants(kernel: Kernel, threads: int) -> Iterator[Mutant]:
    """Every fault at every place of a kernel that runs with so many threads to a CTA."""
    for faults in OF_ONE:
        for place, instruction in enumerate(kernel.instructions):
            for verb, subject, how, statements in faults(instruction, threads):
                yield kernel.mutant(Change(verb, subject, how, (place,), {id(instruction): statements}))
    for moved in OF_SEVERAL:
        yield from map(kernel.mutant, moved(kernel))
