"""The barriers of rings: phases that arrivals and bytes complete, and copies that land when somebody waits for them.

A waiter asks for a parity, as the hardware's does: it cannot tell a phase from the last but one. A copy lands no
earlier than it is waited for, so that whatever nobody waits for is never there.
"""

from __future__ import annotations

import numpy as np
from attrs import define, field, frozen

from ptxgen.tile.machine.access import end_write
from ptxgen.tile.machine.faults import MachineFault
from ptxgen.tile.machine.geometry import Index
from ptxgen.tile.machine.state import Flight, Warp
from ptxgen.tile.program import Ring
from ptxgen.tile.synchronisation import Side


@define(eq=False)
class Barrier:
    """An mbarrier: completed phases, arrivals still pending in this one, bytes announced and copies that bring them,
    and the clocks of what arrived."""

    name: str
    count: int
    clock: Index
    phases: int = 0
    pending: int = 0
    expected: int = 0
    flights: list[Flight] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.pending = self.count

    def arrive(self, warp: Warp) -> None:
        """One arrival, which vouches for what the warp has done. Fault `tile.barrier` where the phase has enough."""
        if not self.pending:
            raise MachineFault("tile.barrier", f"{warp.name} arrives at {self.name}, which awaits nobody", None)
        self.pending -= 1
        np.maximum(self.clock, warp.seen, out=self.clock)
        warp.seen[warp.place] += 1
        self.complete()

    def announce(self, warp: Warp, byte_count: int) -> None:
        """An arrival that says how many bytes this phase brings."""
        self.expected += byte_count
        self.arrive(warp)

    def complete(self) -> None:
        """Ends the phase where all have arrived and all announced bytes are on their way; they land now."""
        brought = sum(flight.values.nbytes for flight in self.flights)
        if self.pending or brought < self.expected:
            return
        if brought > self.expected:
            raise MachineFault(
                "tile.barrier", f"{brought} bytes land on {self.name}, {self.expected} are expected", None
            )
        for flight in self.flights:
            end_write(flight)
            np.maximum(self.clock, flight.step.warp.seen, out=self.clock)
        self.flights.clear()
        self.phases, self.pending, self.expected = self.phases + 1, self.count, 0

    def passes(self, parity: int) -> bool:
        """Whether a wait for the phase of this parity passes."""
        return self.phases & 1 != parity


@frozen(eq=False)
class RingState:
    """The barriers of a ring, slot by slot."""

    ring: Ring
    full: tuple[Barrier, ...]
    empty: tuple[Barrier, ...]

    @classmethod
    def of(cls, ring: Ring, warps: int, rank: int = 0) -> RingState:
        """Fresh barriers of the block of that rank, seen by none of the cluster's warps."""

        def barriers(side: Side, count: int) -> tuple[Barrier, ...]:
            names = (f"{side.value} {slot} of {ring.name}" for slot in range(ring.depth))
            return tuple(Barrier(name, count, np.zeros(warps, np.int64)) for name in names)

        empty = ring.counts_by_rank[rank] if ring.counts_by_rank else ring.empty_count
        return cls(ring, barriers(Side.FULL, 1), barriers(Side.EMPTY, empty))

    def barrier(self, side: Side, rank: int) -> Barrier:
        """The barrier of the slot of tile number `rank`."""
        return (self.full if side is Side.FULL else self.empty)[rank % self.ring.depth]

    def parity(self, side: Side, rank: int) -> int:
        """The parity to wait for: of the phase that fills tile number `rank`, or of the one that frees its slot."""
        return rank // self.ring.depth & 1 ^ int(side is Side.EMPTY)
