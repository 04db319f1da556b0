"""What must happen before what: requirements between the ops that touch one buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from isa.mechanisms import Group
from polyhedral import Affine
from ptxgen.errors import PlanError, UnsupportedError
from ptxgen.order.clusters import is_remote
from ptxgen.order.conflicts import Apart, conflicts, in_flight, in_order
from ptxgen.order.intervals import check_order
from ptxgen.order.nest import nest
from ptxgen.order.ops import Op, TouchKind
from ptxgen.order.overlaps import Overlap, overlaps
from ptxgen.order.ranks import Access, Pair
from ptxgen.order.requirement import Event, EventKind, Requirement, masks_of
from ptxgen.tile import Buffer, Copy, Map, Reduce, RequirementKind, Space


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
                for pair, apart in conflicts(buffer, accesses, places):
                    requirement = _requirement(buffer, pair, apart)
                    if not in_order(pair, apart, places):
                        check_order(requirement, places)
                    elif in_flight(pair.first, pair.second):
                        found.append(requirement)
            case Space.SHARED:
                staying = [access for access in accesses if not access.op.leaves]
                found += [_requirement(buffer, pair, apart) for pair, apart in conflicts(buffer, staying, places)]
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
            if same and source.reads and is_remote(masks_of(source.op, buffer)):
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


def _check_one_role(buffer: Buffer, accesses: list[Access]) -> None:
    """Registers belong to the threads of one role."""
    for access in accesses:
        if access.op.role != accesses[0].op.role:
            raise PlanError(
                f"{access.op} of the role {access.op.role} uses registers of {buffer.name}, which {accesses[0].op} "
                f"({accesses[0].op.line}) of the role {accesses[0].op.role} holds",
                line=access.op.line,
            )


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
