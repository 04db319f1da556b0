"""Closing groups of asynchronous operations, and waiting for them."""

from __future__ import annotations

from isa.mechanisms import GroupKind
from ptxgen.lower.context import Context


def lower_commit(context: Context, kind: GroupKind) -> None:
    """Closes the lane's group (PTX ISA, cp.async.commit_group, cp.async.bulk.commit_group, wgmma.commit_group)."""
    match kind:
        case GroupKind.CP_ASYNC:
            context.k.cp.async_.commit_group()
        case GroupKind.BULK:
            context.k.cp.async_.bulk.commit_group()
        case GroupKind.WGMMA:
            context.k.wgmma.commit_group.sync.aligned()


def lower_retire(context: Context, kind: GroupKind, pending: int) -> None:
    """Waits until at most `pending` groups are incomplete (PTX ISA, the wait_group of each kind)."""
    match kind:
        case GroupKind.CP_ASYNC:
            context.k.cp.async_.wait_group(pending)
        case GroupKind.BULK:
            context.k.cp.async_.bulk.wait_group(pending)
        case GroupKind.WGMMA:
            context.k.wgmma.wait_group.sync.aligned(pending)
