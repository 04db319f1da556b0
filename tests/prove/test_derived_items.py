"""What is derived for blocks that stay, changed where items end and begin: the proof refuses each change. The changes
of single numbers are in `test_every_atom.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from attrs import evolve, frozen

from polyhedral import Affine, Set, var
from ptxgen.derive import derive
from ptxgen.derive.part import Part
from ptxgen.order.atoms import Advance, Arrive, Expect, Wait
from ptxgen.order.ops import Op
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.order.threads import Threads
from ptxgen.plan import Plan
from ptxgen.prove.checker import Verdict
from ptxgen.prove.proof import check_meetings
from ptxgen.prove.windows import escaping
from tests.derive.computes import ampere, transpose
from tests.derive.test_persistent_programs import persisted, small_hopper

THREADS = {"math": Threads(1, 128), "load": Threads(1, 1)}


def proved(part: Part, synchronised: Synchronised) -> Verdict:
    return check_meetings(synchronised, part.requirements, threads=THREADS)


@frozen
class Change:
    """An atom and what stands in its place: nothing, or another one."""

    name: str
    atom: Synchronisation
    instead: Synchronisation | None

    def of(self, synchronised: Synchronised) -> Synchronised:
        kept = (self.instead if atom is self.atom else atom for atom in synchronised.atoms)
        return evolve(synchronised, atoms=tuple(atom for atom in kept if atom is not None))


def changes(atom: Synchronisation, number: int) -> Iterator[Change]:
    what = f"{number} {atom.atom.__class__.__name__}{' in the tail' if atom.tail else ''}"
    yield Change(f"{what} at no item but the first", atom, evolve(atom, domain=atom.domain.intersect(var("item") < 1)))
    match atom.atom:
        case Wait() | Expect() | Arrive():
            for name, rank in other_ranks(atom):
                yield Change(f"{what} for {name}", atom, evolve(atom, rank=rank))
            yield Change(f"{what} at one step less", atom, evolve(atom, domain=without_first(atom.domain)))
        case Advance(by=by):
            moved = evolve(atom.atom, by=evolve(by, affine=by.affine + 1))
            yield Change(f"{what} by {moved.by}", atom, evolve(atom, atom=moved))
            first = evolve(atom.time, place=(atom.time.place[0], -1))
            yield Change(f"{what} before the loop", atom, evolve(atom, time=first))
            yield Change(f"{what} of another number", atom, evolve(atom, atom=evolve(atom.atom, counter="other")))
        case _:
            pass


def other_ranks(atom: Synchronisation) -> Iterator[tuple[str, Affine]]:
    yield "the item's own tile", var("cta.k")
    yield "another counter", atom.rank + var("item")


def without_first(domain: Set) -> Set:
    return domain.intersect(var("cta.k") >= 1) if "cta.k" in domain.dims else domain.intersect(var("item") >= 1)


HOPPER = derive(persisted(small_hopper())).parts[0]
CHANGES = [
    change
    for number, atom in enumerate(HOPPER.synchronised.atoms)
    for change in changes(atom, number)
    if change.instead is None or change.instead.domain != atom.domain or change.instead != atom
]


def test_what_is_derived_is_proved() -> None:
    assert proved(HOPPER, HOPPER.synchronised).accepted


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_each_change_is_refused(change: Change) -> None:
    assert not proved(HOPPER, change.of(HOPPER.synchronised)).accepted


@pytest.mark.parametrize("make", [lambda: ampere(tile=(64, 64, 32)), transpose], ids=["ampere", "transpose"])
def test_each_atom_without_roles_is_refused_where_it_is_missing(make: Callable[[], Plan]) -> None:
    part = derive(persisted(make())).parts[0]
    between = [a for a in part.synchronised.atoms if a.time.loops == ("item",)]
    assert between
    for atom in part.synchronised.atoms:
        missing = Change("missing", atom, None).of(part.synchronised)
        assert not proved(part, missing).accepted, atom


def moved(op: Op, place: tuple[int, ...]) -> Op:
    return evolve(op, time=evolve(op.time, place=place))


def test_products_in_flight_over_the_end_of_a_loop_whose_sums_others_use() -> None:
    """The map that finishes an item is moved into the loop of the slabs, behind a wait: ptxas would wait everywhere."""
    synchronised = HOPPER.synchronised
    product = next(op for op in synchronised.ops if op.name == "C")
    finish = next(op for op in synchronised.ops if op.name == "D")
    inside = evolve(finish, domain=product.domain, time=evolve(product.time, place=(*product.time.place[:-1], -1)))
    ops = tuple(inside if op is finish else op for op in synchronised.ops)
    (found,) = escaping(evolve(synchronised, ops=ops))
    assert found.code == "synchronisation.window"
    assert "C may be in flight over the end of cta.k, where D uses its sums" in str(found)
    closed = derive(persisted(small_hopper(3, 0))).parts[0].synchronised
    product = next(op for op in closed.ops if op.name == "C")
    inside = evolve(finish, domain=product.domain, time=evolve(product.time, place=(*product.time.place[:-1], 99)))
    ops = tuple(inside if op.name == "D" else op for op in closed.ops)
    assert not list(escaping(evolve(closed, ops=ops)))
    assert not list(escaping(synchronised))


def test_a_ring_goes_on_where_a_buffer_of_one_role_starts_anew() -> None:
    def counters(part: Part) -> set[tuple[str, str, int]]:
        touched = {(t.buffer.name, t.counter, len(op.time.loops)) for op in part.ops for t in op.touches}
        return {each for each in touched if each[0].endswith(".shared")}

    assert counters(HOPPER) == {("A.shared", "cta.k.past", 2), ("B.shared", "cta.k.past", 2)}
    assert counters(derive(persisted(ampere(tile=(64, 64, 32)))).parts[0]) == {("A.shared", "", 2), ("B.shared", "", 2)}
    distances = {(str(r.kind.value), r.loops, r.distance, r.counter) for r in HOPPER.requirements if not r.own}
    loops = ("item", "cta.k")
    assert distances == {
        ("flow", loops, 0, "cta.k.past"),
        ("reuse", loops, 3, "cta.k.past"),
        ("rewrite", loops, 3, "cta.k.past"),
    }
