"""Proxy fences where several rings, or products beside warps that read by themselves, free slots in one loop: what the
judge of atoms lets pass, the judge of trees does too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from attrs import evolve

from polyhedral import Set, var
from ptxgen.derive import Derivation, derive
from ptxgen.order.atoms import Arrive, Expect, Fence, FenceKind, Wait
from ptxgen.order.ops import Op
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.plan import Plan, aligned, multiple
from ptxgen.plan.facts import Fact
from ptxgen.prove.trees import check_program
from tests.kernels.test_further_programs import rated, rated_plan, weighted, weighted_plan
from tests.prove.changes import changes, judged, program_with

LOOP, COVERED = "cta.k", "synchronisation.covered"


def facts(names: str) -> tuple[Fact, ...]:
    return (*(multiple(f"ld{n.lower()}", 8) for n in names), *aligned(*names, bytes=16))


def with_weights(depth: int) -> Derivation:
    plan = Plan(weighted(sum_first=True), "sm_90a").assume(*facts("ABDX"))
    return derive(weighted_plan(plan, depth))


def with_rates(*, weights_first: bool, workers: int | None) -> Derivation:
    plan = Plan(rated(weights_first=weights_first), "sm_90a").assume(*facts("XWY"))
    return derive(rated_plan(plan, workers=workers))


def fences(given: Synchronised) -> list[Synchronisation]:
    return [atom for atom in given.atoms if atom.atom == Fence(FenceKind.PROXY) and atom.time.loops]


def instead(given: Synchronised, atom: Synchronisation, other: Synchronisation) -> Synchronised:
    return evolve(given, atoms=tuple(other if each is atom else each for each in given.atoms))


def moved(domain: Set, by: int) -> Set:
    name = domain.dims[-1]
    return Set(domain.dims, tuple(piece.substitute({name: var(name) + by}) for piece in domain.pieces))


def cut(given: Synchronised) -> Iterator[Synchronised]:
    """Each fence without the first or the last step of its loop."""
    for fence in fences(given):
        for by in (-1, 1):
            yield instead(given, fence, evolve(fence, domain=fence.domain & moved(fence.domain, by)))


@pytest.mark.parametrize("depth", [3, 4], ids=["one ring", "two rings"])
def test_a_fence_that_some_step_lacks_is_refused_where_releases_follow_the_loop(depth: int) -> None:
    derivation = with_weights(depth)
    assert not judged(derivation, derivation.parts[0].synchronised)
    results = [*cut(derivation.parts[0].synchronised)]
    assert results
    for result in results:
        assert judged(derivation, result)


@pytest.mark.parametrize("workers", [None, 3])
@pytest.mark.parametrize("weights_first", [True, False])
def test_what_is_accepted_of_changed_fences_the_judge_of_trees_accepts(
    *, weights_first: bool, workers: int | None
) -> None:
    derivation = with_rates(weights_first=weights_first, workers=workers)
    given = derivation.parts[0].synchronised
    others = [change.result for change in changes(given) if "proxy fence" in change.what]
    verdicts = [(judged(derivation, other), other) for other in (*others, *cut(given))]
    assert sum(1 for found, _ in verdicts if found) > len(fences(given))
    for found, other in verdicts:
        assert found or check_program(program_with(derivation, 0, other)).accepted


def shorter(given: Synchronised, steps: int) -> Synchronised:
    """The ring of A and B, and what reads it, without the last steps of the loop."""

    def fewer(domain: Set) -> Set:
        return domain & moved(domain, steps)

    def op(each: Op) -> Op:
        inside = each.time.loops[-1:] == (LOOP,) and each.name.startswith(("A", "B"))
        return evolve(each, domain=fewer(each.domain)) if inside else each

    def atom(each: Synchronisation) -> Synchronisation:
        own = isinstance(each.atom, Wait | Arrive | Expect) and "A" not in each.atom.ring
        inside = each.time.loops[-1:] == (LOOP,) and not own and each.atom != Fence(FenceKind.PROXY) and not each.tail
        return evolve(each, domain=fewer(each.domain)) if inside else each

    return evolve(given, ops=tuple(map(op, given.ops)), atoms=tuple(map(atom, given.atoms)))


def behind_its_release(given: Synchronised) -> Synchronised:
    """The fence of X behind the arrival that frees X's slot, before that of A and B."""
    (fence,) = fences(given)
    (freed,) = [
        a for a in given.atoms if isinstance(a.atom, Arrive) and a.role == fence.role and "A" not in a.atom.ring
    ]
    return instead(instead(given, fence, evolve(fence, time=freed.time)), freed, evolve(freed, time=fence.time))


def test_a_ring_with_fewer_steps_frees_no_slots_of_another_one() -> None:
    """With all steps the fence behind X's release stands before that of A and B, which the next filling of X follows;
    where A and B have fewer, nothing does."""
    derivation = with_weights(4)
    given = derivation.parts[0].synchronised
    assert not judged(derivation, behind_its_release(given))
    assert COVERED not in judged(derivation, shorter(given, 2))
    assert COVERED in judged(derivation, shorter(behind_its_release(given), 2))
