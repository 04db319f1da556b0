"""The checker's verdicts, judged by a model of the machine under random schedulers."""

import pytest
from attrs import evolve

from isa.mechanisms import (
    BULK_LOAD,
    BULK_STORE,
    LANE_COPY,
    LOAD,
    REGISTERS,
    STORE,
    WARPGROUP_MULTIPLY,
    GroupKind,
    IssuedBy,
)
from ptxgen.order.atoms import (
    Arrive,
    AtomProgram,
    Budget,
    ClusterArrive,
    ClusterWait,
    Commit,
    Expect,
    Fence,
    FenceKind,
    Issue,
    Join,
    Obligation,
    Placed,
    Retire,
    Ring,
    RoleBody,
    Side,
    Turn,
    Wait,
)
from ptxgen.order.requirement import EventKind
from ptxgen.prove.checker import check
from ptxgen.prove.events import without
from tests.prove.model import Uses, faults

A_BYTES, B_BYTES = 16384, 32768
WGMMA = GroupKind.WGMMA


def hopper(
    depth: int = 3,
    window: int = 1,
    pending: int | None = None,
    empty_count: int = 2,
    drain: bool = True,
    pair: bool = False,
    to: tuple[int, ...] | None = None,
    tail: tuple[int, ...] | None = None,
    entered: bool = True,
) -> AtomProgram:
    """A loading thread and two warpgroups that multiply: a ring of A and B with `window` products in flight. As a
    `pair` two blocks bring each other one half of B each."""
    both = (3, 3) if pair else ()
    behind = tail if tail is not None else (depth - 1,) if pair else ()
    load = RoleBody(
        "load",
        units=1,
        threads=1,
        body=(
            Placed(Wait("ring", Side.EMPTY)),
            Placed(Expect("ring", A_BYTES + B_BYTES)),
            Placed(Issue("A.shared", BULK_LOAD, "ring", A_BYTES)),
            Placed(Issue("B.shared", BULK_LOAD, "ring", B_BYTES // (2 if pair else 1), both)),
        ),
        tail=tuple(Placed(Wait("ring", Side.EMPTY), ahead) for ahead in behind),
    )
    release = Arrive("ring", Side.EMPTY, IssuedBy.ELECTED, both if to is None else to)
    lagging = tuple(Placed(release, ahead) for ahead in range(-window, 0)) if drain else ()
    math = RoleBody(
        "math",
        units=2,
        threads=256,
        body=(
            Placed(Wait("ring", Side.FULL)),
            Placed(Issue("C", WARPGROUP_MULTIPLY)),
            Placed(Commit(WGMMA)),
            Placed(Retire(WGMMA, window if pending is None else pending), -window),
            Placed(release, -window),
        ),
        tail=(Placed(Retire(WGMMA, 0), -1), *lagging) if window else (),
    )
    ring = Ring("ring", depth, 1, empty_count)
    if not pair:
        return AtomProgram((load, math), (ring,), ring_obligations(depth))
    enter = (ClusterArrive(), ClusterWait()) if entered else ()
    return AtomProgram((load, math), (ring,), ring_obligations(depth, pair=True), cluster=2, enter=enter)


def ring_obligations(depth: int, *, pair: bool = False) -> tuple[Obligation, ...]:
    found = []
    for name in ("A.shared", "B.shared"):
        shared = pair and name == "B.shared"
        each = (0, 1)
        fill = tuple((c, e, e) for c in each for e in each) if shared else ()
        free = tuple((e, e, c) for c in each for e in each) if shared else ()
        again = tuple((c, e, d) for c in each for e in each for d in each) if shared else ()
        found.append(Obligation(name, EventKind.DONE, "C", 0, f"flow {name} -> C", ctas=fill))
        found.append(Obligation("C", EventKind.READ_DONE, name, depth, f"reuse C -> {name}", ctas=free))
        found.append(Obligation(name, EventKind.DONE, name, depth, f"rewrite {name} -> {name}", ctas=again))
    return tuple(found)


USES = {
    "A.shared": (Uses("A", True),),
    "B.shared": (Uses("B", True),),
    "C": (Uses("A", False), Uses("B", False)),
}


def shown(program: AtomProgram, runs: int = 60) -> set[str]:
    depth = program.rings[0].depth if program.rings else 4
    return faults(program, USES, {"A": depth, "B": depth}, runs)


def codes(program: AtomProgram) -> tuple[str, ...]:
    return tuple(code.partition(".")[2] for code in check(program).codes)


@pytest.mark.parametrize("depth, window", [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2), (4, 1), (5, 3)])
def test_the_ring_is_proved_and_the_machine_agrees(depth: int, window: int):
    program = hopper(depth, window)
    assert str(check(program)) == "proved"
    assert shown(program) == set()


@pytest.mark.parametrize("depth, window", [(1, 1), (2, 2), (3, 3)])
def test_a_ring_as_deep_as_the_window_deadlocks(depth: int, window: int):
    verdict = check(hopper(depth, window))
    assert verdict.codes == ("synchronisation.deadlock",)
    assert "wait empty of ring" in str(verdict)
    assert shown(hopper(depth, window)) == {"deadlock"}


def test_a_release_before_its_group_is_retired_leaves_the_reuse_uncovered():
    program = hopper(pending=2)
    verdict = check(program)
    assert verdict.codes[0] == "synchronisation.covered"
    assert "reuse C -> A.shared: C (read done) is not before A.shared 3 steps later" in str(verdict)
    assert any("overwritten while read" in fault for fault in shown(program, 200))


@pytest.mark.parametrize("count", [1, 3])
def test_a_wrong_count_of_arrivals(count: int):
    verdict = check(hopper(empty_count=count))
    assert verdict.codes == ("synchronisation.count",)
    assert f"the count of empty is {count}, but 2 arrive" in str(verdict)
    assert shown(hopper(empty_count=count), 200)


def test_a_missing_release_behind_the_loop():
    program = hopper(drain=False)
    assert "arrivals" in codes(program)
    assert "arrivals differ from uses" in str(check(program))


def test_a_release_behind_the_loop_needs_its_own_retire():
    program = hopper()
    math = program.roles[1]
    early = program.replaced(math, evolve(math, tail=math.tail[1:]))
    verdict = check(early)
    assert verdict.codes == ("synchronisation.covered",)
    assert "behind the loop completes the phase" in str(verdict)


def plain_reader(*, meet: bool, by: IssuedBy = IssuedBy.ELECTED, count: int = 1) -> AtomProgram:
    """One warpgroup that reads the ring with ordinary loads."""
    program = hopper(depth=3, window=0, empty_count=count)
    body = [Placed(Wait("ring", Side.FULL)), Placed(Issue("C", LOAD))]
    body += [Placed(Fence(FenceKind.PROXY)), *([Placed(Join(1))] if meet else [])]
    body += [Placed(Arrive("ring", Side.EMPTY, by))]
    math = RoleBody("math", units=1, threads=128, body=tuple(body))
    fenced = tuple(evolve(o, fence=FenceKind.PROXY if o.source == "C" else None) for o in program.obligations)
    return evolve(program, roles=(program.roles[0], math), obligations=fenced)


def test_one_arrival_vouches_for_plain_reads_behind_a_meeting_only():
    assert str(check(plain_reader(meet=True))) == "proved"
    assert shown(plain_reader(meet=True)) == set()
    verdict = check(plain_reader(meet=False))
    assert verdict.codes[0] == "synchronisation.covered"
    assert "reuse C -> A.shared: C (read done) is not before A.shared" in str(verdict)
    assert any("A" in fault or "B" in fault for fault in shown(plain_reader(meet=False), 300))
    assert str(check(plain_reader(meet=False, by=IssuedBy.LANE, count=128))) == "proved"


def test_a_plain_read_before_an_asynchronous_overwrite_needs_the_fence():
    program = plain_reader(meet=True)
    math = program.roles[1]
    place = next(p for p, e in enumerate(math.body) if isinstance(e.atom, Fence))
    verdict = check(without(program, math, place))
    assert verdict.codes == ("synchronisation.covered",)
    assert "past a proxy fence" in str(verdict)
    moved = evolve(math, body=(*math.body[:2], math.body[3], math.body[4], math.body[2]))
    assert "covered" in codes(program.replaced(math, moved))


def test_a_fence_for_another_block_stands_behind_the_wait():
    program = plain_reader(meet=True)
    load, math = program.roles
    reader = evolve(math, body=tuple(p for p in math.body if not isinstance(p.atom, Fence)))
    writer = evolve(load, body=(load.body[0], Placed(Fence(FenceKind.PROXY)), *load.body[1:]))
    there = evolve(program, roles=(writer, reader))
    assert "covered" in codes(there)
    remote = tuple(evolve(o, remote=o.fence is not None) for o in program.obligations)
    assert str(check(evolve(there, obligations=remote))) == "proved"
    assert "covered" in codes(evolve(program, obligations=remote))


def test_a_role_that_waits_without_a_release_may_miss_its_phase():
    program = hopper()
    watch = RoleBody("watch", units=1, threads=1, body=(Placed(Wait("ring", Side.FULL)),))
    watched = evolve(program, roles=(*program.roles, watch))
    verdict = check(watched)
    assert verdict.codes == ("synchronisation.kept",)
    assert "the wait for full in watch may miss its phase" in str(verdict)
    assert "deadlock" in shown(watched, 300)


def alternating(*, turns: bool) -> AtomProgram:
    program = hopper(depth=3, window=0, empty_count=1)
    math = evolve(program.roles[1], alternates=True)
    order = (Turn("math", 1, 0),) if turns else ()
    return evolve(program.replaced(program.roles[1], math), turns=order)


def test_alternating_warpgroups_need_turns():
    assert str(check(alternating(turns=True))) == "proved"
    verdict = check(alternating(turns=False))
    assert set(verdict.codes) == {"synchronisation.seen"}
    assert "turns are wanted" in str(verdict)


def ampere(stages: int = 4, pending: int | None = None, meet: bool = True, copy_last: bool = True) -> AtomProgram:
    """Copies in groups of the lane, `stages` - 1 ahead, and one meeting for flow and reuse."""
    group = GroupKind.CP_ASYNC
    copy = (
        Placed(Issue("A.shared", LANE_COPY), stages - 1),
        Placed(Issue("B.shared", LANE_COPY), stages - 1),
        Placed(Commit(group)),
    )
    observe = (
        Placed(Retire(group, stages - 2 if pending is None else pending)),
        *([Placed(Join(0))] if meet else []),
    )
    body = (*observe, *copy) if copy_last else (*copy, *observe)
    role = RoleBody("all", units=1, threads=128, body=(*body, Placed(Issue("C", LOAD))))
    return AtomProgram((role,), (), ring_obligations(stages))


@pytest.mark.parametrize("stages", [2, 3, 4, 5])
def test_one_meeting_serves_flow_and_reuse_of_grouped_copies(stages: int):
    program = ampere(stages)
    assert str(check(program)) == "proved"
    assert faults(program, USES, {"A": stages, "B": stages}) == set()


@pytest.mark.parametrize(
    "program",
    [ampere(pending=3), ampere(meet=False), ampere(copy_last=False)],
    ids=["one group too many pending", "no meeting", "copy before the meeting"],
)
def test_grouped_copies_are_refused_when_the_wait_or_the_meeting_is_wrong(program: AtomProgram):
    assert codes(program) == ("covered",)
    assert shown(program, 300)


def test_a_copy_before_the_meeting_needs_a_second_one():
    role = ampere(copy_last=False, pending=3).roles[0]
    twice = evolve(role, body=(Placed(Join(1)), *role.body))
    assert str(check(AtomProgram((twice,), (), ring_obligations(4)))) == "proved"


def test_commits_that_stop_make_the_pending_number_vary():
    program = ampere()
    role = program.roles[0]
    body = tuple(
        Placed(Commit(GroupKind.CP_ASYNC, every_step=False)) if isinstance(p.atom, Commit) else p for p in role.body
    )
    assert codes(program.replaced(role, evolve(role, body=body))) == ("pending",)


PIECES = {"pack": (Uses("D", True),), "D.global": (Uses("D", False),)}


def pieces(depth: int, pending: int | None = None, fence: bool = True, first: bool = True) -> AtomProgram:
    """An epilogue that packs pieces into shared memory and stores them by bulk copies of one elected thread."""
    retire = Placed(Retire(GroupKind.BULK, depth - 1 if pending is None else pending, reads_only=True))
    body = [retire, *([Placed(Join(0))] if first else []), Placed(Issue("pack", STORE))]
    body += [Placed(Fence(FenceKind.PROXY))] if fence else []
    body += [Placed(Join(1)), Placed(Issue("D.global", BULK_STORE)), Placed(Commit(GroupKind.BULK))]
    role = RoleBody("all", units=1, threads=128, body=tuple(body))
    return AtomProgram(
        (role,),
        (),
        (
            Obligation("pack", EventKind.DONE, "D.global", 0, "flow pack -> D.global", FenceKind.PROXY),
            Obligation("D.global", EventKind.READ_DONE, "pack", depth, "reuse D.global -> pack"),
        ),
    )


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_pieces_wait_for_the_reads_of_the_store_before(depth: int):
    assert str(check(pieces(depth))) == "proved"
    assert faults(pieces(depth), PIECES, {"D": depth}) == set()
    for wrong in (pieces(depth, pending=depth), pieces(depth, first=False)):
        assert codes(wrong) == ("covered",)
        assert faults(wrong, PIECES, {"D": depth}, 300)
    assert codes(pieces(depth, fence=False)) == ("covered",)


def test_registers_of_a_warpgroup_multiply_need_their_fence():
    body = (
        Placed(Issue("scale", REGISTERS)),
        Placed(Fence(FenceKind.REGISTER)),
        Placed(Issue("C", WARPGROUP_MULTIPLY)),
        Placed(Commit(WGMMA)),
        Placed(Retire(WGMMA, 0)),
    )
    role = RoleBody("math", units=2, threads=256, body=body)
    needs = (
        Obligation("scale", EventKind.DONE, "C", 0, "flow scale -> C", FenceKind.REGISTER, own=True),
        Obligation("C", EventKind.DONE, "scale", 1, "flow C -> scale", own=True),
    )
    program = AtomProgram((role,), (), needs)
    assert str(check(program)) == "proved"
    assert codes(without(program, role, 1)) == ("covered",)
    assert codes(without(program, role, 4)) == ("covered",)


@pytest.mark.parametrize(
    "program",
    [hopper(), ampere(), plain_reader(meet=True), pieces(2), alternating(turns=True), hopper(2, 0)],
    ids=["hopper", "ampere", "plain reads", "pieces", "alternating", "no window"],
)
def test_no_atom_can_be_left_out(program: AtomProgram):
    for role in program.roles:
        for place, placed in enumerate((*role.body, *role.tail)):
            if not isinstance(placed.atom, Issue):
                assert check(without(program, role, place)).findings, placed


def test_a_needless_meeting_is_named():
    program = ampere()
    role = program.roles[0]
    verdict = check(program.replaced(role, evolve(role, body=(*role.body, Placed(Join(1))))))
    assert set(verdict.codes) == {"synchronisation.needless"}
    assert "serves no requirement" in str(verdict)


def test_bytes_barriers_and_budgets():
    program = hopper()
    load = program.roles[0]
    short = tuple(Placed(Expect("ring", 49151)) if isinstance(p.atom, Expect) else p for p in load.body)
    assert codes(program.replaced(load, evolve(load, body=short))) == ("bytes",)
    halves = [Placed(Issue(name, BULK_LOAD, "ring", 1 << 19)) for name in ("A.shared", "B.shared")]
    large = (load.body[0], Placed(Expect("ring", 1 << 20)), *halves)
    assert "fewer than 1048576 fit" in str(check(program.replaced(load, evolve(load, body=large))))
    role = ampere().roles[0]
    wrong = tuple(Placed(Join(16)) if isinstance(p.atom, Join) else p for p in role.body)
    assert codes(AtomProgram((evolve(role, body=wrong),), (), ring_obligations(4))) == ("barrier",)
    two = (role, evolve(role, name="other"))
    assert "used by all and by other" in str(check(AtomProgram(two, (), ())))
    math = evolve(program.roles[1], registers=256)
    over = evolve(program, roles=(load, math), budget=Budget(shared_bytes=240000))
    assert codes(over) == ("budget",)
    assert len(check(over).findings) == 2


def test_an_op_that_nobody_issues_is_named():
    program = hopper()
    missing = Obligation("E", EventKind.DONE, "C", 0, "flow E -> C")
    verdict = check(evolve(program, obligations=(missing,)), needless=False)
    assert "flow E -> C: no role issues E" in str(verdict)
