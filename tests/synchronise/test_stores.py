"""Pieces put into a ring and stored in the background, judged by enumerating every instance at small sizes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from attrs import evolve

from isa.mechanisms import BULK_STORE, LOAD, REGISTERS, STORE, GroupKind
from polyhedral import const, var
from ptxgen.order.atoms import Commit, Fence, FenceKind, Join, Retire
from ptxgen.order.ops import Op, Touch
from ptxgen.order.requirement import Requirement
from ptxgen.order.requirements import requirements
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.prove.proof import check_meetings
from ptxgen.synchronise.discharge import discharge
from ptxgen.tile import Space
from tests.synchronise.programs import ONCE, SLABS, buffer, in_order, op, reads, unordered, when, writes

k = var("k")
SIZES = [{"K": 32 * n} for n in (0, 1, 2, 3, 5)]


def drain(count: int, depth: int, *, looped: bool) -> tuple[Op, ...]:
    """`count` pieces a step through a ring of `depth`, and the end of the role."""
    ring, array = buffer("D.shared", Space.SHARED, depth), buffer("D", Space.GLOBAL)
    domain = SLABS if looped else ONCE
    found: list[Op] = []
    for number in range(count):
        rank = k * count + number if looped else const(number)
        found.append(op("D.shared", (0,), (writes(ring, rank),), domain, None, STORE, (number,)))
        touches = (reads(ring, rank), writes(array))
        found.append(op("D.global", (0,), touches, domain, None, BULK_STORE, (number,)))
    body = in_order(*found, prefix=(0,) if looped else ())
    last = 1 if looped else 2 * count
    return (*body, evolve(op("leave", (last,), (writes(array),), ONCE, (), REGISTERS), leaves=True))


def moments(synchronised: Synchronised, params: dict[str, int]) -> list[tuple[tuple[int, ...], Op | Synchronisation]]:
    """Everything that happens, in order."""
    depth = max(len(o.time.loops) for o in synchronised.ops)
    items: tuple[Op | Synchronisation, ...] = (*synchronised.ops, *synchronised.atoms)
    found = [
        (when(item.time, dict(zip(item.domain.dims, point, strict=True)), depth), item)
        for item in items
        for point in item.domain.points(params)
    ]
    return sorted(found, key=lambda moment: moment[0])


def wrong(synchronised: Synchronised, params: dict[str, int]) -> bool:
    """Whether a slot is used out of order, a store sees what was not fenced, or one is under way at the end."""
    if unordered(synchronised, params):
        return True
    dirty: set[str] = set()
    unmet: set[str] = set()
    open_ = 0
    groups: list[int] = []
    for _, item in moments(synchronised, params):
        if isinstance(item, Op):
            if item.leaves and (open_ or sum(groups)):
                return True
            if item.mechanism is BULK_STORE:
                if dirty | unmet:
                    return True
                open_ += 1
            elif item.name == "D.shared":
                dirty.add(str(item))
            continue
        match item.atom:
            case Fence(kind=FenceKind.PROXY):
                unmet |= dirty
                dirty.clear()
            case Join():
                unmet.clear()
            case Commit(kind=GroupKind.BULK):
                groups.append(open_)
                open_ = 0
            case Retire(kind=GroupKind.BULK, pending=pending, reads_only=False):
                groups = groups[len(groups) - pending :] if pending else []
            case _:
                pass
    return False


def altered(atom: Synchronisation) -> Iterator[Synchronisation | None]:
    """The atom gone, with one more group left open, waiting for reads alone, or without its first or second step."""
    yield None
    if isinstance(atom.atom, Retire):
        yield evolve(atom, atom=evolve(atom.atom, pending=atom.atom.pending + 1))
        if not atom.atom.reads_only:
            yield evolve(atom, atom=evolve(atom.atom, reads_only=True))
    for loop in atom.time.loops[-1:]:
        yield evolve(atom, domain=atom.domain.intersect(var(loop) >= 1))
        yield evolve(atom, domain=atom.domain - atom.domain.intersect(var(loop).equals(1)))


def derived(ops: tuple[Op, ...]) -> tuple[tuple[Requirement, ...], Synchronised]:
    needed = requirements(ops)
    return needed, discharge(ops, needed)


@pytest.mark.parametrize("looped", [False, True], ids=["once", "looped"])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_every_atom_is_wanted_and_none_is_missing(count: int, depth: int, looped: bool) -> None:
    needed, synchronised = derived(drain(count, depth, looped=looped))
    assert not any(wrong(synchronised, sizes) for sizes in SIZES)
    verdict = check_meetings(synchronised, needed)
    assert verdict.accepted, verdict
    for number, atom in enumerate(synchronised.atoms):
        before, after = synchronised.atoms[:number], synchronised.atoms[number + 1 :]
        for changed in altered(atom):
            other = evolve(synchronised, atoms=(*before, *((changed,) if changed else ()), *after))
            refused = not check_meetings(other, needed, needless=False).accepted
            assert refused or not any(wrong(other, sizes) for sizes in SIZES), changed
            assert changed or refused, f"without {atom} the proof accepts"


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_two_slots_or_more_meet_once_a_piece_and_leave_open_what_later_slots_need(depth: int) -> None:
    _, synchronised = derived(drain(1, depth, looped=True))
    waits = [a.atom for a in synchronised.atoms if isinstance(a.atom, Retire) and a.time.loops]
    assert waits == [Retire(GroupKind.BULK, max(0, depth - 2), reads_only=True)]
    assert len(synchronised.meetings) == (2 if depth == 1 else 1)
    last = synchronised.atoms[-1]
    assert last.atom == Retire(GroupKind.BULK, 0)
    assert not last.time.loops


def test_the_fence_stands_behind_the_puts_and_before_the_meeting_that_the_store_waits_for() -> None:
    _, synchronised = derived(drain(2, 2, looped=False))
    order = [type(i.atom).__name__ if isinstance(i, Synchronisation) else str(i) for _, i in moments(synchronised, {})]
    assert order == [
        *("D.shared[0]", "Fence", "Join", "D.global[0]"),
        *("D.shared[1]", "Fence", "Join", "D.global[1]", "Commit", "Retire", "leave"),
    ]


def test_stores_by_all_threads_need_meetings_alone() -> None:
    ring = buffer("D.shared", Space.SHARED, 2)
    ops = [
        part
        for number in range(4)
        for part in (
            op("D.shared", (0,), (writes(ring, number),), ONCE, (), STORE, (number,)),
            op("D.rows", (0,), (reads(ring, number),), ONCE, (), LOAD, (number,)),
        )
    ]
    needed, synchronised = derived(in_order(*ops, prefix=()))
    assert [type(a.atom).__name__ for a in synchronised.atoms] == ["Join"] * 4
    assert not unordered(synchronised, {})
    assert check_meetings(synchronised, needed).accepted


def lying_over() -> tuple[Op, ...]:
    """A ring filled and read in a loop, and one over it that is filled and read behind the loop."""
    under = buffer("A.shared", Space.SHARED, 2)
    over = evolve(buffer("D.shared", Space.SHARED, 2), alias="A.shared")
    inner = in_order(
        op("A.shared", (0,), (writes(under, k),), SLABS),
        op("A.use", (0,), (reads(under, k),), SLABS, None, LOAD),
        prefix=(0,),
    )
    outer = (op("D.shared", (1,), (writes(over),), ONCE), op("D.rows", (2,), (reads(over),), ONCE, (), LOAD))
    return (*inner, *outer)


def by_itself(touch: Touch) -> Touch:
    """The same touch of a buffer that lies over none."""
    return evolve(touch, buffer=evolve(touch.buffer, alias=""))


def test_a_ring_over_another_one_is_filled_when_the_other_is_done_with() -> None:
    ops = lying_over()
    needed, synchronised = derived(ops)
    assert [str(r) for r in needed if "A.use" in str(r) and "D.shared" in str(r)] == [
        "reuse A.use -> D.shared (D.shared, distance 0)"
    ]
    places = [m.time.place for m in synchronised.meetings if not m.time.loops]
    loop, put, rows = (next(o.time.place[0] for o in synchronised.ops if o.name == n) for n in
                       ("A.use", "D.shared", "D.rows"))  # fmt: skip
    assert all(a < b for a, b in pairwise([loop, places[0][0], put, places[1][0], rows]))
    assert check_meetings(synchronised, needed).accepted
    for number, atom in enumerate(synchronised.atoms):
        fewer = evolve(synchronised, atoms=(*synchronised.atoms[:number], *synchronised.atoms[number + 1 :]))
        assert not check_meetings(fewer, needed).accepted, atom
    apart = tuple(evolve(o, touches=tuple(map(by_itself, o.touches))) for o in ops)
    assert len(derived(apart)[1].meetings) == len(synchronised.meetings) - 1


def test_rings_over_one_ring_follow_each_other() -> None:
    first, second = (evolve(buffer(f"{n}.shared", Space.SHARED), alias="A.shared") for n in "PD")
    ops = [
        part
        for ring in (first, second)
        for part in (
            op(ring.name, (0,), (writes(ring),), ONCE),
            op(f"{ring.array}.rows", (0,), (reads(ring),), ONCE, (), LOAD),
        )
    ]
    needed, synchronised = derived(in_order(*ops, prefix=()))
    assert "reuse P.rows -> D.shared (D.shared, distance 0)" in {str(r) for r in needed}
    assert len(synchronised.meetings) == 3
    assert check_meetings(synchronised, needed).accepted
