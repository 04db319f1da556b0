"""Who runs next: the group furthest behind, so that lanes that parted meet again, but nobody waits forever."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, TypeAlias

from attrs import define, field, frozen
from numpy.typing import NDArray

from ptxgen.errors import PtxgenError
from ptxgen.simulate.asynchronous.clusters import settle_clusters
from ptxgen.simulate.asynchronous.waiting import complete_awaited, press_on, report_parked, wake
from ptxgen.simulate.barriers import release, report_stuck
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group, merged, merged_all
from ptxgen.simulate.program import Program
from ptxgen.simulate.ready import Ready
from ptxgen.simulate.signals import Outcome, Parted, Signal

Array: TypeAlias = NDArray[Any]

PATIENCE = 32
LONGEST_SPIN = 256
LONGEST_SLEEP = 128


class LimitReached(PtxgenError):
    """The run executed as many warp-instructions as it was allowed; `report` is of what it did until then."""

    report: Any = None


@frozen(eq=False)
class Turn:
    """A group as its turn began: the instruction's index, warps of the batch, live lanes (None: all)."""

    pc: int
    warps: Array
    alive: Array | None


@define(eq=False)
class Scheduler:
    """Runs the groups of one batch to their end.

    Groups that were passed over for `PATIENCE` turns per ready group go first. With `chance` the order is
    random, groups are split at random, and behind a strong access a turn ends too, now and then for long: such groups
    are `asleep` until a turn. With `single` a turn is one instruction. Groups that spin are always ready, and may wait
    for those that wait for an operation: every `LONGEST_SPIN` turns that completes, though others are ready.
    """

    program: Program
    batch: Batch
    limit: int | None = None
    chance: random.Random | None = None
    single: bool = False
    ready: Ready = field(factory=lambda: Ready(PATIENCE))
    apart: list[Group] = field(factory=list)
    asleep: list[tuple[int, Group]] = field(factory=list)
    turn: int = 0
    seen: int = 0

    def run(self, start: Group) -> None:
        """Run until every lane has ended or nothing can go on; what is stuck then is reported."""
        for _ in self.turns(start):
            pass

    def turns(self, start: Group) -> Iterator[Turn]:
        """As `run`, turn by turn; each tells where a group stood and which lanes it had, after the turn."""
        self.ready.append(start)
        while self._rouse() or self.ready or self._unblock():
            if self.chance is not None:
                self.batch.engines.some_completes(self.batch)
            if self.batch.parked and self.turn % LONGEST_SPIN == 0:
                self.ready += complete_awaited(self.batch)
            group = self._next()
            group.alone = False
            group.last_turn = self.turn = self.turn + 1
            turn = Turn(group.pc, group.warps, group.alive)
            self._advance(group)
            if self.batch.parked and self.seen != self.batch.engines.version:
                self.seen = self.batch.engines.version
                self.ready += wake(self.batch)
            yield turn

    def _next(self) -> Group:
        chosen, *others = self.ready.take(self.turn, self.program.rank, self.chance)
        if others:
            chosen = merged_all([chosen, *others], self.program.live_places)
        return chosen if self.chance is None or chosen.alone else self._split(chosen)

    def _split(self, group: Group) -> Group:
        """Under a random order, now and then let only some of the group's warps go on."""
        if self.chance is None or len(group.warps) < 2 or self.chance.random() < 0.5:
            return group
        lanes = group.lanes()
        some = lanes.copy()
        some[[self.chance.random() < 0.5 for _ in range(len(group.warps))]] = False
        first, second = group.part(some, group.pc), group.part(lanes & ~some, group.pc)
        if first is None or second is None:
            return group
        self.ready.append(second)
        return first

    def _advance(self, group: Group) -> None:
        """Run a group until it parts, waits or ends, or until others are ready and it reaches a block."""
        program, batch, journal = self.program, self.batch, self.batch.journal
        steps, registers_of_end = program.steps, len(program.steps)
        leaders = program.leaders if self.chance is None else program.pauses
        pc = group.pc
        while True:
            start, census, outcome = pc, group.census(), None
            while True:
                outcome = steps[pc](group, batch)
                if outcome is not None:
                    break
                pc += 1
                if leaders[pc] or self.single or pc >= registers_of_end:
                    break
            if self.limit is not None and journal.scheduled > self.limit:
                raise LimitReached(f"stopped after {journal.scheduled} warp-instructions")
            if outcome is None:
                journal.executed(start, pc, census)
            elif type(outcome) is int:
                journal.executed(start, pc + 1, census)
                pc = outcome
            else:
                self._handle(outcome, group, start, pc, census)
                return
            if self.ready or self.single or self.batch.parked or self.asleep:
                group.pc = pc
                self._leave(group)
                return

    def _leave(self, group: Group) -> None:
        """A group's turn is over, though it may go on; behind a strong access it may sleep."""
        program, chance = self.program, self.chance
        if chance is not None and not program.leaders[group.pc] and program.pauses[group.pc] and chance.random() < 0.25:
            self.asleep.append((self.turn + chance.randrange(LONGEST_SLEEP), group))
        else:
            self.ready.append(group)

    def _rouse(self) -> bool:
        """Wake those whose sleep is over; all, where nobody else can go on."""
        awake = [group for until, group in self.asleep if until <= self.turn or not self.ready]
        if awake:
            self.asleep = [each for each in self.asleep if all(each[1] is not group for group in awake)]
            self.ready += awake
        return bool(awake)

    def _handle(self, outcome: Outcome, group: Group, start: int, pc: int, census: tuple[int, int]) -> None:
        """Account for the instructions run, and put the group or its parts where they belong."""
        journal = self.batch.journal
        group.pc = pc
        if outcome is Signal.REPEAT:
            journal.executed(start, pc, census)
            self._meet(self.apart, group, self.ready)
            return
        if outcome is Signal.PARK:
            journal.executed(start, pc, census)
            self.batch.parked.append(group)
            self.ready += wake(self.batch)
            return
        if isinstance(outcome, Parted):
            journal.executed(start, pc + 1 if outcome.counted else pc, census)
            self.ready += outcome.groups
        else:
            journal.executed(start, pc + 1, census)
        if outcome is Signal.WAIT:
            self._meet(self.batch.waiting, group, self.batch.waiting)
        if self.batch.waiting:
            self.ready += release(self.batch)
        if self.batch.parked:
            settle_clusters(self.batch)
            self.ready += wake(self.batch)

    def _meet(self, parked: list[Group], group: Group, then: list[Group] | Ready) -> None:
        """Join a group with those parked at the same instruction; a join goes to `then`, a lone group is parked."""
        same = [other for other in parked if other.meets(group) and other.barrier == group.barrier]
        if not same:
            parked.append(group)
            return
        for other in same:
            parked.remove(other)
            group = merged(other, group, self.program.live_places)
        then.append(group)

    def _unblock(self) -> bool:
        """With nothing ready, complete what somebody waits for, or let a group pass a meeting that cannot come about;
        else report what is stuck.
        """
        if self.batch.parked:
            settle_clusters(self.batch)
            self.ready += press_on(self.batch)
            if self.ready:
                return True
        if self.apart:
            group = self.apart.pop(0)
            group.forced = True
            self.ready.append(group)
            return True
        if self.batch.waiting:
            report_stuck(self.batch)
        report_parked(self.batch)
        self.batch.parked.clear()
        return False
