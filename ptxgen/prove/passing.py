"""Tiles of a workspace that blocks pass on: nobody waits for a block that does not tell, or that waits for
it in turn, and flags are at the end what they were at the launch."""

from __future__ import annotations

from collections.abc import Iterator

from polyhedral import Affine, Set, const, var
from ptxgen.errors import Finding
from ptxgen.order.atoms import Acquire, Release
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.prove.constants import finding
from ptxgen.prove.streaming import shared_faults, streaming_faults
from ptxgen.prove.tickets import ticket_faults
from ptxgen.tile import Program

Passing = tuple[list[Synchronisation], list[Synchronisation], list[Synchronisation]]


def mispassed(synchronised: Synchronised) -> Iterator[Finding]:
    """Each workspace by itself (code `synchronisation.passing`)."""
    names: dict[str, Passing] = {}
    for found in synchronised.atoms:
        if isinstance(found.atom, Acquire | Release):
            takes, passes, last = names.setdefault(found.atom.workspace, ([], [], []))
            kind = takes if isinstance(found.atom, Acquire) else last if found.atom.last else passes
            kind.append(found)
    for name, own in names.items():
        once = any(isinstance(a.atom, Acquire | Release) and a.atom.once for found in own for a in found)
        faults = streaming_faults(synchronised, name, *own) if once else _faults(*own)
        yield from (finding("passing", f"workspace {name}: {text}") for text in faults)


def _faults(takes: list[Synchronisation], passes: list[Synchronisation], last: list[Synchronisation]) -> Iterator[str]:
    """What is wrong with who acquires, who releases, and who puts the flag back, each at most once in a block."""
    if max(map(len, (takes, passes, last))) > 1 or any(a.time.loops for a in (*takes, *passes, *last)):
        yield "a block passes its tile on more than once"
        return
    taken, passed, ended = (found[0].domain if found else Set.empty(()) for found in (takes, passes, last))
    part = _part(takes, passes)
    if part is None:
        yield "a tile is acquired or released by another number than that of the part"
        return
    if any(atom.rank != const(0) for atom in last):
        yield "the flag is not put back to what it was at the launch"
    before = Set((), tuple(piece.substitute({part: var(part) + 1}) for piece in taken.pieces))
    if not (before - passed).is_empty():
        yield "a block waits for the part before, which does not release the tile"
    if not (passed - before).is_empty():
        yield "a block releases the tile for the part behind, which does not acquire it"
    if not ended.equals(taken - passed):
        yield "the flag is not put back by the one block that acquires the tile and does not release it"
    if any(put.role != take.role or put.time.place < take.time.place for put in last for take in takes):
        yield "the flag is put back before the tile is acquired, which may then wait for ever"


def _part(takes: list[Synchronisation], passes: list[Synchronisation]) -> str | None:
    """The variable of the part, where a block acquires the tile at its number and releases it at the next one."""
    numbers: list[Affine] = [*(atom.rank for atom in takes), *(atom.rank - 1 for atom in passes)]
    names = {name for number in numbers for name in number.names}
    same = len(names) == 1 and all(number == var(next(iter(names))) for number in numbers)
    return names.pop() if same else None


def order_faults(program: Program) -> Iterator[Finding]:
    """A block that waits for another one has a higher number, so that no blocks wait for each other in a circle.

    CUDA promises no order in which blocks begin. That whoever is waited for has begun follows where numbers are tickets
    (`tickets.py`); else it is the launch's to guarantee: all blocks of such a grid run at once, by a cooperative
    launch, or the launch is refused."""
    yield from ticket_faults(program)
    parts = program.grid.parts
    if program.grid.work_list is not None and parts == 1:
        yield from (finding("passing", text) for text in shared_faults(program))
        return
    if bool(program.workspaces) != (parts > 1):
        yield finding("passing", f"{len(program.workspaces)} workspaces, and {parts} parts of each tile of the grid")
    elif parts > 1 and (
        program.grid.dims[0].count.divisor != 1 or program.grid.dims[0].count.numerator != const(parts)
    ):
        yield finding("passing", f"the first tile index of the grid does not number {parts} parts")
    if parts > 1 and program.grid.work_list is not None:
        yield finding("passing", "blocks that stay take tiles in another order than that of their numbers")
