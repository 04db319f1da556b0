"""Numbers of tiles: atoms of a ring act for the tiles that its ops use, and counters that go on across the items of a
work list are moved on by what an item uses."""

from __future__ import annotations

from collections.abc import Iterator

from polyhedral import Affine, Set, System, var
from ptxgen.errors import Finding, Severity
from ptxgen.order.atoms import Advance, Arrive, Expect, Wait
from ptxgen.order.ops import Op
from ptxgen.order.synchronisation import Synchronisation, Synchronised


def miscounted(synchronised: Synchronised) -> Iterator[Finding]:
    """Counters of which tile numbers would not follow each other from item to item: in each role that uses one, one
    advance must stand behind all uses of it in the body of the items, at every item, and go on by as many tiles as
    every use of the item has (code `synchronisation.counter`)."""
    counters = {(op.role, touch.counter): None for op in synchronised.ops for touch in op.touches if touch.counter}
    for role, counter in counters:
        users = [op for op in synchronised.ops if op.role == role and any(t.counter == counter for t in op.touches)]
        waits = [atom for atom in synchronised.atoms if atom.role == role and counter in atom.rank.names]
        own = [a for a in synchronised.atoms if a.role == role and _counts(a, counter)]
        yield from (_finding(role, counter, text) for text in _wrong(users, waits, own))


def misnumbered(synchronised: Synchronised) -> Iterator[Finding]:
    """Atoms of a ring for another tile than the ring's ops use at the same index; a wait behind a loop may be for the
    tile that would next have the slot, behind all items for those that would next have the slots of the last tiles that
    the counter tells of (code `synchronisation.rank`)."""
    uses: dict[str, dict[tuple[Affine, str, int], None]] = {}
    for op in synchronised.ops:
        for touch in op.touches:
            loop = op.time.loops[-1] if op.time.loops else ""
            uses.setdefault(touch.buffer.name, {})[touch.rank, loop, touch.buffer.depth] = None
    for atom in synchronised.atoms:
        if isinstance(atom.atom, Wait | Arrive | Expect):
            for rank, loop, depth in {use: None for covered in atom.covers for use in uses.get(covered.buffer, {})}:
                if atom.rank not in _ranks(atom, rank, loop, depth):
                    text = f"{atom.atom} by {atom.role} is for tile {atom.rank}, the ring's ops use tile {rank}"
                    yield Finding("synchronisation.rank", Severity.ERROR, text)


def _ranks(atom: Synchronisation, rank: Affine, loop: str, depth: int) -> tuple[Affine, ...]:
    """The tiles that an atom may be for, where ops use tile `rank`."""
    if not (atom.tail and isinstance(atom.atom, Wait)):
        return (rank,)
    last = rank.substitute({loop: -1})
    return (rank, rank + depth) if atom.time.loops else tuple(last + slot for slot in range(1, depth + 1))


def _counts(atom: Synchronisation, counter: str) -> bool:
    return isinstance(atom.atom, Advance) and atom.atom.counter == counter


def _wrong(users: list[Op], waits: list[Synchronisation], own: list[Synchronisation]) -> Iterator[str]:
    if len(own) != 1:
        yield f"is advanced {len(own)} times in the body of an item, once is wanted"
        return
    atom = own[0].atom
    assert isinstance(atom, Advance)
    behind = own[0].time.place
    leaving = [wait for wait in waits if wait.tail and not wait.time.loops]
    for wait in leaving:
        if wait.time.place[0] <= behind[0]:
            yield f"is asked for by {wait} before all items are counted"
    everything: list[Op | Synchronisation] = [*users, *(wait for wait in waits if wait not in leaving)]
    for user in everything:
        if user.time.place[:1] != behind[:1] or user.time.loops[:1] != own[0].time.loops or len(behind) != 2:
            yield f"is advanced elsewhere than in the loop of the items around {user}"
        elif user.time.place[1] >= behind[1]:
            yield f"is advanced before {user} of the same item"
    for op in users:
        items, loop = op.time.loops[0], op.time.loops[-1]
        whole = Set((items,), tuple(piece.split_on(items)[0] for piece in op.domain.pieces))
        steps = System.of(var(loop) >= 0, (var(loop) + 1) * atom.by.divisor <= atom.by.affine)
        if not own[0].domain.equals(whole):
            yield f"is not advanced at every item of {op}"
        counted = Set(op.domain.dims, tuple(piece & steps for piece in whole.pieces))
        if len(op.time.loops) != 2 or not counted.equals(op.domain):
            yield f"goes on by {atom.by}, which is not how often {op} runs in an item"


def _finding(role: str, counter: str, text: str) -> Finding:
    return Finding("synchronisation.counter", Severity.ERROR, f"the counter {counter} of {role} {text}")
