"""Arrays in global memory that one kernel both stores and loads: only where each thread loads what it stored."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding, Severity
from ptxgen.prove.trees.accesses import accesses
from ptxgen.tile import Copy, Leaf, Map, Ordering, Program, Reduce, Space
from ptxgen.tile.trees import ends_of


def memory_faults(program: Program) -> Iterator[Finding]:
    """Loads of an array that other threads of the kernel may store to; of a workspace, see `workspaces.py`."""
    leaves = [n for role in program.roles for n in ends_of(role.body) if not isinstance(n, Ordering)]
    own = {each.name for each in program.workspaces}
    stores = [n for n in leaves if isinstance(n, Copy) and n.destination.buffer.space is Space.GLOBAL]
    stores = [store for store in stores if store.destination.buffer.array not in own]
    for store in stores:
        for other in leaves:
            touched = [a for a in accesses(other) if a.region.buffer.name == store.destination.buffer.name]
            if any(a.reads for a in touched) and not same_elements(store, other):
                text = f"{other.op} reads {store.destination.buffer.name}, which {store.op} stores in other threads"
                related = ((store.op, store.line),)
                yield Finding("synchronisation.memory", Severity.ERROR, text, other.line, related=related)


def same_elements(store: Copy, other: Leaf) -> bool:
    """Whether each element is read by the lane that stores it, as far as equal distributions and origins show."""
    if store.distribution.is_replicated:
        return False
    target = store.destination
    match other:
        case Copy(source=source, distribution=distribution):
            return source == target and distribution == store.distribution
        case Map(iteration=iteration, operands=operands) | Reduce(iteration=iteration, operands=operands):
            own = [o for o in operands if o.region.buffer.name == target.buffer.name]
            straight = tuple(range(len(iteration.dims)))
            same = all(o.dims == straight and o.region.origin == target.origin for o in own)
            return same and iteration.distribution == store.distribution
        case _:
            return False
