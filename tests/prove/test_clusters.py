"""Two blocks that share an operand: what the checker says of them, judged by the model of the machine."""

from collections.abc import Iterator

import pytest
from attrs import evolve

from isa.mechanisms import BULK_LOAD
from ptxgen.order.atoms import Arrive, Atom, AtomProgram, Expect, Issue, Placed, Retire, RoleBody, Side, Wait
from ptxgen.prove.checker import check
from ptxgen.prove.events import without
from tests.prove.model import faults
from tests.prove.test_checker import B_BYTES, USES, codes, hopper
from tests.prove.test_mutations import mutants


def shown(program: AtomProgram, runs: int = 20, enough: str = "") -> set[str]:
    depth = program.rings[0].depth
    return faults(program, USES, {"A": depth, "B": depth}, runs, enough)


def pair(depth: int = 3, window: int = 1, empty_count: int = 4, **changed: object) -> AtomProgram:
    return hopper(depth, window, empty_count=empty_count, pair=True, **changed)  # type: ignore[arg-type]


@pytest.mark.parametrize("depth, window", [(2, 0), (2, 1), (3, 1), (4, 2)])
def test_two_blocks_bring_each_other_halves(depth: int, window: int) -> None:
    assert str(check(pair(depth, window))) == "proved"
    assert shown(pair(depth, window)) == set()


def test_counts_without_the_peer() -> None:
    verdict = check(pair(empty_count=2))
    assert verdict.codes == ("synchronisation.count",)
    assert "the count of empty of block 0 is 2, but 4 arrive each phase" in str(verdict)
    assert shown(pair(empty_count=2), 100)


@pytest.mark.parametrize("to", [(1, 2), (3, 2), (2, 1)])
def test_arrivals_that_miss_a_writer(to: tuple[int, ...]) -> None:
    for count in (2, 4):
        program = pair(to=to, empty_count=count)
        assert not check(program).accepted
        assert shown(program, 200)
    local = check(pair(to=(1, 2), empty_count=2))
    assert "reuse C -> B.shared: C (read done) is not before B.shared 3 steps later from block" in str(local)


def test_remote_arrivals_are_awaited_before_leaving() -> None:
    for tail in ((), (0,), (1,)):
        verdict = check(pair(tail=tail))
        assert "remote arrive not before leave" in str(verdict)
        left = "a barrier of a block that has left"
        assert left in shown(pair(tail=tail), 300, left)
    assert codes(pair(tail=(3,))) == ("arrivals", "deadlock")
    assert "deadlock" in shown(pair(tail=(3,)), 100, "deadlock")


def test_one_wait_before_leaving_sees_all_arrivals() -> None:
    every = pair(tail=(0, 1, 2))
    assert check(every, needless=False).accepted
    assert set(check(every).codes) == {"synchronisation.needless"}
    assert len(check(every).findings) == 2


def test_blocks_begin_behind_a_barrier_of_the_cluster() -> None:
    program = pair(entered=False)
    verdict = check(program)
    assert verdict.codes == ("synchronisation.enter",)
    assert "no cluster barrier follows their initialisation" in str(verdict)
    early = "a barrier that is not there yet"
    assert early in shown(program, 200, early)
    whole = pair()
    for place in range(2):
        rest = evolve(whole, enter=whole.enter[:place] + whole.enter[place + 1 :])
        assert not check(rest).accepted
        assert shown(rest, 200)
    assert "deadlock" in codes(evolve(whole, enter=tuple(reversed(whole.enter))))


def test_a_cluster_barrier_that_no_block_needs() -> None:
    lonely = evolve(hopper(), enter=pair().enter)
    assert codes(lonely) == ("needless",)


def masked(program: AtomProgram) -> Iterator[AtomProgram]:
    """One mask or number of one atom changed."""
    for role in program.roles:
        for place, placed in enumerate((*role.body, *role.tail)):
            for atom in changed(placed.atom):
                yield program.replaced(role, with_atom(role, place, evolve(placed, atom=atom)))


def with_atom(role: RoleBody, place: int, placed: Placed) -> RoleBody:
    steps = [*role.body, *role.tail]
    steps[place] = placed
    return evolve(role, body=tuple(steps[: len(role.body)]), tail=tuple(steps[len(role.body) :]))


def changed(atom: Atom) -> Iterator[Atom]:
    match atom:
        case Issue(ring=str() as ring) if ring:
            yield from (evolve(atom, to=to) for to in ((1, 3), (3, 2), (2, 3), (0, 3), (3, 0)) if to != atom.to)
            yield from (evolve(atom, byte_count=count) for count in (atom.byte_count // 2, atom.byte_count * 2))
        case Arrive():
            yield from (evolve(atom, to=to) for to in ((1, 3), (3, 1), (2, 3), (0, 3), (1, 2), (2, 1)))
        case Expect(byte_count=count):
            yield from (evolve(atom, byte_count=other) for other in (count - B_BYTES // 2, count + B_BYTES))
        case _:
            pass


def test_every_changed_mask_and_number_is_refused() -> None:
    found = list(masked(pair()))
    assert len(found) > 20
    for mutant in found:
        assert not check(mutant, needless=False).accepted, mutant
        assert shown(mutant, 400), mutant


def test_no_atom_can_be_left_out() -> None:
    """The model runs one work item: behind its last release nothing overwrites what a late product reads."""
    program = pair()
    for role in program.roles:
        for place, placed in enumerate((*role.body, *role.tail)):
            if not isinstance(placed.atom, Issue):
                rest = without(program, role, place)
                assert not check(rest).accepted, placed
                if not (isinstance(placed.atom, Retire) and place >= len(role.body)):
                    assert shown(rest, 400), placed


@pytest.mark.slow
def test_checker_and_machine_agree_on_moved_atoms() -> None:
    refused = 0
    for mutant in dict.fromkeys(mutants(pair(2, 1))):
        verdict = check(mutant, needless=False)
        if verdict.accepted:
            assert not shown(mutant, 8), mutant
        else:
            refused += 1
            assert shown(mutant, 400), f"{mutant}\n{verdict}"
    assert refused > 15


def leader() -> AtomProgram:
    """Block 0 brings all of B to both; block 1 frees its slots, and its own count is smaller."""
    program = pair(to=(1, 3))
    load = program.roles[0]
    brought = Placed(Issue("B.shared", BULK_LOAD, "ring", B_BYTES, (3, 0)))
    body = tuple(brought if isinstance(p.atom, Issue) and p.atom.op == "B.shared" else p for p in load.body)
    ring = evolve(program.rings[0], empty_count=4, counts_by_rank=(4, 2))
    free = {"flow": ((0, 0, 0), (0, 1, 1)), "reuse": ((0, 0, 0), (1, 1, 0)), "rewrite": ((0, 0, 0), (0, 1, 0))}
    asked = tuple(evolve(o, ctas=free[o.label.split()[0]] if o.ctas else ()) for o in program.obligations)
    return evolve(program.replaced(load, evolve(load, body=body)), rings=(ring,), obligations=asked)


def test_one_block_may_bring_all() -> None:
    assert str(check(leader())) == "proved"
    assert shown(leader()) == set()
    for counts in ((4, 4), (2, 2), (2, 4)):
        wrong = evolve(leader(), rings=(evolve(leader().rings[0], empty_count=counts[0], counts_by_rank=counts),))
        assert codes(wrong) == ("count",)
        assert shown(wrong, 100)


def test_a_wait_behind_the_loop_for_a_filling_that_never_comes() -> None:
    program = pair()
    math = program.roles[1]
    late = evolve(math, tail=(*math.tail, Placed(Wait("ring", Side.FULL), 0)))
    assert "deadlock" in codes(program.replaced(math, late))
    assert "deadlock" in shown(program.replaced(math, late), 100, "deadlock")
