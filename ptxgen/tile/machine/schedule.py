"""Interleavings of warps: who takes the next step, and when a meeting is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

from attrs import define, frozen

from ptxgen.tile.machine.faults import MachineFault
from ptxgen.tile.synchronisation import Meet

UNTIL_MEETING = 1 << 30
BURSTS = (1, 1, 2, 5, 20, UNTIL_MEETING)


@frozen(eq=False)
class Blocked:
    """A warp that waits: `ready` says whether it may go on, `resume` is done then, `what` names what it waits for."""

    what: str
    ready: Callable[[], bool]
    resume: Callable[[], None]


@define(eq=False)
class Thread:
    """A warp as the scheduler sees it: each step yields None, the meeting that it has reached, or what it waits for."""

    name: str
    team: str
    steps: Iterator[Meet | Blocked | None]
    waits_at: Meet | None = None
    blocked: Blocked | None = None
    finished: bool = False

    @property
    def ready(self) -> bool:
        free = self.blocked is None or self.blocked.ready()
        return free and self.waits_at is None and not self.finished

    def advance(self, count: int) -> None:
        """Takes up to `count` steps, fewer where it reaches a meeting, something to wait for or its end."""
        if self.blocked is not None:
            self.blocked.resume()
            self.blocked = None
        for _ in range(count):
            reached = next(self.steps, self)
            if reached is self:
                self.finished = True
                return
            if isinstance(reached, Meet):
                self.waits_at = reached
                return
            if isinstance(reached, Blocked):
                self.blocked = reached
                return


def interleave(threads: Sequence[Thread], complete: Callable[[str], None], chance: Random | None) -> None:
    """Runs all threads to their end. Without `chance` they take one step each in turn; with it, bursts of random length
    in random order. A meeting is complete when every thread of a team waits at its barrier; `complete(team)` is told.
    Fault `tile.deadlock`: threads wait for others that never come."""
    while ready := [thread for thread in threads if thread.ready]:
        if chance is None:
            for thread in ready:
                thread.advance(1)
        else:
            chance.choice(ready).advance(chance.choice(BURSTS))
        for team in dict.fromkeys(thread.team for thread in threads if thread.waits_at is not None):
            members = [thread for thread in threads if thread.team == team]
            barriers = {thread.waits_at.barrier if thread.waits_at else None for thread in members}
            if len(barriers) == 1 and None not in barriers:
                complete(team)
                for member in members:
                    member.waits_at = None
    stuck = [f"{thread.name} waits at barrier {thread.waits_at.barrier}" for thread in threads if thread.waits_at]
    stuck += [f"{thread.name} waits for {thread.blocked.what}" for thread in threads if thread.blocked]
    if stuck:
        gone = [f"{thread.name} has ended" for thread in threads if thread.finished]
        raise MachineFault("tile.deadlock", "what is waited for never comes: " + ", ".join(stuck + gone), None)
