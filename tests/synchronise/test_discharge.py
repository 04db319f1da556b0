"""Requirements and meetings, judged by enumerating every instance at small sizes."""

from collections.abc import Iterator
from itertools import combinations

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from isa.mechanisms import BULK_LOAD, LANE_COPY, LOAD, STORE
from polyhedral import Set, var
from ptxgen.errors import InternalError, PlanError, UnsupportedError
from ptxgen.order.atoms import Arrive, Expect, Retire, Side, Wait
from ptxgen.order.ops import Op, Time
from ptxgen.order.requirement import Requirement
from ptxgen.order.requirements import requirements
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.order.threads import Threads
from ptxgen.prove.proof import check_meetings
from ptxgen.synchronise.discharge import discharge
from ptxgen.synchronise.meetings import fewest_gaps
from ptxgen.tile import Space
from tests.synchronise.programs import (
    ONCE,
    SLABS,
    ampere,
    buffer,
    hopper,
    in_order,
    op,
    places_are_distinct,
    reads,
    unordered,
    volta,
    writes,
)

k, j = var("k"), var("j")
SIZES = [{"K": 32 * n + rest, "J": m} for n in range(6) for rest in (0, 1) for m in (0, 1, 3)]
FEW_SIZES = [{"K": 32 * n, "J": 3} for n in (1, 2, 3, 5)] + [{"K": 0, "J": 1}, {"K": 97, "J": 1}]
PAIRS = Set.of(("j", "k"), j >= 0, j < var("J"), k >= 0, 32 * k < var("K"))
ROWS = Set.of(("j",), j >= 0, j < var("J"))


def derived(ops: tuple[Op, ...]):
    needed = requirements(ops)
    synchronised = discharge(ops, needed)
    assert places_are_distinct(synchronised)
    assert [(o.name, o.instance) for o in synchronised.ops] == [(o.name, o.instance) for o in ops]
    return needed, synchronised


def assert_ordered_and_wanted(ops: tuple[Op, ...], meetings: int) -> None:
    """Every conflict is ordered at every size, the proof agrees, and no meeting can go, whole or in part."""
    needed, synchronised = derived(ops)
    assert len(synchronised.meetings) == meetings
    for sizes in SIZES:
        assert not unordered(synchronised, sizes), sizes
    verdict = check_meetings(synchronised, needed)
    assert verdict.accepted, verdict
    for number, meeting in enumerate(synchronised.meetings):
        fewer = evolve(synchronised, atoms=(*synchronised.meetings[:number], *synchronised.meetings[number + 1 :]))
        assert any(unordered(fewer, sizes) for sizes in SIZES)
        assert "synchronisation.covered" in check_meetings(fewer, needed).codes
        for loop in meeting.time.loops:
            first, gone = meeting.domain.intersect(var(loop) >= 1), Set.of(meeting.domain.dims, var(loop).equals(2))
            for part in (first, meeting.domain - gone):
                shorter = evolve(synchronised, atoms=(*fewer.meetings, evolve(meeting, domain=part)))
                if any(unordered(shorter, sizes) for sizes in SIZES):
                    assert check_meetings(shorter, needed).codes == ("synchronisation.ends",)


def test_volta_has_one_meeting_a_slab_with_two_slots_and_two_with_one():
    assert_ordered_and_wanted(volta(depth=2), 1)
    assert_ordered_and_wanted(volta(depth=1), 2)


def test_volta_meeting_stands_before_the_fragments_that_cross_into_the_next_slab():
    _, synchronised = derived(volta())
    after = [o for o in synchronised.ops if o.time.place > synchronised.meetings[0].time.place]
    assert [str(o) for o in after] == ["A.fragments[0]", "B.fragments[0]", "C[7]", "D"]
    assert synchronised.meetings[0].domain.equals(Set.of(("k",), k >= -1, 32 * k + 32 < var("K")))


def test_volta_requirements_name_the_distance_of_the_ring():
    needed = requirements(volta(depth=3))
    spelled = {str(r) for r in needed}
    assert len(needed) == 34
    assert "flow A.shared -> A.fragments[0] (A.shared, distance 0)" in spelled
    assert "reuse A.fragments[7] -> A.shared (A.shared, distance 3)" in spelled
    assert "rewrite B.shared -> B.shared (B.shared, distance 3)" in spelled


@pytest.mark.parametrize("depth", [2, 3, 4, 5])
@pytest.mark.parametrize("crossing", [0, 1])
def test_ampere_has_one_wait_and_one_meeting_a_slab(depth: int, crossing: int):
    needed, synchronised = (
        derived(ampere(depth, depth - 1 - crossing, crossing)) if depth > 2 else derived(ampere(2, 1, 0))
    )
    assert_in_groups(needed, synchronised)
    assert sorted(type(atom.atom).__name__ for atom in synchronised.atoms) == ["Commit", "Join", "Retire"]


def test_the_wait_of_ampere_leaves_open_what_later_slabs_need():
    for depth in (3, 4, 5):
        _, synchronised = derived(ampere(depth, depth - 1, 0))
        assert [a.atom.pending for a in synchronised.atoms if isinstance(a.atom, Retire)] == [depth - 2]
        _, crossing = derived(ampere(depth, depth - 1, 1))
        assert [a.atom.pending for a in crossing.atoms if isinstance(a.atom, Retire)] == [depth - 3]


def test_a_copy_behind_the_reads_of_its_slot_meets_once_as_well():
    needed, synchronised = derived(ampere(3, 2, 1, copies_first=False))
    assert_in_groups(needed, synchronised)
    assert len(synchronised.meetings) == 1


def test_one_slot_of_copies_needs_two_meetings():
    needed, synchronised = derived(ampere(1, 0, 0))
    assert_in_groups(needed, synchronised)
    assert len(synchronised.meetings) == 2
    assert [a.atom.pending for a in synchronised.atoms if isinstance(a.atom, Retire)] == [0]


def test_a_tile_copied_before_the_loop_is_awaited_before_it():
    once, ring = buffer("Q.shared", Space.SHARED), buffer("K.shared", Space.SHARED, 2)
    body = in_order(
        op("K.shared", (0,), (writes(ring, k),), SLABS, (1,), LANE_COPY),
        op("S", (0,), (reads(ring, k), reads(once)), SLABS, (0,), LOAD),
        prefix=(1,),
    )
    needed, synchronised = derived((op("Q.shared", (0,), (writes(once),), ONCE, (), LANE_COPY), *body))
    assert_in_groups(needed, synchronised, minimal=False)


def test_copies_of_an_inner_loop_are_complete_before_the_next_round():
    ring = buffer("A.shared", Space.SHARED, 2)
    inner = in_order(
        op("A.shared", (0,), (writes(ring, k),), PAIRS, (0, 1), LANE_COPY),
        op("A.use", (0,), (reads(ring, k),), PAIRS, (0, 0), LOAD),
        prefix=(0, 0),
    )
    needed, synchronised = derived(inner)
    assert_in_groups(needed, synchronised, minimal=False)


def assert_in_groups(needed: tuple[Requirement, ...], synchronised: Synchronised, *, minimal: bool = True) -> None:
    """Every conflict is ordered at every size and the proof agrees; without an atom, or with one changed, neither."""
    for sizes in SIZES:
        assert not unordered(synchronised, sizes), sizes
    verdict = check_meetings(synchronised, needed, needless=minimal)
    assert verdict.accepted, verdict
    for number, atom in enumerate(synchronised.atoms):
        before, after = synchronised.atoms[:number], synchronised.atoms[number + 1 :]
        for changed in (None, *altered(atom)):
            other = evolve(synchronised, atoms=(*before, *((changed,) if changed else ()), *after))
            wrong = any(unordered(other, sizes) for sizes in SIZES)
            refused = not check_meetings(other, needed, needless=False).accepted
            assert refused or not wrong, changed
            assert wrong or not minimal or not refused, f"{changed or atom} is harmless, and refused"


def altered(atom: Synchronisation) -> Iterator[Synchronisation]:
    """The atom with one more group left open, or with its first or second step, or its last one, missing."""
    if isinstance(atom.atom, Retire):
        yield evolve(atom, atom=evolve(atom.atom, pending=atom.atom.pending + 1))
    for loop in atom.time.loops[-1:]:
        later = atom.domain.intersect(var(loop) >= 1)
        yield evolve(atom, domain=later)
        yield evolve(atom, domain=atom.domain.intersect(var(loop) >= 0))
        yield evolve(atom, domain=atom.domain - Set.of(atom.domain.dims, var(loop).equals(1)))


def softmax() -> tuple[Op, ...]:
    held, peak = buffer("X", Space.REGISTERS), buffer("peak", Space.REGISTERS)
    first = op("X.load", (0,), (writes(held),), ONCE, (), LOAD)
    second = op("peak", (1,), (reads(held), writes(peak)), ONCE)
    return (first, second, op("Y", (2,), (reads(held), reads(peak)), ONCE))


def transpose() -> tuple[Op, ...]:
    tile = buffer("X.shared", Space.SHARED)
    return op("X.shared", (0,), (writes(tile),), ONCE), op("Y", (1,), (reads(tile),), ONCE, (), LOAD)


def chained(depth: int) -> tuple[Op, ...]:
    """Two products: for each j, an inner sum over k through shared memory, and a second product of its result."""
    a, e, p = (buffer(f"{name}.shared", Space.SHARED, depth) for name in "AEP")
    inner = in_order(
        op("A.shared", (0,), (writes(a, k),), PAIRS, (0, 0)),
        op("A.fragments", (0,), (reads(a, k),), PAIRS, (0, 0), LOAD),
        prefix=(0, 0),
    )
    outer = (
        op("E.shared", (0, 1), (writes(e, j),), ROWS),
        op("P.shared", (0, 2), (writes(p, j),), ROWS),
        op("F", (0, 3), (reads(e, j), reads(p, j)), ROWS, (), LOAD),
    )
    return (*inner, *outer)


def test_rows_in_registers_need_no_meeting_and_a_transpose_needs_one():
    assert_ordered_and_wanted(softmax(), 0)
    assert_ordered_and_wanted(transpose(), 1)


def test_chained_products_meet_in_the_inner_loop_and_once_for_each_outer_step():
    needed, synchronised = derived(chained(2))
    assert sorted(m.time.loops for m in synchronised.meetings) == [("j",), ("j", "k")]
    assert_ordered_and_wanted(chained(2), 2)
    assert {r.loops for r in needed} == {("j",), ("j", "k")}
    assert_ordered_and_wanted(chained(1), 4)


def test_sibling_loops_meet_between_them():
    tile, few = buffer("X.shared", Space.SHARED, 4), SLABS.intersect(k < 4)
    fill = op("X.shared", (0, 0), (writes(tile, k),), few)
    use = op("Y", (1, 0), (reads(tile, k),), few, (), LOAD)
    assert_ordered_and_wanted((fill, use), 1)


def test_a_ring_that_is_too_small_for_two_loops_is_refused():
    tile = buffer("X.shared", Space.SHARED, 1)
    fill = op("X.shared", (0, 0), (writes(tile, k),), SLABS)
    use = op("Y", (1, 0), (reads(tile, k),), SLABS, (), LOAD)
    with pytest.raises(PlanError, match=r"Y .*has read a tile of X.shared before X.shared fills the same slot"):
        derived((fill, use))


@pytest.mark.parametrize("early", [2, 3])
def test_a_ring_that_is_too_small_for_the_shift_is_refused_with_both_ops_and_the_line(early: int):
    with pytest.raises(
        PlanError, match=r"^plan.py:\d+: the shift empties the interval between .*fragments.*depth 1"
    ) as got:
        derived(volta(depth=1, ahead=early))
    assert len(got.value.instances) == 2


def test_a_shift_against_the_flow_is_refused():
    ops = volta(ahead=0)
    with pytest.raises(
        PlanError, match=r"between A.shared \(plan.py:\d+\) and A.fragments\[1\].*filled a tile of A.shared"
    ):
        derived(ops)


def test_register_tiles_in_the_wrong_order_are_refused_before_any_meeting():
    held = buffer("X", Space.REGISTERS)
    use = op("Y", (0,), (reads(held),), ONCE)
    with pytest.raises(PlanError, match=r"between X.load \(plan.py:1\) and Y"):
        requirements((use, op("X.load", (1,), (writes(held),), ONCE, (), LOAD)))


def test_ranks_that_do_not_count_alike_or_descend_are_refused():
    tile = buffer("X.shared", Space.SHARED, 2)
    fill = op("X.shared", (0, 0), (writes(tile, k),), SLABS)
    with pytest.raises(PlanError, match=r"do not count the tiles of their buffer alike: tile k against tile 2\*k in k"):
        requirements((fill, op("Y", (0, 1), (reads(tile, 2 * k),), SLABS)))
    with pytest.raises(PlanError, match=r"Y does not visit the tiles of X.shared in ascending order"):
        requirements((fill, op("Y", (1, 0), (reads(tile, -k),), SLABS)))


def test_two_counted_loops_are_accepted_where_their_ranks_ascend():
    ring = buffer("X.shared", Space.SHARED, 2)
    steps = Set.of(("k", "s"), k >= 0, 32 * k < var("K"), var("s") >= 0, var("s") < 4)
    rank = 4 * k + var("s")
    fill = op("X.shared", (0, 0, 0), (writes(ring, rank),), steps)
    use = op("Y", (0, 0, 1), (reads(ring, rank),), steps, (), LOAD)
    _, synchronised = derived((fill, use))
    assert not any(unordered(synchronised, sizes) for sizes in SIZES)
    with pytest.raises(PlanError, match="does not visit the tiles"):
        requirements((fill, op("Y", (0, 0, 1), (reads(ring, 2 * k + var("s")),), steps)))


def test_a_filling_in_an_outer_loop_is_reused_by_inner_readers():
    ring = buffer("Q.shared", Space.SHARED, 2)
    fill = op("Q.shared", (0, 0), (writes(ring, j),), ROWS)
    use = op("S", (0, 1, 0), (reads(ring, j),), PAIRS, (), LOAD)
    assert_ordered_and_wanted((fill, use), 1)


def test_a_global_array_written_and_read_by_other_threads_is_refused():
    array = buffer("D", Space.GLOBAL)
    with pytest.raises(UnsupportedError, match=r"Y .* reads the global array D that D.store .* writes"):
        requirements((op("D.store", (0,), (writes(array),), ONCE), op("Y", (1,), (reads(array),), ONCE, (), LOAD)))


def test_what_neither_a_meeting_nor_a_ring_discharges_is_refused_by_name():
    ring = buffer("A.shared", Space.SHARED, 2)
    use = op("C", (0, 1), (reads(ring, k),), SLABS, (), LOAD)
    store = op("A.shared", (0, 0), (writes(ring, k),), SLABS, (), STORE, role="load")
    with pytest.raises(UnsupportedError, match=r"A.shared .* of the role load fills tiles for the role all"):
        derived((store, use))
    copy = op("A.shared", (0, 0), (writes(ring, 2 * k),), SLABS, (), BULK_LOAD, role="load")
    with pytest.raises(UnsupportedError, match=r"A.shared .* uses tile 2\*k in the loops k"):
        derived((copy, op("C", (0, 1), (reads(ring, 2 * k),), SLABS, (), LOAD)))
    held = buffer("R", Space.REGISTERS)
    with pytest.raises(PlanError, match=r"C of the role math uses registers of R"):
        requirements(
            (
                op("R", (0,), (writes(held),), ONCE, (), LOAD, role="load"),
                op("C", (0,), (reads(held),), ONCE, (), LOAD, role="math"),
            )
        )


THREADS = {"load": Threads(1, 1), "math": Threads(2, 256)}


def proved(depth: int, window: int) -> tuple[tuple[Requirement, ...], Synchronised]:
    ops = hopper(depth, window)
    needed = requirements(ops)
    return needed, discharge(ops, needed, THREADS)


@pytest.mark.parametrize(("depth", "window"), [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2), (4, 1), (5, 3)])
def test_a_ring_between_roles_has_one_wait_and_one_arrival_each(depth: int, window: int):
    needed, synchronised = proved(depth, window)
    assert str(check_meetings(synchronised, needed, threads=THREADS)) == "proved"
    inside = [(a.role, type(a.atom).__name__) for a in synchronised.atoms if a.time.loops and not a.tail]
    assert sorted(inside) == [
        ("load", "Expect"), ("load", "Wait"),
        ("math", "Arrive"), ("math", "Commit"), ("math", "Fence"), ("math", "Retire"), ("math", "Wait"),
    ]  # fmt: skip
    assert [type(a.atom).__name__ for a in synchronised.atoms if not a.time.loops] == ["Retire"]
    (ring,) = synchronised.rings
    assert (ring.depth, ring.window, ring.byte_count) == (depth, window, 16)


@pytest.mark.parametrize("window", [1, 2, 3])
def test_a_ring_no_deeper_than_what_is_in_flight_is_refused(window: int):
    with pytest.raises(PlanError, match=rf"C keeps {window} steps in flight .* depth of {window + 1} or more"):
        proved(window, window)


def test_every_atom_of_a_ring_is_wanted():
    needed, synchronised = proved(3, 1)
    for number, atom in enumerate(synchronised.atoms):
        others = (*synchronised.atoms[:number], *synchronised.atoms[number + 1 :])
        verdict = check_meetings(evolve(synchronised, atoms=others), needed, needless=False, threads=THREADS)
        assert not verdict.accepted, atom
        for changed in changes(atom):
            other = evolve(synchronised, atoms=(*others, changed))
            assert not check_meetings(other, needed, needless=False, threads=THREADS).accepted, changed


def changes(atom: Synchronisation) -> Iterator[Synchronisation]:
    """The atom with another pending number, count of bytes or arrivals, with a step missing, or a step later."""
    match atom.atom:
        case Retire(pending=pending):
            yield evolve(atom, atom=evolve(atom.atom, pending=pending + 1))
        case Expect(byte_count=count):
            yield evolve(atom, atom=evolve(atom.atom, byte_count=count + 2))
        case Wait(side=side):
            other = Side.FULL if side is Side.EMPTY else Side.EMPTY
            yield evolve(atom, atom=evolve(atom.atom, side=other))
        case _:
            pass
    if atom.time.loops and isinstance(atom.atom, Wait | Expect | Arrive):
        yield evolve(atom, domain=atom.domain.intersect(k >= 1))


@given(st.integers(1, 8), st.data())
@settings(max_examples=300, deadline=None)
def test_fewest_gaps_is_the_smallest_hitting_set(size: int, data: st.DataObject):
    arcs = data.draw(st.sets(st.tuples(st.integers(0, size - 1), st.integers(1, size)), max_size=7))
    cyclic = data.draw(st.booleans())
    if not cyclic:
        arcs = {(start, min(length, size - start)) for start, length in arcs}
    hit = [{(start + step) % size for step in range(length)} for start, length in arcs]
    chosen = fewest_gaps(arcs, size, cyclic=cyclic)
    assert all(gaps & set(chosen) for gaps in hit)
    least = next(n for n in range(size + 1) if any(all(g & set(c) for g in hit) for c in combinations(range(size), n)))
    assert len(chosen) == least


@st.composite
def bodies(draw: st.DrawFn, space: Space = Space.SHARED) -> tuple[Op, ...]:
    """Rings filled and read in one loop over k, inside a loop over j or not, shifted and placed at random."""
    nested = draw(st.booleans())
    mechanism = draw(st.sampled_from((STORE, LANE_COPY))) if space is Space.SHARED else STORE
    domain, prefix = (PAIRS, (0, 0)) if nested else (SLABS, (0,))
    ops: list[Op] = []
    for name in "AB"[: draw(st.integers(1, 2))]:
        ring = buffer(f"{name}.shared", space, draw(st.integers(1, 3)))
        step = draw(st.integers(1, 2))
        for part in range(step):
            ahead = draw(st.sampled_from((0, 1, 1, 2)))
            early = (0, ahead) if nested else (ahead,)
            touches = (writes(ring, step * k + part),)
            ops.append(op(f"{name}.shared", (0,), touches, domain, early, mechanism, (part,)))
        for reader in range(draw(st.integers(1, 3))):
            early = (0, 0) if nested else (0,)
            rank = step * k + draw(st.integers(0, step - 1))
            ops.append(op(f"{name}.use", (0,), (reads(ring, rank),), domain, early, LOAD, (reader,)))
    body = in_order(*draw(st.permutations(ops)), prefix=prefix)
    if not nested or draw(st.booleans()):
        return body
    tile = buffer("E.shared", space, draw(st.integers(1, 2)))
    fill = op("E.shared", (0, 1), (writes(tile, j),), ROWS)
    return (*body, fill, op("E.use", (0, 2), (reads(tile, j),), ROWS, (), LOAD))


@given(bodies())
@settings(max_examples=120, deadline=None)
def test_random_bodies_are_ordered_at_every_size_or_refused(ops: tuple[Op, ...]):
    try:
        needed, synchronised = derived(ops)
    except PlanError:
        assert any(backwards(ops, sizes) for sizes in FEW_SIZES)
        return
    for sizes in FEW_SIZES:
        assert not unordered(synchronised, sizes), sizes
    verdict = check_meetings(synchronised, needed)
    nested = any("j" in o.time.loops for o in ops)
    grouped = any(o.mechanism == LANE_COPY for o in ops)
    assert not [f for f in verdict.findings if not (nested or grouped) or f.code != "synchronisation.needless"], verdict


@given(bodies(Space.REGISTERS))
@settings(max_examples=150, deadline=None)
def test_register_tiles_are_refused_exactly_where_the_program_runs_against_them(ops: tuple[Op, ...]):
    wrong = any(backwards(ops, sizes, Space.REGISTERS) for sizes in FEW_SIZES)
    try:
        assert requirements(ops) == ()
    except PlanError:
        assert wrong
    else:
        assert not wrong


def backwards(ops: tuple[Op, ...], sizes: dict[str, int], space: Space = Space.SHARED) -> bool:
    """Whether two accesses to a slot run against the order of the tiles, whatever meets in between."""
    return any(first.time >= second.time for first, second in unordered(Synchronised(ops, ()), sizes, space))


def test_a_proof_is_of_the_ops_that_were_asked_about():
    needed, synchronised = derived(volta())
    other = evolve(synchronised, ops=tuple(reversed(synchronised.ops)))
    with pytest.raises(InternalError, match="names op number"):
        check_meetings(other, needed)


def test_a_meeting_in_the_wrong_place_or_loop_does_not_serve():
    needed, synchronised = derived(volta())
    (meeting,) = synchronised.meetings
    ends = [o.time.place[1] for o in synchronised.ops if o.name == "A.shared"]
    early = evolve(meeting, time=evolve(meeting.time, place=(1, ends[0] - 0.5)))
    verdict = check_meetings(evolve(synchronised, atoms=(early,)), needed)
    assert verdict.codes == ("synchronisation.covered",)
    assert "flow A.shared -> A.fragments[0]" in str(verdict)
    outside = evolve(meeting, domain=ONCE, time=Time((), (), (3,)))
    assert "synchronisation.covered" in check_meetings(evolve(synchronised, atoms=(outside,)), needed).codes
