"""The state of CTAs that run side by side."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from ptxgen.simulate.asynchronous.engines import Engines
from ptxgen.simulate.copies import Copies
from ptxgen.simulate.flags import Flags
from ptxgen.simulate.fragments import Fragments
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.heap import Heap
from ptxgen.simulate.journal import Journal
from ptxgen.simulate.lateness import Lateness
from ptxgen.simulate.memory import Arena
from ptxgen.simulate.races import Clocks, Tracker

Array: TypeAlias = NDArray[Any]


@define(eq=False)
class SpaceMemory:
    """A state space as the threads of a batch see it.

    An address `a` of a warp lies at arena byte `a - base + offsets[warp]` (or of a thread, `offsets[warp, lane]`), and
    0 <= a - base <= size_bytes - width. `cell_bytes` is the grain of `tracker`. Shared memory of a cluster of several
    CTAs has the CTA's rank in its addresses from bit RANK_SHIFT up, and `stride` bytes of arena for each CTA.
    """

    name: str
    arena: Arena
    base: int
    size_bytes: int
    offsets: Array | None = None
    tracker: Tracker | None = None
    cell_bytes: int = 4
    stride: int = 0


@define(eq=False)
class Batch:
    """CTAs `first` to `first + ctas` of the grid, `warps_per_cta` warps each, numbered CTA by CTA.

    CTAs of a cluster of `cluster` follow each other. `existing` [warps, 32] are the lanes that the block has, `present`
    those that have not ended. `arrivals` holds per barrier what `arrive` brought: threads [ctas] and knowledge [ctas,
    warps]. `flags` holds what threads have released at an address; None in a kernel without fences, where addresses
    order nothing. `ballots` are, per barrier, the threads of each warp [warps, 2] that brought false and true, `copies`
    what is under way, `ticks` the readings of clocks, `heap` what `malloc` may give. `parked` are groups that wait for
    something that the `engines` tell of. `lateness`, in a random order, is what CTAs see late of each other.
    `last_whole` is what `whole_warps` gave last.
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
    flags: Flags | None = None
    fragments: Fragments = field(factory=Fragments)
    ballots: dict[int, Array] = field(factory=dict)
    copies: Copies = field(factory=Copies)
    ticks: int = 0
    heap: Heap | None = None
    last_whole: tuple[Array, tuple[Array, Array, Array]] | None = None
    cluster: int = 1
    engines: Engines = field(factory=Engines)
    parked: list[Group] = field(factory=list)
    lateness: Lateness | None = None

    @property
    def warps(self) -> int:
        """Warps of the batch."""
        return self.ctas * self.warps_per_cta

    @property
    def first_thread(self) -> int:
        """The number in the grid of the batch's first thread."""
        return self.first * self.warps_per_cta * LANES

    def whole_warps(self, warps: Array) -> tuple[Array, Array, Array]:
        """All lanes of these warps, flat: their warps, lanes and numbers as `participants` gives them.

        The last answer is kept: a group asks for each access again.
        """
        if self.last_whole is None or self.last_whole[0] is not warps:
            lanes = np.tile(np.arange(LANES), len(warps))
            flat = np.repeat(warps, LANES)
            self.last_whole = warps, (flat, lanes, self.participants(flat, lanes))
        return self.last_whole[1]

    def participants(self, warps: Array, lanes: Array) -> Array:
        """The numbers of threads among the participants of the grid, as `Touches` wants them."""
        clocks = self.clocks
        if clocks.width == self.warps_per_cta:
            numbers: Array = warps * LANES + lanes + self.first_thread
            return numbers
        cluster, column = np.divmod(warps, clocks.warps_per_cluster)
        places: Array = (cluster + self.first // self.cluster) * clocks.width + column
        return (places << 5) + lanes

    def engine_participant(self, cluster: int, engine: int) -> int:
        """The number of an engine of a cluster of the batch among the participants of the grid."""
        clocks = self.clocks
        return ((cluster + self.first // self.cluster) * clocks.width + clocks.warps_per_cluster + engine) << 5

    def told(self, participant: int) -> str:
        """A participant in words."""
        lane, clocks = participant & 31, self.clocks
        cluster, column = divmod(participant >> 5, clocks.width)
        if column >= clocks.warps_per_cluster:
            return self.engines.told(column - clocks.warps_per_cluster)
        cta, thread = self.journal.place((cluster * clocks.warps_per_cluster + column) * LANES + lane)
        return f"thread {thread} of CTA {cta}"

    def thread(self, group: Group, row: int, lane: int) -> int:
        """The number in the grid of a thread of a group."""
        return self.first_thread + int(group.warps[row]) * LANES + lane

    def all_here(self, group: Group) -> bool:
        """True if the group is every lane of the batch that has not ended."""
        if group.alive is None:
            return len(group.warps) == int(self.present.any(axis=1).sum())
        return int(group.alive.sum()) == int(self.present.sum())
