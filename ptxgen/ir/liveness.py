"""Which registers are still wanted where."""

from __future__ import annotations

from attrs import frozen

from ptxgen.ir.access import reads, writes
from ptxgen.ir.flow import Flow, reverse_post_order
from ptxgen.ir.operands import Register


@frozen
class Liveness:
    """Registers that some path reads before it writes them: at the entry and at the end of each block, by index."""

    entering: tuple[frozenset[Register], ...]
    leaving: tuple[frozenset[Register], ...]


def liveness(flow: Flow) -> Liveness:
    """The live registers of each block. A guarded write keeps the old value alive; unreachable blocks have none."""
    used, killed = [], []
    for block in flow.blocks:
        use: set[Register] = set()
        kill: set[Register] = set()
        for instruction in flow.instructions[block.start : block.stop]:
            use.update(register for register in reads(instruction) if register not in kill)
            if instruction.guard is None:
                kill.update(writes(instruction))
        used.append(frozenset(use))
        killed.append(frozenset(kill))
    entering = [frozenset[Register]()] * len(flow.blocks)
    leaving = list(entering)
    order = reverse_post_order(flow)[::-1]
    changed = True
    while changed:
        changed = False
        for block_index in order:
            after = frozenset[Register]().union(*(entering[each] for each in flow.blocks[block_index].successors))
            before = used[block_index] | (after - killed[block_index])
            leaving[block_index] = after
            if before != entering[block_index]:
                entering[block_index] = before
                changed = True
    return Liveness(tuple(entering), tuple(leaving))
