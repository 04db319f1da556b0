"""Blocks of a cluster: barriers in other blocks' shared memory, and what is looked up by rank before a role's loops."""

from __future__ import annotations

from attrs import frozen

from ptxgen.build import Value
from ptxgen.lower.bases import pool_start
from ptxgen.lower.context import Context
from ptxgen.lower.ranks import by_rank
from ptxgen.tile import LANE_BITS, Arrive, Arriving, Carrier, Copy, Node
from ptxgen.tile.trees import ends_of

LANES = (1 << LANE_BITS) - 1
GROUP_LANES = (4 << LANE_BITS) - 1


@frozen
class FarBarriers:
    """Where arrivals at other blocks' barriers go: `start` is the pool of the block that this thread tells, `tells`
    whether it tells one."""

    start: Value
    tells: Value


def far_barriers(context: Context, node: Arrive) -> FarBarriers:
    """For an arrival at several blocks: thread number r of each arriving unit tells the block of rank r, so that all of
    them are told by one instruction."""

    def prepare() -> FarBarriers:
        k, size = context.k, len(node.to)
        lane = k.and_.b32(context.thread_number(), LANES if node.by is Arriving.WARP else GROUP_LANES)
        mask = by_rank(context, node.to)
        asked = k.shr.u32(k.mov.u32(mask) if isinstance(mask, int) else mask, lane)
        tells = k.setp.ne.s32(k.and_.b32(asked, 1), 0)
        start = k.mapa.shared__cluster.u32(pool_start(context), k.min.u32(lane, size - 1))
        return FarBarriers(start, tells)

    return context.once(("far barriers", node.to, node.by), prepare)


def prepare_clusters(context: Context, body: Node) -> None:
    """Computes before a role's loops what depends on the rank alone."""
    for node in ends_of(body):
        match node:
            case Arrive(to=masks) if masks:
                far_barriers(context, node)
            case Copy(carrier=Carrier.TENSOR, masks=masks) if masks:
                by_rank(context, masks)
            case _:
                pass
