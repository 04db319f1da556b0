"""A requirement: of two events of instances that touch one buffer, which must happen before which."""

from __future__ import annotations

from enum import Enum

from attrs import frozen

from isa.mechanisms import Proxy
from ptxgen.order.clusters import Masks, joined, ranks_in, reached
from ptxgen.order.ops import Op
from ptxgen.tile import Buffer, Covered, RequirementKind, Space


class EventKind(Enum):
    """Of an instance: it was issued, its sources may be overwritten, its results may be used."""

    ISSUE = "issue"
    READ_DONE = "read done"
    DONE = "done"

    __hash__ = object.__hash__


@frozen(eq=False)
class Event:
    """An event of each instance of an op; `number` is the op's position among the ops that were asked about."""

    op: Op
    number: int
    kind: EventKind


@frozen(eq=False)
class Requirement:
    """`source` of an instance must happen before `sink` of the instance `distance` steps of the innermost of `loops`
    later, outer loops equal. `proxies` are the paths by which source and sink reach the buffer. With a `counter` the
    steps are counted on from item to item of a work list, the outermost loop. With `parts` the sink is in the block
    that sums the part that much later of the same tile, or where blocks walk a work list, whose number is that much
    larger: some item of one block, and some item of the other."""

    kind: RequirementKind
    source: Event
    sink: Event
    buffer: Buffer
    loops: tuple[str, ...]
    distance: int
    proxies: tuple[Proxy | None, Proxy | None]
    counter: str = ""
    parts: int = 0

    @property
    def own(self) -> bool:
        """Whether each thread, or the threads of a collective op together, keep it for themselves: of registers, and of
        what a thread has under way when it leaves."""
        return self.buffer.space is Space.REGISTERS or (self.sink.op.leaves and self.buffer.space is Space.GLOBAL)

    @property
    def between_blocks(self) -> bool:
        """Whether source and sink may be in different blocks of a cluster."""
        return any(source != sink for source, _, sink in self.ctas)

    @property
    def steps(self) -> int:
        """Steps of the innermost loop from source to sink in time, both shifted as planned."""
        if not self.loops:
            return 0
        level = len(self.loops) - 1
        return self.distance + self.source.op.time.ahead[level] - self.sink.op.time.ahead[level]

    @property
    def ctas(self) -> tuple[tuple[int, int, int], ...]:
        """In a cluster: the source's block, the block whose tile both ends touch, the sink's block, for each three of
        them; none where every block keeps to its own tiles."""
        if not any(touch.masks for event in (self.source, self.sink) for touch in event.op.touches):
            return ()
        first, second = (masks_of(event.op, self.buffer) for event in (self.source, self.sink))
        size = max(len(first), len(second))
        here, there = reached(first, size), reached(second, size)
        return tuple(
            (source, place, sink)
            for source in range(size)
            for place in ranks_in(here[source])
            for sink in range(size)
            if there[sink] >> place & 1
        )

    @property
    def covered(self) -> Covered:
        """The requirement as a tile program's synchronisation node names it."""
        return Covered(self.kind, str(self.source.op), str(self.sink.op), self.distance, self.buffer.name)

    def __str__(self) -> str:
        return str(self.covered)


def masks_of(op: Op, buffer: Buffer) -> Masks:
    """The blocks of a cluster whose tiles of a buffer an op touches, by the rank of its own."""
    return joined(touch.masks for touch in op.touches if touch.buffer == buffer)
