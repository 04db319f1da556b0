"""What is derived, changed in one place in every way that the design names: an atom deleted, moved, or with another
count, parity, pending number, shift or fence."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, frozen

from isa.mechanisms import GroupKind, IssuedBy
from polyhedral import Constraint
from ptxgen.derive import Derivation
from ptxgen.derive.clusters import entered
from ptxgen.derive.counting import counting
from ptxgen.derive.declarations import rings_of
from ptxgen.derive.derivation import role_names, roles_of
from ptxgen.derive.items import walking
from ptxgen.derive.part import Part, context, threads_of
from ptxgen.derive.scanning import scan_program
from ptxgen.derive.space import IndexSpace
from ptxgen.order.atoms import (
    Acquire,
    Advance,
    Arrive,
    Expect,
    Fence,
    FenceKind,
    PassTurn,
    Release,
    Retire,
    TakeTurn,
    Wait,
)
from ptxgen.order.ops import Op
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.prove.proof import check_meetings
from ptxgen.tile import Program, When
from ptxgen.tile.trees import flattened

BYTES = 16


@frozen
class Change:
    """What was changed, how, and what came of it."""

    how: str
    what: str
    result: Synchronised

    def __str__(self) -> str:
        return f"{self.what} {self.how}"


def judged(derivation: Derivation, result: Synchronised, number: int = 0) -> tuple[str, ...]:
    """What the checker of atoms finds where they are these in a part of a derivation."""
    threads = threads_of(IndexSpace(derivation.plan))
    return check_meetings(result, derivation.parts[number].requirements, needless=False, threads=threads).codes


def changes(synchronised: Synchronised) -> Iterator[Change]:
    """Every change of every atom, of every ring's count, and of what all threads do first."""
    for number, atom in enumerate(synchronised.atoms):
        what = f"{number} {atom.atom} of {atom.role}{' in the tail' if atom.tail else ''}"
        yield Change("deleted", what, _instead(synchronised, atom, None))
        for other in _altered(atom):
            yield Change(other[0], what, _instead(synchronised, atom, other[1]))
        for how, result in _moved(synchronised, atom):
            yield Change(how, what, result)
    for place, ring in enumerate(synchronised.rings):
        for by in (-1, 1):
            counts = tuple(count + by for count in ring.counts_by_rank)
            miscounted = evolve(ring, empty_count=ring.empty_count + by, counts_by_rank=counts)
            rings = (*synchronised.rings[:place], miscounted, *synchronised.rings[place + 1 :])
            yield Change(f"count {by:+}", f"ring {ring.name}", evolve(synchronised, rings=rings))
    for place, entering in enumerate(synchronised.enter):
        rest = synchronised.enter[:place] + synchronised.enter[place + 1 :]
        yield Change("deleted", f"first: {entering}", evolve(synchronised, enter=rest))


def _instead(synchronised: Synchronised, atom: Synchronisation, other: Synchronisation | None) -> Synchronised:
    kept = (other if found is atom else found for found in synchronised.atoms)
    return evolve(synchronised, atoms=tuple(found for found in kept if found is not None))


def _altered(atom: Synchronisation) -> Iterator[tuple[str, Synchronisation]]:
    """The atom with another number in it, or at another step."""
    for by in (-1, 1):
        match atom.atom:
            case Wait() | Arrive() | Expect() | TakeTurn() | PassTurn():
                yield f"parity: tile {by:+}", evolve(atom, rank=atom.rank + by)
            case Acquire() | Release():
                yield f"flag {by:+}", evolve(atom, rank=atom.rank + by)
            case Retire(pending=pending) if pending + by >= 0:
                yield f"pending {by:+}", evolve(atom, atom=evolve(atom.atom, pending=pending + by))
            case Advance(by=step):
                moved = evolve(step, affine=step.affine + by * step.divisor)
                yield f"count {by:+}", evolve(atom, atom=evolve(atom.atom, by=moved))
            case _:
                pass
        if atom.time.loops and not atom.tail and not isinstance(atom.atom, Advance):
            ahead = (*atom.time.ahead[:-1], atom.time.ahead[-1] + by)
            yield f"shift {by:+}", evolve(atom, time=evolve(atom.time, ahead=ahead))
        if isinstance(atom.atom, Expect):
            count = atom.atom.byte_count + by * BYTES
            yield f"count {by * BYTES:+}", evolve(atom, atom=evolve(atom.atom, byte_count=count))
    yield from _otherwise(atom)


def _otherwise(atom: Synchronisation) -> Iterator[tuple[str, Synchronisation]]:
    """The atom of another kind: who arrives, what is fenced, what is waited for."""
    match atom.atom:
        case Arrive(by=by):
            other = IssuedBy.ELECTED if by is IssuedBy.WARP else IssuedBy.WARP
            yield f"count: by {other.value}", evolve(atom, atom=evolve(atom.atom, by=other))
            if atom.atom.to:
                yield "to its own block alone", evolve(atom, atom=evolve(atom.atom, to=()))
        case Fence(kind=kind):
            other_kind = FenceKind.PROXY if kind is FenceKind.REGISTER else FenceKind.REGISTER
            yield f"fence: {other_kind.value}", evolve(atom, atom=Fence(other_kind))
        case Retire(kind=GroupKind.BULK, reads_only=reads):
            yield (
                "fence: reads" if not reads else "fence: all",
                evolve(atom, atom=evolve(atom.atom, reads_only=not reads)),
            )
        case _:
            pass


def _moved(synchronised: Synchronised, atom: Synchronisation) -> Iterator[tuple[str, Synchronised]]:
    """The atom before the item before it, and behind the one behind it, in its body."""
    depth = len(atom.time.place) - 1 - int(atom.tail)
    around = (atom.role, atom.time.loops[:depth], atom.time.place[:depth])
    everything: list[Op | Synchronisation] = [*synchronised.ops, *synchronised.atoms]
    places = sorted({i.time.place[depth] for i in everything if _in(i, around, depth)})
    here = places.index(atom.time.place[depth])
    for how, there in (("moved up", here - 1), ("moved down", here + 1)):
        if 0 <= there < len(places):
            yield how, _swapped(synchronised, around, depth, places[here], places[there])


Around = tuple[str, tuple[str, ...], tuple[int, ...]]


def _in(item: Op | Synchronisation, around: Around, depth: int) -> bool:
    return len(item.time.place) > depth and (item.role, item.time.loops[:depth], item.time.place[:depth]) == around


def _swapped(synchronised: Synchronised, around: Around, depth: int, first: int, second: int) -> Synchronised:
    other = {first: second, second: first}

    def placed(place: tuple[int, ...]) -> tuple[int, ...]:
        return (*place[:depth], other.get(place[depth], place[depth]), *place[depth + 1 :])

    ops = tuple(
        evolve(op, time=evolve(op.time, place=placed(op.time.place))) if _in(op, around, depth) else op
        for op in synchronised.ops
    )
    atoms = tuple(
        evolve(a, time=evolve(a.time, place=placed(a.time.place))) if _in(a, around, depth) else a
        for a in synchronised.atoms
    )
    return evolve(synchronised, ops=ops, atoms=atoms)


def program_with(derivation: Derivation, number: int, synchronised: Synchronised) -> Program:
    """The tile program in which one part has other atoms."""
    space = IndexSpace(derivation.plan)
    part: Part = evolve(derivation.parts[number], synchronised=synchronised)
    bodies = {role: scan_program(synchronised, role, context(space)) for role in part.bodies}
    if space.persistent is not None:
        bodies = {role: walking(body) for role, body in bodies.items()}
    bodies = {role: counting(body, synchronised, role) for role, body in bodies.items()}
    parts = [evolve(part, bodies=bodies) if place == number else own for place, own in enumerate(derivation.parts)]
    full: tuple[Constraint, ...] = ()
    first = derivation.program.roles[0].body
    if isinstance(first, When) and len(parts) == 2:
        full = first.conditions
    roles = [own for name in role_names(part, space) for own in roles_of(space, name, parts, full)]
    roles = [evolve(role, body=flattened(role.body)) for role in roles]
    rings = tuple(rings_of(part)) or derivation.program.rings
    return evolve(derivation.program, roles=tuple(roles), rings=rings, enter=entered([part]))
