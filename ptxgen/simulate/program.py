"""A kernel decoded: one step per instruction, and what the scheduler needs to know of the flow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from attrs import define, field, frozen

from isa.forms import resolve
from isa.targets import Target
from ptxgen.errors import Finding, KernelError, Severity, UnsupportedError
from ptxgen.ir import BranchTargets, Call, Instruction, LabelName, Register, SymbolAddress, walk
from ptxgen.ir.access import reads, writes
from ptxgen.ir.flow import Flow, NaturalLoop, branch_target, flow_of, natural_loops
from ptxgen.ir.liveness import Liveness, liveness
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.catalogue import maker_of
from ptxgen.simulate.flags import strength_of
from ptxgen.simulate.functions import Body
from ptxgen.simulate.group import Group
from ptxgen.simulate.journal import Check
from ptxgen.simulate.semantics.calls import Callee, back, call, come_back
from ptxgen.simulate.semantics.control import bra, brx, finish
from ptxgen.simulate.semantics.externals import EXTERNALS, external
from ptxgen.simulate.semantics.matrices import mma
from ptxgen.simulate.semantics.opaque_fragments import wmma
from ptxgen.simulate.semantics.warpgroup_registers import keeps, multiplies, watch_products
from ptxgen.simulate.semantics.warpgroups import wgmma
from ptxgen.simulate.signals import Outcome, Parted, Step
from ptxgen.simulate.site import Bank, Site, site_of


@frozen(eq=False)
class Part:
    """The kernel or a function in the program: its instructions stand from `start` on, one place behind them is its
    end.
    """

    start: int
    flow: Flow
    live: Liveness
    always: frozenset[int]


@define(eq=False)
class Program:
    """Steps by instruction, those of functions behind the kernel's, each part with a last one past its end.

    `leaders` are block starts, `rank` the order of the blocks within their part. `doubtful` maps places of registers
    that some path may read unwritten to the places of their written flags, `watched` the places of registers that
    products of warpgroups use to their numbers. `flow` and `loops` are the kernel's.
    """

    parts: tuple[Part, ...]
    instructions: tuple[Instruction, ...]
    bank: Bank
    steps: list[Step]
    leaders: list[bool]
    rank: list[tuple[int, int]]
    loops: tuple[NaturalLoop, ...]
    doubtful: dict[int, int]
    watched: dict[int, int]
    _places: dict[int, tuple[int, ...]] = field(factory=dict, repr=False)

    @cached_property
    def pauses(self) -> list[bool]:
        """Block starts, and what stands behind strong accesses: where others may go on in a random order."""
        made = self.leaders.copy()
        for place, instruction in enumerate(self.instructions):
            made[place + 1] |= strength_of(instruction.form.opcode, instruction.form.words) is not None
        return made

    @property
    def flow(self) -> Flow:
        """The blocks of the kernel."""
        return self.parts[0].flow

    def live_places(self, pc: int) -> tuple[int, ...]:
        """The places still wanted when instruction `pc` starts: live registers, special registers, constants, flags."""
        found = self._places.get(pc)
        if found is None:
            found = self._places[pc] = self._live_at(pc)
        return found

    def _live_at(self, pc: int) -> tuple[int, ...]:
        part = next(each for each in reversed(self.parts) if each.start <= pc)
        always = {*self.bank.initial, *self.bank.specials.values(), *self.bank.parameters, *self.doubtful.values()}
        always |= part.always
        if self.bank.rank_place is not None:
            always.add(self.bank.rank_place)
        flow, index = part.flow, pc - part.start
        if index >= len(flow.instructions):
            return tuple(sorted(always))
        block = flow.block_of(index)
        live = set(part.live.leaving[block])
        for each in range(flow.blocks[block].stop - 1, index - 1, -1):
            instruction = flow.instructions[each]
            if instruction.guard is None:
                live.difference_update(writes(instruction))
            live.update(reads(instruction))
        return tuple(sorted(always.union(self.bank.places[register] for register in live)))


def decode(kernel: Body, callees: dict[str, Callee], target: Target, bank: Bank, checks: frozenset[Check]) -> Program:
    """The program of a kernel and the functions that it calls.

    KernelError lists every instruction that the simulator does not run, by name.
    """
    made = _Decoder(target, callees)
    part = made.add(kernel, bank, of_kernel=True)
    for callee in callees.values():
        callee.start = len(made.steps)
        made.starts[callee.body.function.name] = callee.start
        made.add(callee.body, callee.bank, of_kernel=False)
    if made.refused:
        whole = len(made.instructions)
        raise KernelError(made.refused, f"the simulator does not run {len(made.refused)} of {whole} instructions")
    watched = Check.UNINITIALISED_REGISTERS in checks
    doubtful = _doubtful(part.flow, part.live, bank, made.steps) if watched else {}
    in_products = watch_products(part.flow, bank, made.steps)
    return Program(
        tuple(made.parts), tuple(made.instructions), bank, made.steps, [*made.leaders, False], [*made.rank, (0, 0)],
        natural_loops(part.flow), doubtful, in_products,
    )  # fmt: skip


@define(eq=False)
class _Decoder:
    """Decodes part after part into one list of steps."""

    target: Target
    callees: dict[str, Callee]
    parts: list[Part] = field(factory=list)
    instructions: list[Instruction] = field(factory=list)
    steps: list[Step] = field(factory=list)
    leaders: list[bool] = field(factory=list)
    rank: list[tuple[int, int]] = field(factory=list)
    refused: list[Finding] = field(factory=list)
    starts: dict[str, int] = field(factory=dict)

    def add(self, body: Body, bank: Bank, *, of_kernel: bool) -> Part:
        """Decode one part."""
        flow = flow_of(body.function)
        start = len(self.steps)
        if flow.unknown:
            index, label = flow.unknown[0]
            raise KernelError((_unsupported(flow.instructions[index], f"branches to unknown label {label.text}"),))
        labels = {label: start + block.start for block in flow.blocks for label in block.labels}
        for index, instruction in enumerate(flow.instructions, start):
            try:
                self.steps.append(self._step(body, instruction, index, bank, labels, of_kernel))
            except UnsupportedError as error:
                self.refused.append(_unsupported(instruction, str(error)))
                self.steps.append(lambda group, batch: None)
        alive = liveness(flow)
        for register in alive.entering[0] if alive.entering else ():
            bank.initial.setdefault(bank.place_of(register), np.zeros((1, 1), bank.dtypes[bank.place_of(register)]))
        end = start + len(flow.instructions)
        leave = finish if of_kernel else come_back
        self.steps.append(lambda group, batch: leave(group, batch, group.lanes(), end))
        self.instructions += flow.instructions
        if self.callees:
            self.instructions.append(Instruction(resolve("ret")[0], ()))
        leaders, rank = _order(flow, natural_loops(flow))
        self.leaders += leaders[:-1]
        self.rank += rank[:-1]
        returned = [] if of_kernel else [each for each in body.function.returns if each.register]
        always = frozenset(bank.place_of(Register(each.name, each.type)) for each in returned)
        self.parts.append(Part(start, flow, alive, always))
        return self.parts[-1]

    def _step(
        self,
        body: Body,
        instruction: Instruction,
        index: int,
        bank: Bank,
        labels: dict[LabelName, int],
        of_kernel: bool,
    ) -> Step:
        site = site_of(instruction, index, bank)
        statement = body.calls.get(id(instruction))
        if statement is not None:
            return self._call(site, statement, body.frame.size_bytes)
        if not of_kernel and site.opcode == "ret":
            return back(site)
        if site.opcode == "brx.idx":
            return brx(site, _listed(body, site, labels))
        return _step(site, labels, self.target)

    def _call(self, site: Site, statement: Call, frame_bytes: int) -> Step:
        target = statement.target
        if not isinstance(target, SymbolAddress) or target.name in self.callees:
            return call(site, statement, frame_bytes, self.callees)
        if target.name in EXTERNALS:
            return external(site, statement, target.name)
        raise site.unsupported(f"a call of {target.name}, which has no body")


def _listed(body: Body, site: Site, labels: dict[LabelName, int]) -> tuple[int, ...]:
    """Where the labels of an indirect branch's list stand."""
    scope, name = body.function.body, site.operands[1]
    for node in walk(scope) if scope is not None else ():
        if isinstance(node, BranchTargets) and node.name == name:
            return tuple(labels.get(label, site.index + 1) for label in node.labels)
    raise site.unsupported("no list of targets")


def _unsupported(instruction: Instruction, why: str) -> Finding:
    return Finding("simulate.unsupported", Severity.ERROR, f"{instruction}  not simulated: {why}", instruction.origin)


def _step(site: Site, labels: dict[LabelName, int], target: Target) -> Step:
    goal = branch_target(site.instruction)
    if goal is not None:
        return bra(site, labels.get(goal, site.index + 1))
    if site.opcode == "call":
        raise site.unsupported("a call without its statement")
    if site.opcode == "mma":
        return mma(site, target)
    if site.opcode == "wgmma":
        return wgmma(site, target)
    if site.opcode == "wmma":
        return wmma(site, target)
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
            site = site_of(instruction, index, bank)
            guard = site.guard()
            if multiplies(instruction):
                accumulated = read & written
                steps[index] = _watched(steps[index], index, keeps(site), sorted(accumulated), [], flags, names)
                read = read - accumulated
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
        elif written and isinstance(outcome, Parted):
            for place, called in product(written, outcome.groups):
                if called.frames and called.frames[-1].site == index:
                    called.frames[-1].caller.registers[flags[place]] = np.ones((1, 1), np.bool_)
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
