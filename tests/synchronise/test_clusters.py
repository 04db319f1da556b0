"""What rules place where blocks of a cluster fill each other's tiles."""

from __future__ import annotations

from collections import Counter

import pytest
from attrs import evolve

from isa.mechanisms import IssuedBy
from ptxgen.order.atoms import Arrive, ClusterArrive, ClusterWait, Side, Wait
from ptxgen.order.clusters import inverse, is_remote, joined, reached
from ptxgen.order.ops import Op, TouchKind
from ptxgen.order.requirement import Requirement
from ptxgen.order.requirements import requirements
from ptxgen.order.synchronisation import Synchronised
from ptxgen.order.threads import Threads
from ptxgen.prove.proof import check_meetings
from ptxgen.synchronise.discharge import discharge
from ptxgen.tile import RequirementKind
from tests.synchronise.programs import hopper

THREADS = {"load": Threads(1, 1), "math": Threads(2, 256)}
PAIR = (3, 3)
SQUARE_A, SQUARE_B = (3, 3, 12, 12), (5, 10, 5, 10)


def sharing(depth: int, window: int, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[Op, ...]:
    """The main loop of a Hopper product whose operands are brought to these blocks, by each of them an equal part."""
    masks = {"A.shared": a, "B.shared": b}

    def with_masks(op: Op) -> Op:
        found = masks.get(op.name)
        if not found:
            return op
        shares = found[0].bit_count()
        touches = (evolve(t, masks=found, shares=shares) if t.kind is TouchKind.WRITE else t for t in op.touches)
        return evolve(op, touches=tuple(touches))

    return tuple(map(with_masks, hopper(depth, window)))


def placed(ops: tuple[Op, ...]) -> tuple[tuple[Requirement, ...], Synchronised]:
    needed = requirements(ops)
    return needed, discharge(ops, needed, THREADS)


@pytest.mark.parametrize(("depth", "window"), [(2, 0), (2, 1), (3, 1), (4, 2)])
@pytest.mark.parametrize(("a", "b", "others"), [((), PAIR, 2), (PAIR, (), 2), (SQUARE_A, SQUARE_B, 3)])
def test_one_wait_more_and_arrivals_of_all_readers(
    depth: int, window: int, a: tuple[int, ...], b: tuple[int, ...], others: int
) -> None:
    needed, synchronised = placed(sharing(depth, window, a, b))
    assert str(check_meetings(synchronised, needed, threads=THREADS)) == "proved"
    assert synchronised.enter == (ClusterArrive(), ClusterWait())
    _, alone = placed(hopper(depth, window))
    assert alone.enter == ()
    assert [ring.empty_count for ring in alone.rings] == [2]
    assert [ring.empty_count for ring in synchronised.rings] == [2 * others]
    more = Counter(type(x.atom) for x in synchronised.atoms) - Counter(type(x.atom) for x in alone.atoms)
    assert more == {Wait: 1}
    (last,) = (x for x in synchronised.atoms if isinstance(x.atom, Wait) and x.tail)
    assert last.atom == Wait("A.shared+B.shared", Side.EMPTY)
    assert [c.sink for c in last.covers] == ["leave", "leave"]
    assert list(last.domain.points({"K": 160})) == [(4,)]
    assert last.rank.evaluate({"k": 4}) == 4 + depth


def test_a_reader_tells_those_who_fill_its_tiles() -> None:
    _, synchronised = placed(sharing(3, 1, SQUARE_A, SQUARE_B))
    arrivals = [x.atom for x in synchronised.atoms if isinstance(x.atom, Arrive)]
    assert {x.to for x in arrivals} == {(7, 11, 13, 14)}
    assert {x.by for x in arrivals} == {IssuedBy.ELECTED}


def test_requirements_say_between_which_blocks() -> None:
    needed = requirements(sharing(3, 1, (), PAIR))
    own = [r for r in needed if r.buffer.name == "A.shared"]
    assert all(r.ctas == () for r in own)
    by_kind = {r.kind: set(r.ctas) for r in needed if r.buffer.name == "B.shared"}
    both = (0, 1)
    assert by_kind[RequirementKind.FLOW] == {(c, e, e) for c in both for e in both}
    assert by_kind[RequirementKind.REUSE] == {(e, e, d) for e in both for d in both}
    assert by_kind[RequirementKind.REWRITE] == {(c, e, d) for c in both for e in both for d in both}


def test_one_block_that_brings_all_has_more_readers_than_the_other() -> None:
    ops = sharing(3, 1, (), (3, 0))
    whole = tuple(evolve(o, touches=tuple(evolve(t, shares=1) if t.masks else t for t in o.touches)) for o in ops)
    needed, synchronised = placed(whole)
    assert str(check_meetings(synchronised, needed, threads=THREADS)) == "proved"
    (ring,) = synchronised.rings
    assert ring.counts_by_rank == (4, 2)
    assert ring.masks == (1, 3)


def test_relations_of_ranks() -> None:
    assert inverse((1, 3)) == (3, 2)
    assert inverse((3, 0)) == (1, 1)
    assert reached((), 3) == (1, 2, 4)
    assert joined([(3, 3), ()]) == (3, 3)
    assert joined([]) == ()
    assert joined([SQUARE_A, SQUARE_B]) == (7, 11, 13, 14)
    assert is_remote((1, 3))
    assert not is_remote((1, 2))
    assert not is_remote(())
