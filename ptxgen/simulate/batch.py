"""The state of CTAs that run side by side."""

from __future__ import annotations

from typing import Any, TypeAlias

from attrs import define, field
from numpy.typing import NDArray

from ptxgen.simulate.copies import Copies
from ptxgen.simulate.fragments import Fragments
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.heap import Heap
from ptxgen.simulate.journal import Journal
from ptxgen.simulate.memory import Arena
from ptxgen.simulate.races import Clocks, Tracker

Array: TypeAlias = NDArray[Any]


@define(eq=False)
class SpaceMemory:
    """A state space as the threads of a batch see it.

    An address `a` of a warp lies at arena byte `a - base + offsets[warp]` (or of a thread, `offsets[warp, lane]`), and
    0 <= a - base <= size_bytes - width. `cell_bytes` is the grain of `tracker`.
    """

    name: str
    arena: Arena
    base: int
    size_bytes: int
    offsets: Array | None = None
    tracker: Tracker | None = None
    cell_bytes: int = 4


@define(eq=False)
class Batch:
    """CTAs `first` to `first + ctas` of the grid, `warps_per_cta` warps each, numbered CTA by CTA.

    `existing` [warps, 32] are the lanes that the block has, `present` those that have not ended. `arrivals` holds per
    barrier what `arrive` brought: threads [ctas] and knowledge [ctas, warps]. `flags` holds what threads of a CTA have
    released at an address, by space, cell and CTA; None in a kernel without fences, where addresses order nothing.
    `ballots` are, per barrier, the threads [ctas, 2] that brought false and true, `copies` what is under way, `ticks`
    the readings of clocks, `heap` what `malloc` may give.
    """

    first: int
    ctas: int
    warps_per_cta: int
    existing: Array
    present: Array
    spaces: dict[str, SpaceMemory]
    journal: Journal
    clocks: Clocks
    arrivals: dict[int, tuple[Array, Array]] = field(factory=dict)
    waiting: list[Group] = field(factory=list)
    flags: dict[tuple[str, int, int], Array] | None = None
    fragments: Fragments = field(factory=Fragments)
    ballots: dict[int, Array] = field(factory=dict)
    copies: Copies = field(factory=Copies)
    ticks: int = 0
    heap: Heap | None = None

    @property
    def warps(self) -> int:
        """Warps of the batch."""
        return self.ctas * self.warps_per_cta

    @property
    def first_thread(self) -> int:
        """The number in the grid of the batch's first thread."""
        return self.first * self.warps_per_cta * LANES

    def thread(self, group: Group, row: int, lane: int) -> int:
        """The number in the grid of a thread of a group."""
        return self.first_thread + int(group.warps[row]) * LANES + lane

    def all_here(self, group: Group) -> bool:
        """True if the group is every lane of the batch that has not ended."""
        if group.alive is None:
            return len(group.warps) == int(self.present.any(axis=1).sum())
        return int(group.alive.sum()) == int(self.present.sum())
