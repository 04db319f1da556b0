"""What must happen before what: requirements between the ops that touch one buffer."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import assert_never

from attrs import frozen

from isa.mechanisms import Group, Proxy
from polyhedral import Affine
from ptxgen.errors import PlanError, UnsupportedError
from ptxgen.order.clusters import Masks, is_remote, joined, ranks_in, reached
from ptxgen.order.nest import Nest, nest
from ptxgen.order.ops import Op, TouchKind
from ptxgen.order.overlaps import Overlap, overlaps
from ptxgen.order.ranks import (
    Access,
    Pair,
    check_ascending,
    in_other_rounds,
    later_tile,
    next_round,
    same_tile,
    surely_in_order,
)
from ptxgen.tile import Buffer, Copy, Covered, Map, Reduce, RequirementKind, Space


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
        first, second = (_masks(event.op, self.buffer) for event in (self.source, self.sink))
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


def _masks(op: Op, buffer: Buffer) -> Masks:
    return joined(touch.masks for touch in op.touches if touch.buffer == buffer)


def requirements(ops: tuple[Op, ...]) -> tuple[Requirement, ...]:
    """The requirements between all pairs of ops that touch one shared buffer, at least one of them writing.

    Flow: tile n is filled before it is read. Reuse and rewrite: it is read and filled before the next tile of its slot
    is filled. Each is stated at the loop where its ends part, and once more for each outer loop, whose iterations start
    the ring anew; a ring that goes on across work items knows no distance but that of its tiles. Register buffers
    belong to a warp and need only the right program order. Buffers that lie over each other are used one after the
    other. What is stored in the background is there before its thread leaves, and a block before others have read it.

    PlanError where the program order of register tiles is wrong and where two ops do not count the tiles of a buffer
    alike; UnsupportedError where a global array is written and read by different threads.
    """
    places = nest(ops)
    found: list[Requirement] = []
    for buffer, accesses in _accesses(ops):
        if all(not a.writes for a in accesses):
            continue
        match buffer.space:
            case Space.GLOBAL if any(access.rank.terms for access in accesses):
                found += _passed_on(buffer, accesses)
            case Space.GLOBAL:
                _check_global(buffer, [access for access in accesses if not access.op.leaves])
                found += _before_leaving(buffer, accesses)
            case Space.REGISTERS:
                _check_one_role(buffer, accesses)
                for pair, apart in _conflicts(buffer, accesses, places):
                    requirement = _requirement(buffer, pair, apart)
                    if not _in_order(pair, apart, places):
                        check_order(requirement, places)
                    elif _in_flight(pair.first, pair.second):
                        found.append(requirement)
            case Space.SHARED:
                staying = [access for access in accesses if not access.op.leaves]
                found += [_requirement(buffer, pair, apart) for pair, apart in _conflicts(buffer, staying, places)]
                found += _before_memory_goes(buffer, accesses)
    staying_all = ((b, [a for a in accesses if not a.op.leaves]) for b, accesses in _accesses(ops))
    found += (_one_after_the_other(each) for each in overlaps(staying_all, places))
    return tuple(found)


def _before_leaving(buffer: Buffer, accesses: list[Access]) -> Iterator[Requirement]:
    """A store in the background, and the end of its role: as if the array were written anew there."""
    for source in accesses:
        for sink in accesses:
            stored = source.writes and isinstance(source.op.mechanism.completes, Group)
            if stored and sink.op.leaves and source.op.role == sink.op.role:
                events = Event(source.op, source.number, EventKind.DONE), Event(sink.op, sink.number, EventKind.ISSUE)
                proxies = source.op.mechanism.writes, sink.op.mechanism.writes
                yield Requirement(RequirementKind.REWRITE, *events, buffer, (), 0, proxies)


def _passed_on(buffer: Buffer, accesses: list[Access]) -> Iterator[Requirement]:
    """Tiles of a workspace, numbered by the part of a sum that fills them: what the block of one part fills, that of
    the next one reads, and fills anew, each element by the lane that has read it. Blocks that walk a work list each
    fill a tile of their own, which has their number, and read another one's.

    UnsupportedError where other lanes fill it than read it in a block, PlanError where tiles are not numbered alike.
    """
    readers, writers = ([a for a in accesses if a.reads], [a for a in accesses if a.writes])
    for reader in readers:
        if not reader.op.time.loops and not any(_same_elements(buffer, writer.op, reader.op) for writer in writers):
            raise UnsupportedError(f"{reader.op} reads {buffer.name} in other lanes than those that fill it")
        for writer in writers:
            later = writer.rank - reader.rank
            alike = (writer.op.role, writer.op.time.loops) == (reader.op.role, reader.op.time.loops)
            if not later.is_constant or not alike:
                raise PlanError(
                    f"{writer.op} and {reader.op} do not number the tiles of {buffer.name} alike", line=reader.op.line
                )
            filled = Event(writer.op, writer.number, EventKind.DONE)
            used = Event(reader.op, reader.number, EventKind.ISSUE)
            proxies = writer.op.mechanism.writes, reader.op.mechanism.reads
            loops = writer.op.time.loops
            yield Requirement(RequirementKind.FLOW, filled, used, buffer, loops, 0, proxies, parts=later.constant)


def _before_memory_goes(buffer: Buffer, accesses: list[Access]) -> Iterator[Requirement]:
    """A read of another block's tile, and the end of that block, whose shared memory goes with it."""
    for source in accesses:
        for sink in accesses:
            same = source.op.role == sink.op.role and sink.op.leaves and not source.op.leaves
            if same and source.reads and is_remote(_masks(source.op, buffer)):
                events = (
                    Event(source.op, source.number, EventKind.READ_DONE),
                    Event(sink.op, sink.number, EventKind.ISSUE),
                )
                proxies = source.op.mechanism.reads, sink.op.mechanism.writes
                yield Requirement(RequirementKind.REUSE, *events, buffer, (), 0, proxies)


def _one_after_the_other(overlap: Overlap) -> Requirement:
    first, second = overlap.first, overlap.second
    reads = not first.writes
    kind = RequirementKind.REUSE if reads else RequirementKind.REWRITE
    event = Event(first.op, first.number, EventKind.READ_DONE if reads else EventKind.DONE)
    before = first.op.mechanism.reads if reads else first.op.mechanism.writes
    proxies = before, second.op.mechanism.writes
    sink = Event(second.op, second.number, EventKind.ISSUE)
    return Requirement(kind, event, sink, overlap.buffer, overlap.loops, overlap.distance, proxies)


def _accesses(ops: tuple[Op, ...]) -> list[tuple[Buffer, list[Access]]]:
    buffers: dict[str, Buffer] = {}
    kinds: dict[str, dict[tuple[int, Affine, str], set[TouchKind]]] = {}
    for number, op in enumerate(ops):
        for touch in op.touches:
            buffers[touch.buffer.name] = touch.buffer
            use = number, touch.rank, touch.counter
            kinds.setdefault(touch.buffer.name, {}).setdefault(use, set()).add(touch.kind)
    return [
        (
            buffer,
            [
                Access(ops[number], number, rank, TouchKind.READ in kind, TouchKind.WRITE in kind, counter)
                for (number, rank, counter), kind in kinds[name].items()
            ],
        )
        for name, buffer in buffers.items()
    ]


def _in_flight(first: Access, second: Access) -> bool:
    """Whether program order does not order two uses of registers: one of them is a product that runs in a group, and
    the other is none that adds to the same sums."""
    groups = [isinstance(access.op.mechanism.completes, Group) for access in (first, second)]
    return any(groups) and not (all(groups) and first.reads and second.reads and first.writes and second.writes)


def _check_one_role(buffer: Buffer, accesses: list[Access]) -> None:
    """Registers belong to the threads of one role."""
    for access in accesses:
        if access.op.role != accesses[0].op.role:
            raise PlanError(
                f"{access.op} of the role {access.op.role} uses registers of {buffer.name}, which {accesses[0].op} "
                f"({accesses[0].op.line}) of the role {accesses[0].op.role} holds",
                line=access.op.line,
            )


@frozen(eq=False)
class Apart:
    """How a pair's instances that conflict lie apart: loop level-1 by `distance`, outer loops not at all."""

    level: int
    distance: int
    kind: RequirementKind


def _conflicts(buffer: Buffer, accesses: list[Access], places: Nest) -> Iterator[tuple[Pair, Apart]]:
    for access in accesses:
        check_ascending(access, buffer.name)
    private = buffer.space is Space.REGISTERS
    for first in accesses:
        for second in accesses:
            if (first.writes or second.writes) and not in_other_rounds(first, second):
                common = places.common_depth(first.number, second.number)
                behind = places.positions[second.number][common] > places.positions[first.number][common]
                if (
                    private
                    and not _in_flight(first, second)
                    and surely_in_order(first, second, common, buffer.depth, behind=behind)
                ):
                    continue
                pair = Pair.of(first, second, common, buffer.depth)
                yield from ((pair, apart) for apart in _strongest(list(_of_pair(pair, places, private=private))))


def _of_pair(pair: Pair, places: Nest, *, private: bool) -> Iterator[Apart]:
    outermost = pair.common if pair.carried else min(pair.common, 1)
    for level in range(pair.common, outermost - 1, -1):
        counted = pair.step(level) != 0
        if level == pair.common:
            for distance in same_tile(pair, level):
                kind = RequirementKind.FLOW if pair.second.reads else RequirementKind.REWRITE
                apart = Apart(level, distance, kind)
                if _goes_first(pair, apart, places, private=private):
                    yield apart
        if not pair.second.writes:
            continue
        if level == pair.common or counted:
            least = later_tile(pair, level)
            if least is not None:
                yield from _overwrites(pair, level, least)
        if level and not counted and next_round(pair, level):
            yield from _overwrites(pair, level, 1)


def _goes_first(pair: Pair, apart: Apart, places: Nest, *, private: bool) -> bool:
    """Whether the first access comes first at a tile that both use: by turn, else as the program has them."""
    first, second = pair.first, pair.second
    if first.turn != second.turn or not first.writes:
        return first.turn < second.turn
    if private or first.number == second.number or first.op.role != second.op.role:
        return False
    return _in_order(pair, apart, places)


def _overwrites(pair: Pair, level: int, distance: int) -> Iterator[Apart]:
    if pair.first.reads:
        yield Apart(level, distance, RequirementKind.REUSE)
    if pair.first.writes:
        yield Apart(level, distance, RequirementKind.REWRITE)


def _strongest(found: list[Apart]) -> list[Apart]:
    """Without those that another one of the same loops implies: a filling is done after its sources are read."""
    if len(found) < 2:
        return found
    kept: list[Apart] = []
    for apart in sorted(found, key=lambda a: (a.distance, a.kind is RequirementKind.REUSE)):
        stronger = (k for k in kept if k.level == apart.level)
        if not any(k.kind in (RequirementKind.FLOW, RequirementKind.REWRITE, apart.kind) for k in stronger):
            kept.append(apart)
    return kept


def _in_order(pair: Pair, apart: Apart, places: Nest) -> bool:
    first, second = pair.first, pair.second
    level, before, after = apart.level, first.op.time.ahead, second.op.time.ahead
    if level > 1 and before[: level - 1] != after[: level - 1]:
        return False
    steps = apart.distance + before[level - 1] - after[level - 1] if level else 0
    return steps > 0 or (steps == 0 and places.positions[second.number][level] > places.positions[first.number][level])


def _requirement(buffer: Buffer, pair: Pair, apart: Apart) -> Requirement:
    first, second = pair.first, pair.second
    a, b = first.op.mechanism, second.op.mechanism
    match apart.kind:
        case RequirementKind.FLOW:
            event, proxies = EventKind.DONE, (a.writes, b.reads)
        case RequirementKind.REUSE:
            event, proxies = EventKind.READ_DONE, (a.reads, b.writes)
        case RequirementKind.REWRITE:
            event, proxies = EventKind.DONE, (a.writes, b.writes)
        case _:
            assert_never(apart.kind)
    source, sink = Event(first.op, first.number, event), Event(second.op, second.number, EventKind.ISSUE)
    counter = first.counter if pair.carried else ""
    return Requirement(apart.kind, source, sink, buffer, pair.loops[: apart.level], apart.distance, proxies, counter)


def interval(requirement: Requirement, places: Nest) -> int:
    """Gaps between items of the body from source to sink, over as many steps as lie between them; 0 or less when the
    sink does not come behind the source."""
    depth = len(requirement.loops)
    source, sink = requirement.source, requirement.sink
    between = places.positions[sink.number][depth] - places.positions[source.number][depth]
    return requirement.steps * places.size_around(source.number, depth) + between


def check_order(requirement: Requirement, places: Nest) -> None:
    """Raises PlanError where the sink does not come behind the source: a shift or an order that empties the interval,
    or a ring that is not deep enough."""
    source, sink = requirement.source.op, requirement.sink.op
    for level, loop in enumerate(requirement.loops[:-1]):
        if source.time.ahead[level] != sink.time.ahead[level]:
            raise PlanError(
                f"{source} ({source.line}) and {sink} share the loop {requirement.loops[-1]}, but the shift in the "
                f"outer loop {loop} is {source.time.ahead[level]} for one and {sink.time.ahead[level]} for the other",
                line=sink.line,
            )
    if interval(requirement, places) > 0:
        return
    deeper = requirement.kind is not RequirementKind.FLOW
    where = f"{requirement.distance} steps of {requirement.loops[-1]} later" if requirement.loops else "later"
    event = "has read" if requirement.source.kind is EventKind.READ_DONE else "has filled"
    depth = f" with depth {requirement.buffer.depth}" if deeper else ""
    raise PlanError(
        f"the shift empties the interval between {source} ({source.line}) and {sink}: {source} {event} a tile of "
        f"{requirement.buffer.name} before {sink} {'fills the same slot' if deeper else 'uses it'} {where}{depth}, but "
        f"the plan runs {sink} first" + ("; a greater depth or a smaller shift is wanted" if deeper else ""),
        line=sink.line,
        instances=(f"{source} at step n", f"{sink} at step n + {requirement.distance}"),
    )


def _check_global(buffer: Buffer, accesses: list[Access]) -> None:
    for writer in accesses:
        for reader in accesses:
            if writer.writes and reader.reads and not _same_elements(buffer, writer.op, reader.op):
                raise UnsupportedError(
                    f"{reader.op} ({reader.op.line}) reads the global array {buffer.name} that {writer.op} "
                    f"({writer.op.line}) writes in the same kernel, in other threads; stage it in shared memory, or "
                    f"use another array"
                )


def _same_elements(buffer: Buffer, writer: Op, reader: Op) -> bool:
    """Whether each element is read by the lane that writes it, as far as equal distributions and origins show. Where
    lanes or warps hold copies, one of them writes and all read."""
    if not isinstance(writer.node, Copy) or writer.node.distribution.is_replicated:
        return False
    target = writer.node.destination
    match reader.node:
        case Copy(source=source, distribution=distribution):
            return source == target and distribution == writer.node.distribution
        case Map(iteration=iteration, operands=operands) | Reduce(iteration=iteration, operands=operands):
            own = [o for o in operands if o.region.buffer.name == buffer.name]
            straight = tuple(range(len(iteration.dims)))
            same = all(o.dims == straight and o.region.origin == target.origin for o in own)
            return same and iteration.distribution == writer.node.distribution
        case _:
            return False
