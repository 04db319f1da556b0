"""Registers read before they are written on some path."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ptxgen.ir import Guard, Instruction, Register
from ptxgen.ir.flow import Flow, branch_target, flow_of, reverse_post_order
from ptxgen.ir.nodes import Function
from ptxgen.verify.steps import Numbers, Step, steps_of


@frozen
class EarlyRead:
    """An instruction and a register that it reads although some path from the entry has not written it."""

    instruction: Instruction
    register: Register


def early_reads(function: Function) -> tuple[EarlyRead, ...]:
    """The first read of each register that some path reaches without a write, in the order of the text.

    A write under guard @p counts where @p is known to hold: under the same guard, and behind a branch on p, as long as
    p is not written in between. Paths are otherwise taken as possible whatever the values.
    """
    flow = flow_of(function)
    numbers = Numbers()
    return early_reads_in(flow, steps_of(flow, numbers), numbers)


def early_reads_in(
    flow: Flow,
    steps: Sequence[Step],
    numbers: Numbers,
    implied: Callable[[Guard], tuple[Guard, ...]] = lambda guard: (),
) -> tuple[EarlyRead, ...]:
    """As `early_reads`, where the flow and what each instruction reads and writes are known.

    `implied` gives the guards that hold where a guard does; it is asked only where a read is in doubt.
    """
    suspects = _suspects(flow, steps)
    return _refined(flow, steps, suspects, numbers, implied) if suspects else ()


def _suspects(flow: Flow, steps: Sequence[Step]) -> frozenset[int]:
    """The numbers of the registers that an analysis without guards cannot clear."""
    order = reverse_post_order(flow)
    made = {block: _unguarded_writes(steps[flow.blocks[block].start : flow.blocks[block].stop]) for block in order}
    entering: dict[int, frozenset[int]] = {}
    leaving: dict[int, frozenset[int]] = {}
    changed = True
    while changed:
        changed = False
        for block in order:
            entering[block] = _meet(flow, block, leaving)
            after = entering[block] | made[block]
            if leaving.get(block) != after:
                leaving[block] = after
                changed = True
    found: set[int] = set()
    for block in order:
        written = set(entering[block])
        for step in steps[flow.blocks[block].start : flow.blocks[block].stop]:
            if not written.issuperset(step.reads):
                found.update(number for number in step.reads if number not in written)
            if step.guard is None:
                written.update(step.writes)
    return frozenset(found)


def _unguarded_writes(steps: Sequence[Step]) -> frozenset[int]:
    return frozenset().union(*[step.writes for step in steps if step.guard is None])


def _meet(flow: Flow, block: int, leaving: dict[int, frozenset[int]]) -> frozenset[int]:
    if block == 0:
        return frozenset()
    known = [leaving[each] for each in flow.blocks[block].predecessors if each in leaving]
    return known[0].intersection(*known[1:]) if known else frozenset()


class _Facts:
    """Bits for "r is written" and for "r is written where the guard holds", over the suspects and their guards."""

    def __init__(
        self,
        suspects: frozenset[int],
        steps: Sequence[Step],
        numbers: Numbers,
        implied: Callable[[Guard], tuple[Guard, ...]],
    ) -> None:
        self._implied = implied
        met = dict.fromkeys(step.guard for step in steps if step.guard is not None)
        guards = list(dict.fromkeys([*met, *(Guard(each.register, not each.negated) for each in met)]))
        width = len(guards) + 1
        self.written = {number: 1 << index * width for index, number in enumerate(sorted(suspects))}
        every = sum(self.written.values())
        self.held = {guard: every << place for place, guard in enumerate(guards, 1)}
        self.by_predicate: dict[int, int] = {}
        for guard, mask in self.held.items():
            predicate = numbers.number(guard.register)
            self.by_predicate[predicate] = self.by_predicate.get(predicate, 0) | mask
        self.all_of = {register: bit * ((1 << width) - 1) for register, bit in self.written.items()}
        self.place = {guard: place for place, guard in enumerate(guards, 1)}
        self.everything = every * ((1 << width) - 1)

    def known(self, facts: int, register: int, guard: Guard | None) -> bool:
        """True if the register is surely written here, or where the guard holds."""
        bit = self.written[register]
        return bool(facts & bit) or (guard is not None and bool(facts & bit << self.place[guard]))

    def after(self, facts: int, step: Step) -> int:
        """The facts behind an instruction."""
        for register in step.writes:
            if register in self.by_predicate:
                facts = self._renewed(facts, self.by_predicate[register])
        for register in step.writes:
            if register in self.written:
                facts = self._written(facts, register, step.guard)
        return facts

    def _renewed(self, facts: int, conditional: int) -> int:
        """Without what was known under a predicate that has a new value; what holds always still does."""
        facts &= ~conditional
        for register, bit in self.written.items():
            if facts & bit:
                facts |= self.all_of[register]
        return facts

    def _written(self, facts: int, register: int, guard: Guard | None) -> int:
        if guard is None:
            return facts | self.all_of[register]
        bit = self.written[register]
        other = bit << self.place[Guard(guard.register, not guard.negated)]
        return facts | self.all_of[register] if facts & other else facts | bit << self.place[guard]

    def assuming(self, facts: int, guard: Guard) -> int:
        """The facts on a path where the guard is known to hold, and what it implies with it."""
        for each in (guard, *self._implied(guard)):
            if each in self.held:
                facts = self._assuming(facts, each)
        return facts

    def _assuming(self, facts: int, guard: Guard) -> int:
        for register, bit in self.written.items():
            if facts & bit << self.place[guard]:
                facts |= self.all_of[register]
        return facts | self.held[Guard(guard.register, not guard.negated)]


def _refined(
    flow: Flow,
    steps: Sequence[Step],
    suspects: frozenset[int],
    numbers: Numbers,
    implied: Callable[[Guard], tuple[Guard, ...]],
) -> tuple[EarlyRead, ...]:
    facts = _Facts(suspects, steps, numbers, implied)
    order = reverse_post_order(flow)
    edges: dict[tuple[int, int], int] = {}
    entering: dict[int, int] = {}
    changed = True
    while changed:
        changed = False
        for block in order:
            before = 0 if block == 0 else facts.everything
            for each in flow.blocks[block].predecessors if block else ():
                before &= edges.get((each, block), facts.everything)
            if entering.get(block) != before:
                entering[block] = before
                changed = True
                edges.update(_leaving(flow, steps, block, before, facts))
    return _reported(flow, steps, entering, facts, numbers)


def _leaving(flow: Flow, steps: Sequence[Step], block: int, before: int, facts: _Facts) -> dict[tuple[int, int], int]:
    here = flow.blocks[block]
    after = before
    for step in steps[here.start : here.stop]:
        after = facts.after(after, step)
    last = flow.instructions[here.stop - 1]
    target = branch_target(last)
    found: dict[tuple[int, int], int] = {}
    for successor in here.successors:
        assumed = after
        if target is not None and last.guard is not None and len(here.successors) > 1:
            taken = target in flow.blocks[successor].labels
            guard = last.guard if taken else Guard(last.guard.register, not last.guard.negated)
            assumed = facts.assuming(after, guard)
        found[block, successor] = assumed
    return found


def _reported(
    flow: Flow, steps: Sequence[Step], entering: dict[int, int], facts: _Facts, numbers: Numbers
) -> tuple[EarlyRead, ...]:
    found: dict[int, int] = {}
    for block, before in entering.items():
        known = before
        for index in range(flow.blocks[block].start, flow.blocks[block].stop):
            step = steps[index]
            for register in step.reads:
                if register in facts.written and not facts.known(known, register, step.guard):
                    found[register] = min(index, found.get(register, index))
            known = facts.after(known, step)
    ordered = sorted((index, number) for number, index in found.items())
    return tuple(EarlyRead(flow.instructions[index], numbers.registers[number]) for index, number in ordered)
