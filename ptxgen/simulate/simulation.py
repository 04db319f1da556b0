"""A run step by step: one instruction of one group of warps at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from isa.targets import Target
from isa.types import Kind
from ptxgen.errors import LaunchError
from ptxgen.ir import Instruction, Module
from ptxgen.ir.access import writes
from ptxgen.simulate.arguments import Argument, bind
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.journal import ALL_CHECKS, Check
from ptxgen.simulate.launch import Launch, journal_of, sessions
from ptxgen.simulate.memory import GLOBAL_BASE
from ptxgen.simulate.report import Report
from ptxgen.simulate.scheduler import Scheduler, Turn
from ptxgen.simulate.simulator import Extents, cluster_of, extents, report_of, simulator

Array: TypeAlias = NDArray[Any]
Value: TypeAlias = "int | float | bool"

_FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}
_WATCHED_BYTES = 4


@frozen
class Step:
    """What ran: the instruction by its place in the kernel from 0 and itself, and the threads (numbers in the grid)."""

    statement: int
    instruction: Instruction | None
    threads: tuple[int, ...]


@frozen
class Written:
    """A value that a thread wrote: the instruction by its place in the kernel from 0 and itself, and the register."""

    statement: int
    instruction: Instruction
    register: str
    value: Value


class Simulation:
    """A launch as of `simulate`, run by `step`, `until` or a `for` loop over its steps.

    Arrays are written when the run ends and whenever `report` is asked for.
    """

    def __init__(
        self,
        module: Module,
        kernel: str | None = None,
        *,
        grid: Extents,
        block: Extents,
        args: Sequence[Argument] | Mapping[str, Argument] = (),
        cluster: Extents | None = None,
        shared_bytes: int = 0,
        target: Target | str | None = None,
        checks: frozenset[Check] = ALL_CHECKS,
        seed: int | None = None,
        limit: int | None = None,
    ) -> None:
        self._decoded = simulator(module, kernel, target=target, checks=checks)
        layout = self._decoded.layout.with_dynamic(shared_bytes)
        self._memory, parameters = bind(self._decoded.function, args, layout.global_bytes, layout.heap_bytes)
        shape = extents(grid, "grid"), extents(block, "block")
        self._launch = Launch(*shape, checks, seed, limit, cluster_of(self._decoded.function, shape[0], cluster))
        program = self._decoded.program
        self._journal = journal_of(program, self._launch)
        self._sessions = sessions(program, layout, self._memory, parameters, self._launch, self._journal)
        self._scheduler: Scheduler | None = None
        self._turns: Iterator[Turn] = iter(())
        self.ended = False

    def step(self) -> Step | None:
        """Run one instruction of the group whose turn it is; None when the run has ended."""
        with np.errstate(all="ignore"):
            turn = next(self._turns, None)
            while turn is None and not self.ended:
                session = next(self._sessions, None)
                if session is None:
                    self.ended = True
                    self._memory.copy_back()
                    return None
                self._scheduler, start = session
                self._scheduler.single = True
                self._turns = self._scheduler.turns(start)
                turn = next(self._turns, None)
        return None if turn is None else self._told(turn)

    def _told(self, turn: Turn) -> Step:
        instructions = self._journal.instructions
        instruction = instructions[turn.pc] if turn.pc < len(instructions) else None
        numbers = turn.warps[:, None] * LANES + np.arange(LANES)
        live = numbers.ravel() if turn.alive is None else numbers[turn.alive]
        first = 0 if self._scheduler is None else self._scheduler.batch.first_thread
        return Step(turn.pc, instruction, tuple((live + first).tolist()))

    def __iter__(self) -> Iterator[Step]:
        while (step := self.step()) is not None:
            yield step

    def until(
        self, *, line: int | None = None, statement: int | None = None, address: int | None = None
    ) -> Step | None:
        """Run on until an instruction of that line of the user's file, or that statement, has run, or the word at that
        address of global memory has changed; None if the run ends first.

        LaunchError when nothing is asked for.
        """
        if line is None and statement is None and address is None:
            raise LaunchError("until() wants a line, a statement or an address")
        before = None if address is None else self._word(address)
        for step in self:
            origin = step.instruction.origin if step.instruction is not None else None
            if statement is not None and step.statement == statement:
                return step
            if line is not None and origin is not None and origin.line == line:
                return step
            if address is not None and self._word(address) != before:
                return step
        return None

    def trace(self, *names: str, thread: int) -> tuple[Written, ...]:
        """Run to the end; what a thread (its number in the grid) wrote to registers of these names, one by one.

        Instructions under a guard that does not hold for the thread write nothing. LaunchError for a name that no
        register of the kernel has.
        """
        known = {register.name for register in self._decoded.program.bank.places}
        for name in names:
            if name not in known:
                raise LaunchError(f"no register is called {name}")
        found: list[Written] = []
        while True:
            skipped = self._guard_fails(thread)
            step = self.step()
            if step is None:
                return tuple(found)
            if thread in step.threads and step.instruction is not None and not skipped:
                found += self._writes(step.statement, step.instruction, names, thread)

    def _writes(
        self, statement: int, instruction: Instruction, names: tuple[str, ...], thread: int
    ) -> Iterator[Written]:
        written = {register.name for register in writes(instruction)}
        values = self.registers(thread) if written.intersection(names) else {}
        for name in names:
            if name in written and name in values:
                yield Written(statement, instruction, name, values[name])

    def _guard_fails(self, thread: int) -> bool:
        """Whether the thread stands at an instruction whose guard does not hold for it."""
        place = self._place(thread)
        if place is None:
            return False
        group, row, lane = place
        instructions = self._journal.instructions
        guard = instructions[group.pc].guard if group.pc < len(instructions) else None
        if guard is None:
            return False
        value = group.registers[self._decoded.program.bank.place_of(guard.register)]
        return bool(np.broadcast_to(value, group.shape)[row, lane]) is guard.negated

    def address_of(self, array: Array) -> int:
        """The device address of an array argument."""
        return self._memory.address_of(array)

    def _word(self, address: int) -> bytes:
        start = address - GLOBAL_BASE
        if not 0 <= start <= self._memory.arena.size_bytes - _WATCHED_BYTES:
            raise LaunchError(f"{address:#x} is no address in global memory")
        return self._memory.arena.data[start : start + _WATCHED_BYTES].tobytes()

    def registers(self, thread: int) -> dict[str, Value]:
        """The registers of a thread (its number in the grid) by name, those that are still wanted where it stands.

        Integers are unsigned unless the register is signed. Empty for a thread that has ended or not begun.
        """
        place = self._place(thread)
        if place is None:
            return {}
        group, row, lane = place
        found: dict[str, Value] = {}
        for register, number in self._decoded.program.bank.places.items():
            value = group.registers[number]
            if value is not None:
                bits = np.broadcast_to(value, group.shape)[row, lane]
                found[register.name] = _shown(bits, register.type.kind, register.type.lanes)
        return found

    def where(self, thread: int) -> int | None:
        """The statement that a thread (its number in the grid) runs next; None if it has ended or not begun."""
        place = self._place(thread)
        return None if place is None else place[0].pc

    def _place(self, thread: int) -> tuple[Group, int, int] | None:
        scheduler = self._scheduler
        if scheduler is None:
            return None
        warp, lane = divmod(thread - scheduler.batch.first_thread, LANES)
        for group in (
            *scheduler.ready,
            *scheduler.apart,
            *(group for _, group in scheduler.asleep),
            *scheduler.batch.waiting,
            *scheduler.batch.parked,
        ):
            row = int(np.searchsorted(group.warps, warp))
            if row < len(group.warps) and group.warps[row] == warp and group.lanes()[row, lane]:
                return group, row, lane
        return None

    def report(self) -> Report:
        """What the run has found and counted so far."""
        self._memory.copy_back()
        return report_of(self._decoded.function, self._decoded.program, self._journal, self._launch)


def _shown(bits: Any, kind: Kind, lanes: int) -> Value:
    if kind is Kind.PREDICATE:
        return bool(bits)
    width = bits.dtype.itemsize
    if kind is Kind.FLOAT and lanes == 1 and 8 * width in _FLOATS:
        return float(bits.view(_FLOATS[8 * width]))
    return int(bits.view(f"i{width}") if kind is Kind.SIGNED else bits)
