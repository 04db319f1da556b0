"""Barriers of rings: where they lie, how they start, and what waits for them and arrives at them."""

from __future__ import annotations

from isa.types import b64, pred
from polyhedral import Affine
from ptxgen.build import Offset, Value
from ptxgen.errors import UnsupportedError
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.bases import first_replica, pool_start
from ptxgen.lower.clusters import GROUP_LANES, LANES, far_barriers
from ptxgen.lower.context import Context
from ptxgen.lower.pool import BARRIER_BYTES
from ptxgen.lower.ranks import by_rank
from ptxgen.lower.turns import Turn
from ptxgen.tile import LANE_BITS, WARPGROUP, Arrive, Arriving, ClusterWait, Expect, Node, Program, Ring, Side, Wait
from ptxgen.tile.trees import ends_of

ALL_LANES = 0xFFFFFFFF
GROUP_BITS = 2


def ring_of(program: Program, name: str) -> Ring:
    """The ring called `name`."""
    return next(ring for ring in program.rings if ring.name == name)


def start_barriers(context: Context) -> None:
    """One thread gives every barrier its count; then all threads and the copies see them (PTX ISA, mbarrier.init).

    Where the block's threads meet those of its cluster next, that is their meeting too.
    """
    k, program = context.k, context.program
    pool_start(context)
    with k.when(k.setp.eq.u32(k.tid.x, 0)):
        for ring in program.rings:
            for slot in range(ring.depth):
                k.mbarrier.init.shared.b64(barrier_at(context, ring, Side.FULL, slot), 1)
                counts = ring.counts_by_rank or (ring.empty_count,)
                if any(counts):
                    k.mbarrier.init.shared.b64(barrier_at(context, ring, Side.EMPTY, slot), by_rank(context, counts))
        k.fence.mbarrier_init.release.cluster()
    if not any(isinstance(node, ClusterWait) for node in program.enter):
        k.bar.sync(0)


def barrier_at(context: Context, ring: Ring, side: Side, slot: Number, pool: Value | None = None) -> Offset:
    """The address of the barrier of a slot: all full ones of a ring, then all empty ones; in this block, or in the one
    whose pool starts at `pool`."""
    start = context.pool.barriers[ring.name] + (ring.depth * BARRIER_BYTES if side is Side.EMPTY else 0)
    first = pool_start(context) if pool is None else pool
    if isinstance(slot, int):
        return first + (start + slot * BARRIER_BYTES)
    base = context.once(
        ("barrier", ring.name, slot.node, first.node), lambda: context.k.mad.lo.u32(slot, BARRIER_BYTES, first)
    )
    address: Offset = base + start
    return address


def slot_of(context: Context, depth: int, rank: Affine) -> Number:
    """The slot of a tile number."""
    moving = context.moving.get(Turn(rank, depth))
    if moving is not None:
        slot: Value = moving.slot
        return slot
    return context.once(("slot number", rank, depth), lambda: context.narrow.remainder(context.integer(rank), depth))


def parity_of(context: Context, ring: Ring, side: Side, rank: Affine) -> Number:
    """The parity of the phase to wait for: that of the round of the tile number, the other one for its free slot."""

    def parity() -> Number:
        moving = context.moving.get(Turn(rank, ring.depth))
        if moving is not None:
            standing: Value = moving.parity
            return standing
        rounds = context.narrow.floor_quotient(context.integer(rank), ring.depth)
        return context.narrow.remainder(rounds, 2)

    found = context.once(("parity", rank, ring.depth), parity)
    if side is Side.FULL:
        return found
    return (
        found ^ 1
        if isinstance(found, int)
        else context.once(("other parity", rank, ring.depth), lambda: context.k.xor.b32(found, 1))
    )


def tells_warpgroups(body: Node) -> bool:
    """Whether warpgroups of a role wait or arrive for other tiles each."""
    return any(isinstance(node, Wait | Arrive) and WARPGROUP in node.rank.names for node in ends_of(body))


def name_warpgroup(context: Context) -> None:
    """From here on barriers may ask for the number of the thread's warpgroup in its role."""
    number = context.k.shr.s32(context.thread_number(), LANE_BITS + GROUP_BITS)
    context.rebind(WARPGROUP, context.symbol(WARPGROUP, number))


def lower_wait(context: Context, node: Wait) -> None:
    """Tries until the phase is complete (PTX ISA, mbarrier.try_wait)."""
    ring, rank = ring_of(context.program, node.ring), context.resolved(node.rank)
    where = barrier_at(context, ring, node.side, slot_of(context, ring.depth, rank))
    parity = parity_of(context, ring, node.side, rank)
    k = context.k
    with k.loop() as tries:
        passed = k.register(pred)
        k.mbarrier.try_wait.parity.shared.b64(where, parity, into=passed)
        tries.while_(~passed)


def lower_arrive(context: Context, node: Arrive) -> None:
    """One thread of each warp or warpgroup arrives; at several blocks one for each of them. That of a warp vouches for
    what its lanes have read each by itself: it waits for them. Products of a warpgroup are done for all when they are.

    Other blocks are told that products have read a tile, which they have when their group is complete: no generic
    access has to be seen there, so the arrival releases to its own block only. To the whole cluster it would be a
    barrier of memory as wide as the device in every step (MEMBAR.ALL.GPU, ptxas 12.9).
    """
    ring, rank = ring_of(context.program, node.ring), context.resolved(node.rank)
    slot = slot_of(context, ring.depth, rank)
    if node.to and node.by is Arriving.WARP:
        text = (
            "other blocks are told of what warpgroups have read; of generic reads they would have to be told by a fence"
        )
        raise UnsupportedError(f"arrive at empty of {node.ring} from each warp: {text}")
    if node.to:
        far = far_barriers(context, node)
        there = barrier_at(context, ring, Side.EMPTY, slot, far.start)
        with context.k.guard(far.tells):
            context.k.mbarrier.arrive.shared__cluster.b64(there)
        return
    where = barrier_at(context, ring, Side.EMPTY, slot)
    mask = LANES if node.by is Arriving.WARP else GROUP_LANES
    if node.by is Arriving.WARP:
        context.k.bar.warp.sync(ALL_LANES)
    chosen = first_replica(context, mask)
    with context.k.guard(chosen):
        context.k.mbarrier.arrive.shared.b64(where, into=context.k.register(b64))


def lower_expect(context: Context, node: Expect) -> None:
    """The thread announces the bytes and arrives."""
    ring, rank = ring_of(context.program, node.ring), context.resolved(node.rank)
    where = barrier_at(context, ring, Side.FULL, slot_of(context, ring.depth, rank))
    context.k.mbarrier.arrive.expect_tx.shared.b64(where, node.byte_count)
