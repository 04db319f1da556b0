"""What runs beside the threads of a batch: operations under way and the barriers that they end at."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import define, field
from numpy.typing import NDArray

from ptxgen.simulate.asynchronous.clusters import ClusterBarriers, Neighbours
from ptxgen.simulate.asynchronous.columns import Columns
from ptxgen.simulate.asynchronous.mbarriers import MBarrier
from ptxgen.simulate.asynchronous.operations import Operation
from ptxgen.simulate.asynchronous.products import Products

if TYPE_CHECKING:
    from ptxgen.simulate.batch import Batch

Array: TypeAlias = NDArray[Any]


@define(eq=False)
class Engines:
    """The state of a batch's engines.

    `mbarriers` by their byte in the arena of shared memory; `under_way` in the order of issue; `committed` counts the
    bulk groups of each thread that has any. `registers` are the places of those that products use, to their numbers,
    `held` the registers that warps have asked for, `asked` the phases that they have asked for and where. `version`
    changes with everything that a parked group may wait for; `denials` counts how often parked groups were told that
    their phase is not complete since it was `denied_at`.
    """

    columns: Columns = field(factory=Columns)
    mbarriers: dict[int, MBarrier] = field(factory=dict)
    ordinals: dict[int, int] = field(factory=dict)
    under_way: list[Operation] = field(factory=list)
    committed: dict[tuple[int, int], int] = field(factory=dict)
    products: Products = field(factory=Products)
    cluster_barriers: ClusterBarriers | None = None
    neighbours: Neighbours | None = None
    registers: dict[int, int] = field(factory=dict)
    held: dict[int, int] = field(factory=dict)
    asked: set[tuple[int, int, int, int]] = field(factory=set)
    chance: random.Random | None = None
    version: int = 0
    denied_at: int = -1
    denials: int = 0

    def told(self, engine: int) -> str:
        """An engine in words."""
        return self.columns.told(engine)

    def barrier_engine(self, rank: int, address: int) -> int:
        """The engine of the mbarrier at an address of a CTA."""
        ordinal = self.ordinals.setdefault(address, len(self.ordinals))
        return self.columns.barrier(rank, ordinal)

    def start(self, operation: Operation) -> None:
        """An operation is under way."""
        self.under_way.append(operation)
        for landing in operation.landings:
            landing.barrier.under_way += landing.bytes

    def complete_for(self, batch: Batch, barrier: MBarrier) -> bool:
        """Complete the oldest operation that ends at a barrier; False if there is none, or arrivals are missing too.

        Arrivals that copies by lane bring are operations of no bytes.
        """
        for operation in self.under_way:
            for landing in operation.landings:
                if landing.barrier is barrier and (barrier.pending <= 0 or not landing.bytes):
                    self.complete(batch, operation)
                    return True
        return False

    def complete(self, batch: Batch, operation: Operation) -> None:
        """Do what is left of an operation and end it at its barriers."""
        self.under_way = [each for each in self.under_way if each is not operation]
        operation.take()
        written = operation.write()
        operation.writing = written[0] if written else (0, 0)
        for landing, (engine, epoch) in zip(operation.landings, written, strict=False):
            barrier = landing.barrier
            barrier.under_way -= landing.bytes
            column = batch.clocks.warps_per_cluster + engine
            _check_phase(batch, operation, landing.bytes, barrier, landing.phase)
            if landing.bytes:
                told = barrier.far if operation.far else barrier.gathered
                told[column] = max(int(told[column]), epoch)
                if operation.reading is not None:
                    read = batch.clocks.warps_per_cluster + operation.reading[0]
                    barrier.gathered[read] = max(int(barrier.gathered[read]), operation.reading[1])
                barrier.transactions -= landing.bytes
                settle(batch, barrier, operation.issue.site, operation.issue.thread)
        self.version += 1

    def some_completes(self, batch: Batch) -> None:
        """In a random order: now and then an operation ends as early as it may."""
        landing = [each for each in self.under_way if each.landings]
        if self.chance is not None and landing and self.chance.random() < 0.25:
            self.complete(batch, self.chance.choice(landing))

    def of_group(self, owner: tuple[int, int], below: int) -> list[Operation]:
        """The operations of a thread's bulk groups below an ordinal, oldest first."""
        return [
            each for each in self.under_way
            if each.group is not None and each.issue.owner == owner and each.group < below
        ]  # fmt: skip


def _check_phase(batch: Batch, operation: Operation, size: int, barrier: MBarrier, phase: int) -> None:
    if barrier.phase == phase or not size:
        return
    what = (
        f"brings {size} bytes to {barrier.told()}, but was asked for in phase {phase}, which is complete: fewer bytes "
        "were expected there than come"
    )
    batch.journal.fault("mbarrier.transactions", operation.issue.site, lambda: what, thread=operation.issue.thread)


def settle(batch: Batch, barrier: MBarrier, site: int, thread: int) -> None:
    """Complete the barrier's phase if nothing is missing; report a phase that more bytes reach than it expects."""
    if barrier.pending <= 0 and barrier.transactions < 0:
        excess = -barrier.transactions
        what = f"brings {excess} bytes more than were expected to {barrier.told()}"
        batch.journal.fault("mbarrier.transactions", site, lambda: what, thread=thread)
        barrier.transactions = 0
    if barrier.settle():
        batch.engines.version += 1
