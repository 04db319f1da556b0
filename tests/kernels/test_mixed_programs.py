"""Programs that bring one operand by tensor copies and another, or the results, by threads: warpgroups multiply beside
what is not theirs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from attrs import evolve

from ptxgen.compute import Compute, f32
from ptxgen.derive.part import threads_of
from ptxgen.derive.space import IndexSpace
from ptxgen.emit import emit
from ptxgen.errors import PlanError
from ptxgen.kernels import GeneratedKernel, generate
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.order.atoms import Retire
from ptxgen.plan import (
    Plan,
    aligned,
    blocks,
    cp_async,
    fragments,
    ld,
    ldmatrix,
    multiple,
    registers,
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
from tests.kernels.cases import judge
from tests.kernels.test_boxed_kernels import given
from tests.kernels.test_further_programs import product, weighted

TARGET = "sm_90a"
SIZES = ({"M": 64, "N": 64, "K": 64}, {"M": 136, "N": 72, "K": 328})


def multiplied(plan: Plan, workers: int | None) -> Plan:
    """A warpgroup's product of what another role has copied as boxes."""
    plan = plan.tile("cta", i=64, j=64, k=64)
    plan = plan.persist("cta", workers=workers) if workers else plan.place("cta", onto=blocks)
    plan = plan.tile("group", i=64).place("group", onto=warpgroups)
    for name in ("A", "B"):
        plan = plan.stage(name, at="cta.k", into=shared(3, swizzle(128)), by=tensor)
    plan = plan.roles(load=role("A.shared", "B.shared", warps=4), math=role())
    return plan.multiply("AB", wgmma(64, f32), at="group", in_flight=1)


def by_groups(plan: Plan, workers: int | None) -> Plan:
    """X is copied past the registers, in groups of the threads that multiply, whose products are groups too."""
    plan = multiplied(plan, workers).stage("X", at="cta.k", into=shared(2), by=cp_async(16))
    plan = plan.stage("X", at="cta.k", into=fragments(1), by=ldmatrix(4)).shift("X.shared", ahead=1, at="cta.k")
    return plan.drain("D", through=None, by=st(8))


def by_threads(plan: Plan, workers: int | None) -> Plan:
    """X goes through registers."""
    plan = multiplied(plan, workers).stage("X", at="cta.k", into=registers(), by=ld(16))
    plan = plan.stage("X", at="cta.k", into=shared(2), by=st(16))
    plan = plan.stage("X", at="cta.k", into=fragments(1), by=ldmatrix(4))
    return plan.shift("X.registers", "X.shared", ahead=1, at="cta.k").drain("D", through=None, by=st(8))


def by_rows(plan: Plan, workers: int | None) -> Plan:
    """Results are put where no product reads, and rows of them stored."""
    return multiplied(plan, workers).drain("D", through=shared(1), by=st(16), put=st(8))


Program = tuple[Callable[[], Compute], Callable[[Plan, int | None], Plan]]
PROGRAMS: dict[str, Program] = {
    "X by groups": (partial(weighted, sum_first=True), by_groups),
    "X by groups behind the product": (partial(weighted, sum_first=False), by_groups),
    "X by threads": (partial(weighted, sum_first=True), by_threads),
    "results by rows": (product, by_rows),
}


def made(name: str, workers: int | None, sizes: dict[str, int]) -> tuple[GeneratedKernel, dict[str, Any]]:
    compute, planner = PROGRAMS[name][0](), PROGRAMS[name][1]
    arrays = given(compute, sizes)
    facts = facts_of(compute, bind(arrays_in_memory(compute), arrays))
    return generate(planner(Plan(compute, TARGET).assume(*facts), workers)), arrays


@pytest.mark.parametrize("workers", [None, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_without_a_finding_and_is_right(name: str, workers: int | None) -> None:
    for sizes in SIZES:
        kernel, arrays = made(name, workers, sizes)
        report = kernel.simulate(arrays, {})
        assert report is not None
        report.raise_findings()
        orders = kernel.derivation.signature()
        judge(PROGRAMS[name][0](), arrays, {}, exact=name == "results by rows", target=TARGET, orders=orders)
        assert check_program(kernel.derivation.program).accepted


@pytest.mark.parametrize("name", PROGRAMS)
def test_waits_for_groups_of_one_kind_say_nothing_of_the_other(name: str) -> None:
    kernel, _ = made(name, 2, SIZES[0])
    part, threads = kernel.derivation.parts[0], threads_of(IndexSpace(kernel.plan))
    waits = [atom for atom in part.synchronised.atoms if isinstance(atom.atom, Retire)]
    assert len({atom.atom.kind for atom in waits if isinstance(atom.atom, Retire)}) == (2 if "groups" in name else 1)
    for wait in waits:
        fewer = evolve(part.synchronised, atoms=tuple(a for a in part.synchronised.atoms if a is not wait))
        assert not check_meetings(fewer, part.requirements, needless=False, threads=threads).accepted


def test_only_what_lies_apart_from_products_goes_without_a_fence() -> None:
    """Results that leave as boxes are fenced, and whoever checks the text sees that they are."""
    compute = product()
    plan = Plan(compute, TARGET).assume(*facts_of(compute, bind(arrays_in_memory(compute), given(compute, SIZES[0]))))
    boxes = multiplied(plan, 2).drain("D", through=shared(1, swizzle(128)), by=tensor, pieces={"j": 32}, put=st(8))
    assert "allow" not in emit(generate(boxes).module).text
    assert "// ptxgen: allow proxy.fence" in emit(generate(by_rows(plan, 2)).module).text


def test_a_product_and_warps_read_one_array_in_turn_only_as_two() -> None:
    plan = multiplied(Plan(product(), TARGET), 2).stage("A", at="cta.k", into=fragments(1), by=ldmatrix(4))
    words = (
        r"reads A from shared memory by itself, and stage\(A, at=cta.k, into=fragments\(depth=1\), .* loads it: leave"
    )
    with pytest.raises(PlanError, match=words):
        generate(plan.drain("D", through=None, by=st(8)))


def test_words_are_copied_past_the_registers_only_where_extents_are_known_too() -> None:
    compute = weighted(sum_first=True)
    plan = Plan(compute, TARGET).assume(*(multiple(f"ld{name}", 8) for name in "abdx"))
    plan = plan.assume(*aligned("A", "B", "D", "X", bytes=16))
    with pytest.raises(PlanError, match=r"X.shared: cp.async .* assume more of its address, strides and extents"):
        generate(by_groups(plan, 2))
    generate(by_groups(plan.assume(multiple("K", 8)), 2))
