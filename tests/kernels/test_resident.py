"""Chained products whose first operand stays in shared memory while the tiles of the others go by: on the tile machine
and in the simulator against float64, and with each part of its synchronisation changed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from isa.mechanisms import IssuedBy
from ptxgen.compute import Compute, f16, f32
from ptxgen.derive import derive
from ptxgen.derive.part import threads_of
from ptxgen.derive.space import IndexSpace
from ptxgen.errors import InternalError, PlanError
from ptxgen.kernels import GeneratedKernel, chained_compute
from ptxgen.kernels.chained import by_warpgroups
from ptxgen.kernels.launching.binding import arrays_in_memory, bind
from ptxgen.kernels.launching.generated import build
from ptxgen.order.atoms import Arrive, Retire
from ptxgen.plan import (
    Fact,
    Plan,
    aligned,
    blocks,
    convert,
    fragments,
    multiple,
    role,
    shared,
    st,
    swizzle,
    tensor,
    warpgroups,
    wgmma,
)
from ptxgen.prove.proof import check_meetings
from ptxgen.prove.trees import check_program
from ptxgen.tile import Arrive as ArriveNode
from ptxgen.tile import Arriving, Copy, ForEachItem, Loop, Program, show
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.reading import read
from ptxgen.tile.rewriting import replaced, spots
from ptxgen.verify import verify
from tests.kernels.cases import judge
from tests.kernels.test_boxed_kernels import given, made
from tests.prove.changes import changes, program_with
from tests.prove.edits import edits

TERMS = 64
Sizes = dict[str, int]
RUNS: tuple[tuple[Sizes, int | None], ...] = (
    ({"M": 192, "J": 64, "N": 64}, None),
    ({"M": 128, "J": 200, "N": 136}, 1),
    ({"M": 192, "J": 0, "N": 64}, 2),
    ({"M": 72, "J": 328, "N": 8}, 3),
)


def planned(compute: Compute, facts: Iterable[Fact], target: str, **choices: Any) -> Plan:
    small: dict[str, Any] = {"i": 64, "n": 64, "depth": 2, "workers": 1}
    return by_warpgroups(Plan(compute, target).assume(*facts), **small | choices)


@cache
def kernel(terms: int = TERMS, **choices: Any) -> GeneratedKernel:
    def planner(compute: Compute, facts: Iterable[Fact], target: str) -> Plan:
        return planned(compute, facts, target, **choices)

    compute = chained_compute(f32, terms)
    return made(compute, planner, given(compute, {"M": 64, "J": 64, "N": 64}))


def on_machine(program: Program, sizes: Sizes, seed: int | None, terms: int = TERMS) -> None:
    """A run without a fault, near float64."""
    arrays = given(chained_compute(f32, terms), sizes)
    known = dict(bind(arrays_in_memory(chained_compute(f32, terms)), arrays).sizes)
    known.update({"ldb": 64} if not sizes["J"] else {})
    walked = program.grid.work_list is not None
    memories = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    left = run(program, memories, known, seed=seed, workers=1 if walked else None).arrays["E"]
    inner = (arrays["A"].astype(np.float32) @ arrays["B"].astype(np.float32)).astype(np.float16)
    assert np.abs(left - inner.astype(float) @ arrays["D"].astype(float)).max(initial=0) < 0.5


def shown(program: Program, runs: Iterable[tuple[Sizes, int | None]] = RUNS) -> str:
    """The first fault in some runs, a wrong product among them; nothing where there is none."""
    for sizes, seed in runs:
        try:
            on_machine(program, sizes, seed)
        except MachineFault as fault:
            return fault.code
        except AssertionError:
            return "wrong"
    return ""


CHOICES: tuple[dict[str, Any], ...] = ({}, {"workers": None}, {"depth": 3, "i": 128}, {"terms": 128})


@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_the_machine_finds_no_fault_and_trees_are_accepted(choices: dict[str, Any]) -> None:
    program = kernel(**choices).program
    for sizes, seed in RUNS:
        on_machine(program, sizes, seed, choices.get("terms", TERMS))
    assert read(show(program)) == program
    assert check_program(program).accepted


def test_it_is_copied_once_for_each_item() -> None:
    """Outside the loop over the tiles of B and D, in the one over items."""
    program = kernel().program
    (load,) = (role for role in program.roles if role.elected)
    around = {}
    found = {spot.steps: node for spot, node in spots(program) if spot.role == load.name}
    for steps, node in found.items():
        if isinstance(node, Copy):
            above = [found[steps[:n]] for n in range(1, len(steps)) if steps[:n] in found]
            around[node.op] = [type(each) for each in above if isinstance(each, Loop | ForEachItem)]
    assert around == {"A.shared": [ForEachItem], "B.shared": [ForEachItem, Loop], "D.shared": [ForEachItem, Loop]}


@pytest.mark.parametrize("size", [(64, 64, 64), (72, 136, 200), (8, 8, 8), (136, 328, 64)], ids=str)
@pytest.mark.parametrize("choices", [{"workers": 2}, {"workers": None, "terms": 128}], ids=str)
def test_simulated_bits_are_those_of_the_loop(size: tuple[int, int, int], choices: dict[str, Any]) -> None:
    found = kernel(**choices)
    compute = chained_compute(f32, choices.get("terms", TERMS))
    arrays = given(compute, dict(zip("MJN", size, strict=True)))
    report = found.simulate(arrays)
    if report is not None:
        report.raise_findings()
    judge(compute, arrays, {}, exact=True, target="sm_90a", orders=found.derivation.signature())
    assert verify(found.module) == ()


def test_a_program_that_was_read_gives_the_same_kernel() -> None:
    again = build(read(show(kernel().program)))
    assert str(again.listing) == str(kernel().listing)


def outcomes(every: int) -> dict[str, int]:
    """How many edits the judge of trees refuses, and how many are harmless on the machine."""
    counts = {"refused": 0, "harmless": 0}
    for edit in list(edits(kernel().program))[::every]:
        accepted = check_program(edit.program).accepted
        if accepted:
            assert not shown(edit.program), f"{edit} is accepted, and the machine shows a fault"
        counts["harmless" if accepted else "refused"] += 1
    return counts


def judged(every: int) -> dict[str, int]:
    """The same of the atoms: what their judge lets go the judge of trees accepts too, and the machine."""
    derivation, counts = kernel().derivation, {"refused": 0, "harmless": 0}
    (part,), threads = derivation.parts, threads_of(IndexSpace(derivation.plan))
    for change in list(changes(part.synchronised))[::every]:
        try:
            accepted = check_meetings(change.result, part.requirements, needless=False, threads=threads).accepted
        except InternalError:
            accepted = False
        if accepted:
            program = program_with(derivation, 0, change.result)
            verdict = check_program(program)
            accepted = "synchronisation.control" not in verdict.codes
            assert not accepted or verdict.accepted, f"{change}: {verdict}"
            assert not accepted or not shown(program), change
        counts["harmless" if accepted else "refused"] += 1
    return counts


def test_a_sample_of_edits_and_changes() -> None:
    for counts in (outcomes(every=9), judged(every=9)):
        assert counts["refused"] > counts["harmless"]


@pytest.mark.slow
def test_every_edit_and_every_change() -> None:
    for counts in (outcomes(every=1), judged(every=1)):
        print(counts)
        assert counts["refused"] > 2 * counts["harmless"]


def test_one_thread_of_a_warpgroup_does_not_speak_for_the_others() -> None:
    """Where there are no tiles of B, no product tells it how far they are: each warp frees the slot itself."""
    program = kernel().program
    spot, node = next((s, n) for s, n in spots(program) if isinstance(n, ArriveNode) and n.ring == "A.shared")
    assert node.by is Arriving.WARP
    alone = replaced(program, spot, evolve(node, by=Arriving.WARPGROUP))
    rings = tuple(evolve(ring, empty_count=1) if ring.name == "A.shared" else ring for ring in alone.rings)
    assert "synchronisation.kept" in check_program(evolve(alone, rings=rings)).codes
    derivation = kernel().derivation
    (part,), threads = derivation.parts, threads_of(IndexSpace(derivation.plan))
    whole = part.synchronised
    atom = next(a for a in whole.atoms if isinstance(a.atom, Arrive) and a.atom.ring == "A.shared")
    assert isinstance(atom.atom, Arrive)
    elected = evolve(atom, atom=evolve(atom.atom, by=IssuedBy.ELECTED))
    uses = tuple(evolve(use, empty_count=1) if use.name == "A.shared" else use for use in whole.rings)
    atoms = tuple(elected if other is atom else other for other in whole.atoms)
    verdict = check_meetings(evolve(whole, atoms=atoms, rings=uses), part.requirements, needless=False, threads=threads)
    assert verdict.codes == ("synchronisation.ends",)
    assert "how far the other warps are" in str(verdict)


def test_a_wait_that_the_first_step_lacks_frees_no_slot() -> None:
    """One before the reader does not stand for it."""
    derivation = kernel().derivation
    (part,), threads = derivation.parts, threads_of(IndexSpace(derivation.plan))
    released = next(a for a in part.synchronised.atoms if isinstance(a.atom, Arrive) and "D.shared" in a.atom.ring)
    own = [a for a in part.synchronised.atoms if isinstance(a.atom, Retire) and a.time.loops == released.time.loops]
    behind = max((a for a in own if a.time.place < released.time.place), key=lambda atom: atom.time.place)
    late = evolve(behind, time=evolve(behind.time, ahead=(*behind.time.ahead[:-1], -1)))
    atoms = tuple(late if other is behind else other for other in part.synchronised.atoms)
    changed = evolve(part.synchronised, atoms=atoms)
    verdict = check_meetings(changed, part.requirements, needless=False, threads=threads)
    assert "synchronisation.ends" in verdict.codes
    assert not check_program(program_with(derivation, 0, changed)).accepted


def test_a_tile_that_has_not_all_terms_does_not_stay() -> None:
    compute = chained_compute(f32, TERMS)
    plan = Plan(compute, "sm_90a").tile("cta", i=64, j=64, k=64, n=64).place("cta", onto=blocks)
    plan = plan.tile("group", i=64).place("group", onto=warpgroups)
    with pytest.raises(PlanError, match=r"the loop cta\.k inside cta goes from one tile of A to the next"):
        derive(staged(plan))


def staged(plan: Plan) -> Plan:
    plan = plan.assume(*(multiple(name, 8) for name in ("lda", "ldb", "ldd", "lde")), *aligned(*"ABDE", bytes=16))
    for name, at in (("A", "cta"), ("B", "cta.k"), ("D", "cta.j")):
        plan = plan.stage(name, at=at, into=shared(2, swizzle(128)), by=tensor)
    plan = plan.roles(load=role("A.shared", "B.shared", "D.shared", warps=4), math=role())
    plan = plan.multiply("AB", wgmma(64, f32), at="group").stage("P", at="group", into=fragments(1), by=convert(f16))
    plan = plan.multiply("PD", wgmma(64, f32), at="group", a="registers")
    return plan.drain("E", through=None, by=st(16))
