"""Rings that reach across the blocks of a cluster: whom a reader tells, how many arrivals free a slot, what a block
waits for before it leaves, and what all wait for before they begin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve

from isa.mechanisms import IssuedBy
from polyhedral import Set, var
from ptxgen.order.atoms import Arrive, ClusterArrive, ClusterWait, Entering, Side, Wait
from ptxgen.order.clusters import Masks, inverse, is_remote, joined, reached
from ptxgen.order.ops import Op, Time, TouchKind
from ptxgen.order.synchronisation import RingUse, Synchronisation
from ptxgen.order.threads import SEVERAL, Threads
from ptxgen.tile import Buffer, Covered, RequirementKind


def freed_by(ops: Iterable[Op], buffers: tuple[Buffer, ...]) -> Masks:
    """Whose slots a block of each rank frees: those of all blocks that fill its own tiles, and its own, since its own
    writer announces the bytes of each filling. None where blocks keep to their own tiles."""
    writes = joined(t.masks for op in ops for t in op.touches if t.kind is TouchKind.WRITE and t.buffer in buffers)
    return joined((inverse(writes), reached((), len(writes)))) if is_remote(writes) else ()


def counted(use: RingUse, atoms: Iterable[Synchronisation], threads: Mapping[str, Threads]) -> RingUse:
    """The ring with the arrivals that free a slot: those of the units that read it (one of units that alternate), in
    all blocks whose readers free the slots of one block."""
    releases = [a for a in atoms if isinstance(a.atom, Arrive) and a.atom.ring == use.name and not a.tail]
    releases = [a for a in releases if a.time.loops[-1:] == (use.loop,)]
    units = sum(
        _arriving(a.atom.by, threads.get(a.role, SEVERAL).together) for a in releases if isinstance(a.atom, Arrive)
    )
    counts = tuple(units * mask.bit_count() for mask in inverse(use.masks or (1,)))
    return evolve(use, empty_count=counts[0], counts_by_rank=counts if len(set(counts)) > 1 else ())


def _arriving(by: IssuedBy, threads: Threads) -> int:
    match by:
        case IssuedBy.ELECTED | IssuedBy.WARPGROUP:
            return threads.units
        case IssuedBy.WARP:
            return max(1, threads.threads // 32)
        case IssuedBy.LANE:
            return threads.threads


def before_leaving(use: RingUse, writer: Op, reader: Op) -> tuple[Synchronisation, ...]:
    """The writer's wait for the release of the last tile: every arrival of another block comes before it, so that none
    reaches a block that has gone. Tiles that are counted on through a work list are as many as the counter then says;
    where there was none at all, the barriers are fresh and the wait passes. Of units that take turns each knows only
    its own arrivals: the last release of every slot is awaited."""
    covers = tuple(Covered(RequirementKind.REUSE, str(reader), "leave", 0, buffer.name) for buffer in use.buffers)
    wait = Wait(use.name, Side.EMPTY)
    if use.counter:
        slots = range(0 if use.rotates else use.depth - 1, use.depth)
        ranks = (var(use.counter) + slot for slot in slots)
        once = Time((), (), ())
        return tuple(Synchronisation(writer.role, wait, Set.of(()), once, covers, rank, tail=True) for rank in ranks)
    last = writer.domain - Set(
        writer.domain.dims, tuple(p.substitute({use.loop: var(use.loop) + 1}) for p in writer.domain.pieces)
    )
    return (Synchronisation(writer.role, wait, last, writer.time, covers, var(use.loop) + use.depth, tail=True),)


def entering(uses: Iterable[RingUse]) -> tuple[Entering, ...]:
    """A barrier of the cluster behind the initialisation of the barriers, where blocks reach each other's."""
    return (ClusterArrive(), ClusterWait()) if any(is_remote(use.masks) for use in uses) else ()
