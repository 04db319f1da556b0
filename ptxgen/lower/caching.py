"""What caches are told: policies of tensor copies, and maps that are fetched before anybody asks for them."""

from __future__ import annotations

from ptxgen.build import Value
from ptxgen.lower.boxes import map_address, policy
from ptxgen.lower.context import Context
from ptxgen.lower.trees import ends_of
from ptxgen.tile import Copy, Node


def prepare_policies(context: Context, body: Node) -> None:
    """Makes before a role's loops the policies that its copies name."""
    for node in ends_of(body):
        match node:
            case Copy(eviction=eviction) if eviction is not None:
                policy(context, eviction)
            case _:
                pass


def fetch_maps(context: Context) -> None:
    """One thread has the maps that come early fetched (PTX ISA, prefetch.tensormap)."""
    early = [box for box in context.program.boxes if box.early]
    if not early:
        return
    chosen: Value = context.k.setp.eq.u32(context.k.tid.x, 0)
    with context.k.when(chosen), context.frame():
        for box in early:
            context.k.prefetch.tensormap(map_address(context, box))
