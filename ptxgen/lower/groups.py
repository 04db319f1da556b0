"""Closing groups of asynchronous operations, and waiting for them. Those of stores in bulk are the first thread's."""

from __future__ import annotations

from isa.mechanisms import GroupKind
from ptxgen.build import Value
from ptxgen.lower.bases import first_replica
from ptxgen.lower.context import Context
from ptxgen.tile import LANE_BITS, coordinate_bits


def lower_commit(context: Context, kind: GroupKind) -> None:
    """Closes the lane's group (PTX ISA, cp.async.commit_group, cp.async.bulk.commit_group, wgmma.commit_group)."""
    match kind:
        case GroupKind.CP_ASYNC:
            context.k.cp.async_.commit_group()
        case GroupKind.BULK:
            with context.k.guard(first_thread(context)):
                context.k.cp.async_.bulk.commit_group()
        case GroupKind.WGMMA:
            context.k.wgmma.commit_group.sync.aligned()


def first_thread(context: Context) -> Value:
    """Whether a thread is the first one of its role."""
    return first_replica(context, (1 << LANE_BITS + coordinate_bits(context.threads.warps)) - 1)


def lower_retire(context: Context, kind: GroupKind, pending: int, *, reads_only: bool) -> None:
    """Waits until at most `pending` groups are incomplete, or have not read their sources (PTX ISA, the wait_group of
    each kind)."""
    match kind:
        case GroupKind.CP_ASYNC:
            context.k.cp.async_.wait_group(pending)
        case GroupKind.BULK:
            wait = context.k.function(f"cp.async.bulk.wait_group{'.read' if reads_only else ''}")
            with context.k.guard(first_thread(context)):
                wait(pending)
        case GroupKind.WGMMA:
            context.k.wgmma.wait_group.sync.aligned(pending)
