"""Groups that are parked until something happens elsewhere: who may go on, and what to do when nobody may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from attrs import frozen

from ptxgen.simulate.asynchronous.mbarriers import MBarrier

if TYPE_CHECKING:
    from ptxgen.simulate.batch import Batch
    from ptxgen.simulate.group import Group

_DENIALS = 2


class Wait(Protocol):
    """What a parked group waits for."""

    @property
    def deniable(self) -> bool:
        """Whether it may be told at any time that it has not."""

    def over(self) -> bool:
        """True if it has come about."""

    def told(self) -> str:
        """What is waited for, in words."""


@frozen(eq=False)
class PhaseWait:
    """The phase before `phase` of a barrier, by its number's parity or as it is."""

    barrier: MBarrier
    phase: int
    parity: bool
    deniable: bool = True

    def over(self) -> bool:
        return bool((self.barrier.phase ^ self.phase) & 1) if self.parity else self.barrier.phase > self.phase

    def told(self) -> str:
        which = f"parity {self.phase}" if self.parity else f"number {self.phase}"
        return f"waits for the phase of {which} of {self.barrier.told()}"


def wake(batch: Batch) -> list[Group]:
    """Take out the parked groups that wait for something that has come about."""
    awake = [group for group in batch.parked if any(wait.over() for wait in group.waits)]
    if awake:
        batch.parked = [group for group in batch.parked if all(group is not each for each in awake)]
    return awake


def complete_awaited(batch: Batch) -> list[Group]:
    """Completes the operations that parked groups wait for; the groups that go on then."""
    for group in batch.parked:
        for wait in group.waits:
            while isinstance(wait, PhaseWait) and not wait.over() and batch.engines.complete_for(batch, wait.barrier):
                pass
    return wake(batch)


def press_on(batch: Batch) -> list[Group]:
    """With no group ready: the groups that go on once an operation is complete that one waits for, or that are told
    once more that their phase is not complete; empty when neither helps.
    """
    engines, awake = batch.engines, complete_awaited(batch)
    if awake or not batch.parked:
        return awake
    if engines.denied_at != engines.version:
        engines.denied_at, engines.denials = engines.version, 0
    if engines.denials >= _DENIALS:
        return []
    engines.denials += 1
    told = [group for group in batch.parked if all(wait.deniable for wait in group.waits)]
    batch.parked = [group for group in batch.parked if all(group is not each for each in told)]
    for group in told:
        group.forced = True
    return told


def report_parked(batch: Batch) -> None:
    """Report the groups that nothing can wake: what they wait for, and where the rest of their CTA is."""
    for group in batch.parked:
        lanes = group.lanes()
        row = int(lanes.any(axis=1).argmax())
        thread = batch.thread(group, row, int(lanes[row].argmax()))
        waits = " and ".join(sorted({wait.told() for wait in group.waits if not wait.over()}))
        rest = others(batch, group, row)
        batch.journal.fault(
            "deadlock", group.pc, lambda waits=waits, rest=rest: f"{waits}; {rest}",  # type: ignore[misc]
            thread=thread, count=group.census()[1],
        )  # fmt: skip


def others(batch: Batch, group: Group, row: int) -> str:
    """Where the other threads of the cluster of a group's warp are: those that wait, and those that have ended."""
    cluster = int(group.warps[row]) // batch.clocks.warps_per_cluster
    warps = slice(cluster * batch.clocks.warps_per_cluster, (cluster + 1) * batch.clocks.warps_per_cluster)
    ended = int(batch.existing[warps].sum() - batch.present[warps].sum())
    near = [
        each for each in (*batch.parked, *batch.waiting)
        if each is not group and cluster in each.warps // batch.clocks.warps_per_cluster
    ]  # fmt: skip
    places = sorted({f"statement {each.pc} ({batch.journal.instructions[each.pc]})" for each in near})
    told = [f"others wait at {', '.join(places)}"] if places else []
    told += [f"{ended} threads have ended"] if ended else []
    return "; ".join([*told, "nobody is left who could bring it"])
