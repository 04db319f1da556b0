"""The nodes that are there for order alone, with the requirements that they discharge."""

from __future__ import annotations

from enum import Enum

from attrs import field, frozen

from isa.mechanisms import GroupKind
from polyhedral import Affine, var
from ptxgen.compute import SourceLine
from ptxgen.tile.quotient import Quotient
from ptxgen.tile.variables import TILE_NUMBER


class RequirementKind(Enum):
    """Why one access must come before another."""

    FLOW = "flow"
    REUSE = "reuse"
    REWRITE = "rewrite"


@frozen
class Covered:
    """A requirement that a synchronisation node discharges: source(n) before sink(n + distance), on `buffer`."""

    kind: RequirementKind
    source: str
    sink: str
    distance: int
    buffer: str

    def __str__(self) -> str:
        return f"{self.kind.value} {self.source} -> {self.sink} ({self.buffer}, distance {self.distance})"


@frozen
class Ordering:
    """A node that is there for order alone; `line` where somebody wrote it by hand."""

    line: SourceLine | None = field(default=None, eq=False, kw_only=True, repr=False)


@frozen
class Meet(Ordering):
    """All warps of the role wait for each other; memory accesses before are ordered before those after."""

    barrier: int
    covers: tuple[Covered, ...]


@frozen
class Commit(Ordering):
    """Every lane closes the group of the copies of a kind that it has issued since it last did; it may be empty. Groups
    of stores in bulk are those of the role's first thread."""

    kind: GroupKind


@frozen
class Retire(Ordering):
    """Every lane waits until at most `pending` of the groups that it closed last are incomplete; with `reads_only`,
    until their sources have been read."""

    kind: GroupKind
    pending: int
    covers: tuple[Covered, ...]
    reads_only: bool = False


class Side(Enum):
    """The two barriers of a slot: FULL tells readers that it is filled, EMPTY tells the writer that it is free."""

    FULL = "full"
    EMPTY = "empty"


@frozen
class Wait(Ordering):
    """Every thread of the role waits for a barrier of a ring: FULL until tile number `rank` has landed, EMPTY until its
    slot is free for it."""

    ring: str
    side: Side
    rank: Affine
    covers: tuple[Covered, ...]


class Arriving(Enum):
    """Who arrives: one thread of each warp, or one of each warpgroup."""

    WARP = "each warp"
    WARPGROUP = "each warpgroup"


@frozen
class Arrive(Ordering):
    """The slot of tile number `rank` is free as far as this role goes. With `to` the block of rank c in its cluster
    tells so to all blocks that `to[c]` has bits for, else to itself."""

    ring: str
    rank: Affine
    by: Arriving
    covers: tuple[Covered, ...]
    to: tuple[int, ...] = ()


@frozen
class Expect(Ordering):
    """The bytes of tile number `rank` are announced to its full barrier, one arrival."""

    ring: str
    rank: Affine
    byte_count: int
    covers: tuple[Covered, ...]


@frozen
class ClusterArrive(Ordering):
    """Every thread of the role, or of the block where all enter, tells its cluster that it has come here; what it did
    before is seen behind the wait. Threads that have ended count as if they had told so."""

    covers: tuple[Covered, ...] = ()


@frozen
class ClusterWait(Ordering):
    """Every thread waits until all threads of the cluster have told that they arrived."""

    covers: tuple[Covered, ...] = ()


@frozen
class GridRelease(Ordering):
    """The grids behind this one may begin (PTX ISA, griddepcontrol.launch_dependents)."""


@frozen
class GridWait(Ordering):
    """Every thread waits until the grids ahead have ended, and then sees what they wrote (PTX ISA,
    griddepcontrol.wait)."""


OWN_TILE = var(TILE_NUMBER)


@frozen
class Acquire(Ordering):
    """The role's first thread waits until the flag of a tile in the array `flags`, that of the block's own tile or of
    number `tile` of the workspace, has the value `value`; what came before the release of that value is seen behind the
    next meeting."""

    flags: str
    value: Affine
    covers: tuple[Covered, ...]
    tile: Affine = OWN_TILE


@frozen
class Release(Ordering):
    """The role's first thread gives the flag of a tile in the array `flags` a value; what it has seen of the role by
    then is seen by who acquires that."""

    flags: str
    value: Affine
    covers: tuple[Covered, ...]
    tile: Affine = OWN_TILE


@frozen
class RegisterFence(Ordering):
    """Registers written before are read by later products of the warpgroup (PTX ISA, wgmma.fence)."""

    covers: tuple[Covered, ...]


@frozen
class ProxyFence(Ordering):
    """What a thread has written to shared memory before is seen by what runs in the background behind it (PTX ISA,
    fence.proxy.async)."""

    covers: tuple[Covered, ...]


@frozen
class Advance(Ordering):
    """The role's counter `variable` goes on by `by`."""

    variable: str
    by: Quotient


Entering = ClusterArrive | ClusterWait | GridRelease | GridWait
Passing = Acquire | Release
Synchronisation = (
    Meet | Commit | Retire | Wait | Arrive | Expect | RegisterFence | ProxyFence | Advance | Passing | Entering
)
