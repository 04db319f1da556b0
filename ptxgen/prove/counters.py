"""Numbers of tiles: atoms of a ring act for the tiles that its ops use, and counters that go on from round to round are
moved on by what a round uses."""

from __future__ import annotations

from collections.abc import Iterator

from polyhedral import Affine, Set, System, var
from ptxgen.errors import Finding, Severity
from ptxgen.order.atoms import Advance, Arrive, Expect, Wait
from ptxgen.order.ops import Op
from ptxgen.order.synchronisation import Synchronisation, Synchronised

_Use = tuple[tuple[str, ...], Affine, int, str]


def miscounted(synchronised: Synchronised) -> Iterator[Finding]:
    """Counters of which tile numbers would not follow each other from round to round (code `synchronisation.counter`):
    all roles must use the ring in the same loops in one order; behind each of them, and before the next one, a role
    advances the counter once, wherever the loop is run, by as many tiles as every use of the loop has."""
    counters: dict[str, dict[str, list[Op]]] = {}
    for op in synchronised.ops:
        for counter in {touch.counter for touch in op.touches if touch.counter}:
            counters.setdefault(counter, {}).setdefault(op.role, []).append(op)
    for counter, by_role in counters.items():
        orders = {role: [loops for loops, _ in _rounds(users)] for role, users in by_role.items()}
        if any(order != next(iter(orders.values())) for order in orders.values()):
            yield _finding(", ".join(orders), counter, "is used in other loops, or in another order, by each of them")
        for role, users in by_role.items():
            waits = [atom for atom in synchronised.atoms if atom.role == role and counter in atom.rank.names]
            own = [a for a in synchronised.atoms if a.role == role and _counts(a, counter)]
            yield from (_finding(role, counter, text) for text in _wrong(users, waits, own))


def _rounds(users: list[Op]) -> list[tuple[tuple[str, ...], list[Op]]]:
    """The loops that use a ring, each with its ops, in the order in which a role comes to them."""
    found: dict[tuple[str, ...], list[Op]] = {}
    for op in sorted(users, key=lambda op: op.time.place):
        found.setdefault(op.time.loops, []).append(op)
    return list(found.items())


def misnumbered(synchronised: Synchronised) -> Iterator[Finding]:
    """Atoms of a ring for another tile than the ring's ops use at the same index; a wait behind a loop may be for the
    tile that would next have the slot, behind all items for those that would next have the slots of the last tiles that
    the counter tells of (code `synchronisation.rank`)."""
    uses: dict[str, dict[_Use, None]] = {}
    for op in synchronised.ops:
        for touch in op.touches:
            uses.setdefault(touch.buffer.name, {})[op.time.loops, touch.rank, touch.buffer.depth, touch.counter] = None
    for atom in synchronised.atoms:
        if isinstance(atom.atom, Wait | Arrive | Expect):
            everywhere = {use: None for covered in atom.covers for use in uses.get(covered.buffer, {})}
            here = [use for use in everywhere if use[0] == atom.time.loops and not _leaves(atom)]
            for use in here or everywhere:
                if atom.rank not in _ranks(atom, use):
                    rank = use[1]
                    text = f"{atom.atom} by {atom.role} is for tile {atom.rank}, the ring's ops use tile {rank}"
                    yield Finding("synchronisation.rank", Severity.ERROR, text)


def _ranks(atom: Synchronisation, use: _Use) -> tuple[Affine, ...]:
    """The tiles that an atom may be for, where ops use that one. Behind all items only a counter tells of the last."""
    loops, rank, depth, counter = use
    if not (atom.tail and isinstance(atom.atom, Wait)):
        return (rank,)
    if not _leaves(atom):
        return (rank, rank + depth)
    last = rank.substitute(dict.fromkeys(loops[-1:], -1))
    return tuple(last + slot for slot in range(1, depth + 1)) if counter else ()


def _leaves(atom: Synchronisation) -> bool:
    """Whether an atom stands behind all items, and so in no loop."""
    return atom.tail and not atom.time.loops


def _counts(atom: Synchronisation, counter: str) -> bool:
    return isinstance(atom.atom, Advance) and atom.atom.counter == counter


def _wrong(users: list[Op], waits: list[Synchronisation], own: list[Synchronisation]) -> Iterator[str]:
    rounds = _rounds(users)
    wanted = [(loops, ops) for loops, ops in rounds if len(loops) > 1 or loops != rounds[-1][0]]
    if len(own) != len(wanted):
        yield f"is advanced {len(own)} times, once behind each of {len(wanted)} loops with a round behind it is wanted"
        return
    advances = sorted(own, key=lambda atom: atom.time.place)
    for number, ((loops, ops), advance) in enumerate(zip(wanted, advances, strict=True)):
        everything: list[Op | Synchronisation] = [*ops, *(atom for atom in waits if atom.time.loops == loops)]
        later = [op for _, others in rounds[number + 1 :] for op in others]
        yield from misplaced(loops, everything, later, advance)
        yield from (text for op in ops for text in uneven_steps(op.domain, str(op), advance))
    leaving = [wait for wait in waits if _leaves(wait)]
    for wait in leaving:
        if len(wanted) < len(rounds) or any(wait.time.place[0] <= advance.time.place[0] for advance in advances):
            yield f"is asked for by {wait} before all items are counted"
    strays = [a for a in waits if a not in leaving and all(a.time.loops != loops for loops, _ in rounds)]
    yield from (f"numbers a tile for {atom}, in a loop without the ring" for atom in strays)


def misplaced(
    loops: tuple[str, ...], uses: list[Op | Synchronisation], later: list[Op], advance: Synchronisation
) -> Iterator[str]:
    """An advance that does not stand in the body around its loop, behind all uses there and before those of the next
    loop."""
    depth, behind = len(loops) - 1, advance.time.place
    for use in uses:
        if use.time.place[:depth] != behind[:depth] or advance.time.loops != loops[:-1] or len(behind) != depth + 1:
            yield f"is advanced elsewhere than in the body around {use}"
        elif use.time.place[depth] >= behind[depth]:
            yield f"is advanced before {use} of the same round"
    yield from (f"is advanced behind {use} of the next loop" for use in later if use.time.place < behind)


def uneven_steps(domain: Set, what: str, advance: Synchronisation) -> Iterator[str]:
    """An advance that goes on by another number than `domain`, of what runs in a loop, has steps, or not wherever the
    loop is run."""
    atom, loop = advance.atom, domain.dims[-1]
    assert isinstance(atom, Advance)
    around = tuple(piece.split_on(loop)[1] for piece in domain.pieces)
    outer = Set(domain.dims[:-1], around)
    if advance.domain.dims != outer.dims or not advance.domain.equals(outer):
        yield f"is not advanced wherever {what} is run"
    steps = System.of(var(loop) >= 0, (var(loop) + 1) * atom.by.divisor <= atom.by.affine)
    if not Set(domain.dims, tuple(piece & steps for piece in around)).equals(domain):
        yield f"goes on by {atom.by}, which is not how often {what} runs in a round"


def _finding(role: str, counter: str, text: str) -> Finding:
    return Finding("synchronisation.counter", Severity.ERROR, f"the counter {counter} of {role} {text}")
