"""The number of a block: that of the launch, or the ticket that it takes as it begins."""

from __future__ import annotations

from isa.forms import resolve
from isa.targets import target
from ptxgen.build import Value
from ptxgen.lower.bases import pointer, pool_start
from ptxgen.lower.context import Context

FENCE = "fence.proxy.async.shared::cta"


def take_ticket(context: Context) -> Value:
    """One thread takes the next number for its block from the counter in memory, which the last one sets to 0 again as
    it takes its own (PTX ISA, atom.inc), and tells all threads of the block; copies and products that read shared
    memory asynchronously come behind that too."""
    k, place = context.k, context.pool.ticket
    assert place is not None
    where = pool_start(context) + place
    with k.when(k.setp.eq.u32(k.tid.x, 0)), context.frame():
        last = k.sub.u32(k.nctaid.x, 1)
        taken = k.atom.relaxed.gpu.global_.inc.u32(pointer(context, context.program.grid.tickets), last)
        k.st.shared.u32(where, taken)
        if resolve(FENCE).availability.least_version(target(context.program.target)) is not None:
            k.function(FENCE)()
    k.bar.sync(0)
    number: Value = k.ld.shared.u32(where)
    return number


def block_number(context: Context) -> Value:
    """The block's number, that of its cluster where it is in one."""
    k, grid = context.k, context.program.grid
    if context.ticket is not None:
        return context.ticket
    number: Value = k.ctaid.x if grid.cluster == 1 else k.clusterid.x
    return number
