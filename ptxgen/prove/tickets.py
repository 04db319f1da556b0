"""Blocks that take their numbers as they begin, from a counter in memory.

Who takes ticket n does so behind those who took the tickets before it: their blocks run already, and what runs goes on
to its end where it waits for nobody, or for lower numbers alone. So by induction over the numbers nobody waits for
ever, however few blocks run at once and whatever else runs. That blocks wait for lower numbers alone is judged where
tiles are passed on (`passing.py`, `streaming.py`, `trees/flags.py`); what remains is the counter.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding
from ptxgen.prove.constants import finding
from ptxgen.tile import Acquire, Program, Release, Space, Workspace
from ptxgen.tile.trees import ends_of

TICKET_BYTES = 4


def ticket_faults(program: Program) -> Iterator[Finding]:
    """Tickets of no counter, of one that something else touches too, of blocks that are in clusters or wait for nobody;
    and memory of a launch that no block takes a ticket from (code `synchronisation.tickets`)."""
    name = program.grid.tickets
    counters = {each.name: each for each in program.workspaces if each.single}
    for other in counters:
        if other != name:
            yield finding("tickets", f"no block takes tickets from {other}")
    if name:
        yield from (finding("tickets", text) for text in _faults(program, name, counters.get(name)))


def _faults(program: Program, name: str, counter: Workspace | None) -> Iterator[str]:
    if counter is None:
        yield f"no workspace of the launch is called {name}, from which blocks take tickets"
    elif not _counts(counter):
        before = "zero" if counter.zeroed else "anything"
        yield f"{name} holds {counter.elements} of {counter.element}, {before} at the launch: wanted one s32, zero then"
    if program.grid.cluster > 1:
        yield f"{program.grid.cluster} blocks of a cluster have their numbers together, a ticket is one block's"
    if len(program.workspaces) == (counter is not None):
        yield f"blocks that wait for no other take tickets from {name}"
    flags = (n.flags for role in program.roles for n in ends_of(role.body) if isinstance(n, Acquire | Release))
    arrays = (buffer.array for buffer in program.buffers if buffer.space is Space.GLOBAL)
    if name in {*flags, *arrays}:
        yield f"{name}, from which blocks take tickets, is used for something else too"


def _counts(counter: Workspace) -> bool:
    whole = counter.element.is_integer and counter.element.byte_count == TICKET_BYTES
    return whole and counter.elements == 1 and counter.zeroed
