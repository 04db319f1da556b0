"""What synchronises ops: atoms with a time, and the ops on one scale of places with them."""

from __future__ import annotations

from attrs import field, frozen

from polyhedral import Affine, Set, const, var
from ptxgen.order.atoms import (
    Advance,
    Arrive,
    Commit,
    Entering,
    Expect,
    Fence,
    Join,
    Passing,
    Retire,
    Turning,
    Wait,
)
from ptxgen.order.clusters import Masks
from ptxgen.order.ops import Op, Time
from ptxgen.tile import Buffer, Covered

Synchronising = Join | Commit | Retire | Wait | Arrive | Expect | Fence | Advance | Turning | Passing | Entering


@frozen(eq=False)
class Synchronisation:
    """What the threads of `role` do for order alone, once for each point of `domain`, a set over `time.loops`: they
    meet, in their block or their cluster, close or await groups, wait or arrive at the barriers of a ring for its tile
    number `rank`, acquire or release the tile of a workspace by its number `rank`, or fence. A `tail` follows the loop
    whose name it has."""

    role: str
    atom: Synchronising
    domain: Set
    time: Time
    covers: tuple[Covered, ...]
    rank: Affine = field(factory=Affine)
    tail: bool = False

    def __str__(self) -> str:
        return f"{self.atom} for {'; '.join(map(str, self.covers))}" if self.covers else str(self.atom)


def numbered(loop: str, counter: str) -> Affine:
    """The number of the tile that a step of a loop uses: the first one where there is no loop."""
    steps = var(loop) if loop else const(0)
    return steps + var(counter) if counter else steps


@frozen(eq=False)
class RingUse:
    """The buffers that share a pair of barriers: equal roles, depth, rank and loop, "" outside all loops. Ops are given
    by number; `window` tells how many steps behind its reads a reader releases a slot. Where tiles are counted on from
    round to round, `counter` is the term of their rank that does so. Block c of a cluster releases the slots of each
    block in `masks[c]`; `empty_count` arrivals free a slot, where that is not the same in all of them `counts_by_rank`.
    Where it `rotates` the units that read it take work items in turn."""

    name: str
    buffers: tuple[Buffer, ...]
    loop: str
    writers: tuple[int, ...]
    readers: tuple[int, ...]
    window: int
    covers: tuple[Covered, ...]
    counter: str = ""
    masks: Masks = ()
    empty_count: int = 0
    counts_by_rank: tuple[int, ...] = ()
    rotates: bool = False

    @property
    def rank(self) -> Affine:
        """The number of the tile that a step of the loop uses."""
        return numbered(self.loop, self.counter)

    @property
    def depth(self) -> int:
        """Slots of the ring."""
        return self.buffers[0].depth

    @property
    def byte_count(self) -> int:
        """Bytes that land in one slot."""
        return sum(buffer.slot_bytes for buffer in self.buffers)


@frozen(eq=False)
class TurnUse:
    """A phase that `units` units of `role` go through in turn, item by item: `ops` are what it has, by number. The turn
    of tile number n lies in slot n mod `units`; `count` arrivals pass it on.

    Units that share every item do so step by step in the innermost of `loops`: unit u has turn number `units` * n + u
    in step n, which is counted on from round to round of the loop where there is a `counter`."""

    name: str
    role: str
    units: int
    ops: tuple[int, ...]
    count: int
    loops: tuple[str, ...] = ()
    counter: str = ""

    @property
    def depth(self) -> int:
        """How many loops are around the body that a turn is taken and passed on in."""
        return len(self.loops) or 1


@frozen(eq=False)
class Synchronised:
    """Ops and synchronisation on one scale of places: no two of them stand at the same place of a body. All threads of
    the block do what `enter` says before their roles begin."""

    ops: tuple[Op, ...]
    atoms: tuple[Synchronisation, ...]
    rings: tuple[RingUse, ...] = ()
    enter: tuple[Entering, ...] = ()
    turns: tuple[TurnUse, ...] = ()

    @property
    def meetings(self) -> tuple[Synchronisation, ...]:
        """Those at which all threads of a role meet."""
        return tuple(atom for atom in self.atoms if isinstance(atom.atom, Join))
