"""A kernel decoded: one step per instruction, and what the scheduler needs to know of the flow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import define, field

from isa.targets import Target
from ptxgen.errors import Finding, KernelError, Severity, UnsupportedError
from ptxgen.ir import Function, Instruction, LabelName
from ptxgen.ir.access import reads, writes
from ptxgen.ir.flow import Flow, NaturalLoop, branch_target, flow_of, natural_loops
from ptxgen.ir.liveness import Liveness, liveness
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.catalogue import maker_of
from ptxgen.simulate.group import Group
from ptxgen.simulate.journal import Check
from ptxgen.simulate.semantics.control import bra, finish
from ptxgen.simulate.semantics.matrices import mma
from ptxgen.simulate.signals import Outcome, Step
from ptxgen.simulate.site import Bank, Site, site_of


@define(eq=False)
class Program:
    """Steps by instruction, the last one past the end. `leaders` are block starts, `rank` the order of the blocks.

    `doubtful` maps places of registers that some path may read unwritten to the places of their written flags.
    """

    flow: Flow
    bank: Bank
    steps: list[Step]
    leaders: list[bool]
    rank: list[tuple[int, int]]
    loops: tuple[NaturalLoop, ...]
    doubtful: dict[int, int]
    _live: Liveness = field(repr=False)
    _places: dict[int, tuple[int, ...]] = field(factory=dict, repr=False)

    def live_places(self, pc: int) -> tuple[int, ...]:
        """The places still wanted when instruction `pc` starts: live registers, special registers, constants, flags."""
        found = self._places.get(pc)
        if found is None:
            found = self._places[pc] = self._live_at(pc)
        return found

    def _live_at(self, pc: int) -> tuple[int, ...]:
        always = {*self.bank.initial, *self.bank.specials.values(), *self.doubtful.values()}
        if pc >= len(self.flow.instructions):
            return tuple(sorted(always))
        block = self.flow.block_of(pc)
        live = set(self._live.leaving[block])
        for index in range(self.flow.blocks[block].stop - 1, pc - 1, -1):
            instruction = self.flow.instructions[index]
            if instruction.guard is None:
                live.difference_update(writes(instruction))
            live.update(reads(instruction))
        return tuple(sorted(always.union(self.bank.places[register] for register in live)))


def decode(function: Function, target: Target, bank: Bank, checks: frozenset[Check]) -> Program:
    """The program of a kernel; KernelError lists every instruction that the simulator does not run, by name."""
    flow = flow_of(function)
    if flow.unknown:
        index, label = flow.unknown[0]
        raise KernelError((_unsupported(flow.instructions[index], f"branches to unknown label {label.text}"),))
    labels = {label: block.start for block in flow.blocks for label in block.labels}
    alive = liveness(flow)
    steps: list[Step] = []
    refused: list[Finding] = []
    for index, instruction in enumerate(flow.instructions):
        try:
            steps.append(_step(site_of(instruction, index, bank), labels, target))
        except UnsupportedError as error:
            refused.append(_unsupported(instruction, str(error)))
    if refused:
        raise KernelError(
            refused, f"the simulator does not run {len(refused)} of {len(steps) + len(refused)} instructions"
        )
    doubtful = _doubtful(flow, alive, bank, steps) if Check.UNINITIALISED_REGISTERS in checks else {}
    for register in alive.entering[0] if alive.entering else ():
        bank.initial.setdefault(bank.place_of(register), np.zeros((1, 1), bank.dtypes[bank.place_of(register)]))
    end = len(flow.instructions)
    steps.append(lambda group, batch: finish(group, batch, group.lanes(), end))
    loops = natural_loops(flow)
    return Program(flow, bank, steps, *_order(flow, loops), loops, doubtful, alive)


def _unsupported(instruction: Instruction, why: str) -> Finding:
    return Finding("simulate.unsupported", Severity.ERROR, f"{instruction}  not simulated: {why}", instruction.origin)


def _step(site: Site, labels: dict[LabelName, int], target: Target) -> Step:
    goal = branch_target(site.instruction)
    if goal is not None:
        if labels.get(goal) is None:
            return bra(site, site.index + 1)
        return bra(site, labels[goal])
    if site.opcode == "mma":
        return mma(site, target)
    return maker_of(site)(site)


def _order(flow: Flow, loops: tuple[NaturalLoop, ...]) -> tuple[list[bool], list[tuple[int, int]]]:
    """Block starts, and (place of the block in the order, index) per instruction; the end is last."""
    count = len(flow.instructions)
    leaders = [False] * (count + 2)
    rank = [(len(flow.blocks), index) for index in range(count + 2)]
    for place, number in enumerate(meeting_order(flow, loops)):
        block = flow.blocks[number]
        leaders[block.start] = True
        rank[block.start : block.stop] = [(place, index) for index in range(block.start, block.stop)]
    leaders[count] = True
    return leaders, rank


def meeting_order(flow: Flow, loops: tuple[NaturalLoop, ...]) -> list[int]:
    """The reachable blocks in the reverse post-order that has a loop's blocks before what follows the loop.

    Lanes that left a loop early so wait for the others behind it.
    """
    if not flow.blocks:
        return []
    depth = [sum(number in loop.blocks for loop in loops) for number in range(len(flow.blocks))]
    order: list[int] = []
    seen = {0}
    stack = [(0, _shallow_first(flow, 0, depth))]
    while stack:
        number, rest = stack[-1]
        successor = next((each for each in rest if each not in seen), None)
        if successor is None:
            order.append(number)
            stack.pop()
        else:
            seen.add(successor)
            stack.append((successor, _shallow_first(flow, successor, depth)))
    return order[::-1]


def _shallow_first(flow: Flow, number: int, depth: list[int]) -> Iterator[int]:
    """The successors of a block, those of the fewest loops first, the fall-through last among equals."""
    successors = flow.blocks[number].successors
    return iter(sorted(successors, key=lambda each: (depth[each], -successors.index(each))))


def _doubtful(flow: Flow, alive: Liveness, bank: Bank, steps: list[Step]) -> dict[int, int]:
    """Give each register that some path reads unwritten a flag, and wrap the steps that touch it."""
    registers = alive.entering[0] if alive.entering else frozenset()
    flags = {bank.place_of(register): bank.flags() for register in sorted(registers, key=lambda each: each.name)}
    if not flags:
        return {}
    names = {bank.place_of(register): register.name for register in registers}
    for index, instruction in enumerate(flow.instructions):
        read = {bank.place_of(each) for each in reads(instruction)} & flags.keys()
        written = {bank.place_of(each) for each in writes(instruction)} & flags.keys()
        if read or written:
            guard = site_of(instruction, index, bank).guard()
            steps[index] = _watched(steps[index], index, guard, sorted(read), sorted(written), flags, names)
    return flags


def _watched(
    step: Step, index: int, guard: Callable[[list[Any]], Any] | None, read: list[int], written: list[int],
    flags: dict[int, int], names: dict[int, str],
) -> Step:  # fmt: skip
    def watched(group: Group, batch: Batch) -> Outcome:
        r = group.registers
        keep = guard(r) if guard is not None else None
        for place in read:
            _check(group, batch, index, keep, r[flags[place]], names[place])
        outcome = step(group, batch)
        if outcome is None:
            for place in written:
                flag = np.ones((1, 1), np.bool_)
                r[flags[place]] = flag if keep is None else r[flags[place]] | keep
        return outcome

    return watched


def _check(group: Group, batch: Batch, index: int, keep: Any, ready: Any, name: str) -> None:
    if ready.all():
        return
    active = group.active(keep)
    bad = np.broadcast_to(~ready, group.shape)
    bad = bad if active is None else bad & active
    if bad.any():
        row, lane = map(int, np.argwhere(bad)[0])
        batch.journal.fault(
            "uninitialised.register", index, lambda: f"reads {name}, which nothing has written",
            thread=batch.thread(group, row, lane), count=int(bad.sum()),
        )  # fmt: skip
