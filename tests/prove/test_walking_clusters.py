"""Two blocks that walk a work list together and share an operand: the checker, judged by the model of the machine; and
what is derived for such plans, with one thing changed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from attrs import evolve

from polyhedral import Set, const, var
from ptxgen.errors import InternalError
from ptxgen.order.atoms import Advance, Arrive, AtomProgram, Expect, Placed, Side, Wait
from ptxgen.order.ops import Time
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.order.threads import Threads
from ptxgen.prove.checker import check
from ptxgen.prove.events import without
from ptxgen.prove.proof import check_meetings
from tests.kernels.clusters import CLUSTERS, TINY, derived, other_masks
from tests.prove.test_clusters import pair, shown
from tests.prove.test_items import resumed
from tests.prove.test_mutations import mutants

LEFT = "a barrier of a block that has left"
WALKED = evolve(TINY, workers=4, drain=16)
THREADS = {"load": Threads(1, 1), "math": Threads(1, 128)}


def walking(depth: int = 3, window: int = 1, leave: tuple[int, ...] | None = None, **changed: object) -> AtomProgram:
    """The pair, whose loading thread waits for the last release behind all items, at those steps behind the last."""
    program = resumed(pair(depth, window, **changed))  # type: ignore[arg-type]
    load = program.roles[0]
    behind = (depth - 1,) if leave is None else leave
    return program.replaced(
        load, evolve(load, tail=(), leave=tuple(Placed(Wait("ring", Side.EMPTY), ahead) for ahead in behind))
    )


@pytest.mark.parametrize(("depth", "window"), [(1, 0), (2, 0), (2, 1), (3, 1), (4, 2)])
def test_two_blocks_walk_together(depth: int, window: int) -> None:
    assert str(check(walking(depth, window))) == "proved"
    assert shown(walking(depth, window), 60) == set()


def test_remote_arrivals_are_awaited_behind_all_items() -> None:
    for leave in ((), (0,), (1,)):
        verdict = check(walking(leave=leave))
        assert "remote arrive not before leave" in str(verdict)
        assert LEFT in shown(walking(leave=leave), 400, LEFT)
    beyond = check(walking(leave=(3,)))
    assert "synchronisation.deadlock" in beyond.codes
    assert "deadlock" in shown(walking(leave=(3,)), 100, "deadlock")
    assert check(walking(leave=(0, 1, 2)), needless=False).accepted
    assert len(check(walking(leave=(0, 1, 2))).findings) == 2


def test_arrivals_behind_all_items_belong_to_none() -> None:
    program = walking()
    load = program.roles[0]
    for atom in (Expect("ring", 16), next(p.atom for p in program.roles[1].body if isinstance(p.atom, Arrive))):
        late = program.replaced(load, evolve(load, leave=(*load.leave, Placed(atom, 0))))
        assert "belongs to no item's steps" in str(check(late))


def test_no_atom_can_be_left_out() -> None:
    program = walking()
    for role in program.roles:
        for place, placed in enumerate(role.atoms):
            if placed.atom.__class__.__name__ != "Issue":
                rest = without(program, role, place)
                assert not check(rest).accepted, placed
                assert shown(rest, 400), placed


@pytest.mark.slow
def test_checker_and_machine_agree_on_moved_atoms() -> None:
    refused = 0
    for mutant in dict.fromkeys(mutants(walking(2, 1))):
        verdict = check(mutant, needless=False)
        if verdict.accepted:
            assert not shown(mutant, 8), mutant
        else:
            refused += 1
            assert shown(mutant, 400), f"{mutant}\n{verdict}"
    assert refused > 15


def judged(synchronised: Synchronised, cluster: tuple[int, int]) -> tuple[str, ...]:
    (part,) = derived(cluster, tiling=WALKED).parts
    return check_meetings(synchronised, part.requirements, needless=False, threads=THREADS).codes


def altered(atom: Synchronisation) -> Iterator[Synchronisation]:
    """The atom for other tiles or blocks, at another place, or not always."""
    match atom.atom:
        case Arrive(to=to):
            yield from (evolve(atom, atom=evolve(atom.atom, to=masks)) for masks in other_masks(to))
        case Wait() if atom.tail:
            yield from (evolve(atom, rank=atom.rank + more) for more in (-1, 1))
            yield evolve(atom, rank=const(TINY.depth - 1))
            yield evolve(atom, domain=Set.of((), var("K") >= 16))
        case Wait() | Expect():
            yield from (evolve(atom, rank=atom.rank + more) for more in (-1, 1))
            yield evolve(atom, rank=var("cta.k"))
        case Advance(by=by):
            yield evolve(atom, atom=evolve(atom.atom, by=evolve(by, affine=by.affine + 1)))
        case _:
            pass


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_is_derived_is_proved_and_each_change_refused(cluster: tuple[int, int]) -> None:
    (part,) = derived(cluster, tiling=WALKED).parts
    whole = part.synchronised
    assert judged(whole, cluster) == ()
    refused = 0
    for number, atom in enumerate(whole.atoms):
        others = (*whole.atoms[:number], *whole.atoms[number + 1 :])
        assert judged(evolve(whole, atoms=others), cluster), atom
        for other in altered(atom):
            assert judged(evolve(whole, atoms=(*others, other)), cluster), other
            refused += 1
    leaving = next(atom for atom in whole.atoms if atom.tail and not atom.time.loops)
    first = evolve(leaving, time=Time((), (), (-1,)))
    with pytest.raises(InternalError, match="follows no loop that uses the same ring"):
        judged(evolve(whole, atoms=(*(atom for atom in whole.atoms if atom is not leaving), first)), cluster)
    (ring,) = whole.rings
    for count in (ring.empty_count - 1, ring.empty_count + 1, 1):
        assert judged(evolve(whole, rings=(evolve(ring, empty_count=count),)), cluster) == ("synchronisation.count",)
    assert refused > 20
