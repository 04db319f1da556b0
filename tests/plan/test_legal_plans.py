"""Plans that must be accepted: each derived and run, on the tile machine, against float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ptxgen.compute import f32
from ptxgen.derive import derive
from ptxgen.plan import (
    Plan,
    aligned,
    blocks,
    congruous,
    crosswise,
    fragments,
    grouped,
    ld,
    linear,
    m8n8k4,
    multiple,
    registers,
    shared,
    st,
    warps,
)
from tests.derive.computes import matmul, multiplied, pipelined, staged, tiled, volta
from tests.derive.test_derived_programs import check_matmul


def without_facts() -> Plan:
    plan = Plan(matmul(), "sm_70").tile("cta", i=64, j=64, k=16).place("cta", onto=blocks)
    return pipelined(multiplied(staged(plan.tile("warp", i=32, j=32).place("warp", onto=warps).tile("step", k=4))))


def straight_from_memory() -> Plan:
    plan = Plan(matmul(), "sm_70").tile("cta", i=32, j=32, k=4).place("cta", onto=blocks)
    plan = plan.tile("warp", i=16, j=16).place("warp", onto=warps)
    for array in ("A", "B"):
        plan = plan.stage(array, at="cta.k", into=fragments(1), by=ld(8))
    return plan.multiply("C", m8n8k4(f32), at="cta.k").finish("D", at="warp").drain("D", through=None, by=st(8))


def with_layouts(a: object, b: object) -> Plan:
    plan = tiled(matmul())
    for array, wish in (("A", a), ("B", b)):
        plan = (
            plan.stage(array, at="cta.k", into=registers(), by=ld(16))
            .stage(array, at="cta.k", into=shared(2, wish), by=st(16))  # type: ignore[arg-type]
            .stage(array, at="step.k", into=fragments(2), by=ld(16))
        )
    return pipelined(multiplied(plan))


def narrow_accesses(load: int, store: int, fetch: int) -> Plan:
    plan = tiled(matmul())
    for array in ("A", "B"):
        plan = (
            plan.stage(array, at="cta.k", into=registers(), by=ld(load))
            .stage(array, at="cta.k", into=shared(2), by=st(store))
            .stage(array, at="step.k", into=fragments(2), by=ld(fetch))
        )
    return pipelined(multiplied(plan))


def registers_ahead_only() -> Plan:
    plan = multiplied(staged(tiled(matmul(), k=16)))
    return plan.shift("A.registers", "B.registers", ahead=1, at="cta.k").sequence(
        "cta.k", "A.shared", "B.shared", "A.registers", "B.registers"
    )


def known_sizes() -> Plan:
    plan = Plan(matmul(), "sm_70").assume(
        multiple("lda", 8), multiple("ldb", 8), multiple("ldd", 8), multiple("K", 8), multiple("N", 8)
    )
    plan = plan.assume(aligned("A", "B", "D", bytes=16)).tile("cta", i=128, j=128, k=32)
    plan = plan.place("cta", onto=blocks, raster=grouped(4)).tile("warp", i=64, j=64).place("warp", onto=warps)
    return pipelined(multiplied(staged(plan.tile("step", k=4)))).isolate("cta")


def columns_first() -> Plan:
    plan = Plan(matmul(), "sm_70").tile("cta", j=64, i=128, k=32).place("cta", onto=blocks, dims=("j", "i"))
    plan = plan.tile("warp", j=32, i=64).place("warp", onto=warps, dims=("j", "i"))
    return pipelined(multiplied(staged(plan.tile("step", k=4))))


def one_operand_ahead() -> Plan:
    return multiplied(staged(tiled(matmul()))).shift("A.registers", "A.shared", ahead=1, at="cta.k")


VARIANTS: dict[str, Callable[[], Plan]] = {
    "default": volta,
    "no isolation": lambda: pipelined(multiplied(staged(tiled(matmul())))),
    "no pipeline": lambda: multiplied(staged(tiled(matmul()))),
    "slab ahead only": lambda: multiplied(staged(tiled(matmul()))).shift(
        "A.registers", "B.registers", "A.shared", "B.shared", ahead=1, at="cta.k"
    ),
    "two slabs ahead": lambda: multiplied(staged(tiled(matmul(), k=8), depth=4)).shift(
        "A.registers", "B.registers", "A.shared", "B.shared", ahead=2, at="cta.k"
    ),
    "depth one": lambda: pipelined(multiplied(staged(tiled(matmul()), depth=1))),
    "depth three": lambda: pipelined(multiplied(staged(tiled(matmul(), k=16), depth=3))),
    "ring of four": lambda: pipelined(multiplied(staged(tiled(matmul(), 64, 64, warp=(32, 32)), ring=4))),
    "ring of one": lambda: multiplied(staged(tiled(matmul()), ring=1)),
    "registers ahead": registers_ahead_only,
    "one operand ahead": one_operand_ahead,
    "eight warps": lambda: pipelined(multiplied(staged(tiled(matmul(), warp=(64, 32))))).isolate("cta"),
    "one warp": lambda: pipelined(multiplied(staged(tiled(matmul(), 32, 32, 16, (32, 32))))).isolate("cta"),
    "two warps": lambda: pipelined(multiplied(staged(tiled(matmul(), 64, 32, 16, (32, 32))))).isolate("cta"),
    "smallest tiles": lambda: pipelined(multiplied(staged(tiled(matmul(), 16, 16, 8, (16, 16))))),
    "wide": lambda: pipelined(multiplied(staged(tiled(matmul(), 64, 256, 16, (64, 64))))),
    "tall": lambda: pipelined(multiplied(staged(tiled(matmul(), 256, 64, 16, (64, 64))))),
    "long slab": lambda: pipelined(multiplied(staged(tiled(matmul(), 64, 64, 64, (32, 32))))),
    "no facts": without_facts,
    "known sizes": known_sizes,
    "straight from memory": straight_from_memory,
    "linear layouts": lambda: with_layouts(linear, linear),
    "named layouts": lambda: with_layouts(crosswise, congruous),
    "narrow loads": lambda: narrow_accesses(8, 8, 16),
    "narrow fetches": lambda: narrow_accesses(16, 16, 8),
    "columns first": columns_first,
}


@pytest.mark.parametrize("name", VARIANTS)
def test_accepted_and_correct(name: str) -> None:
    program = derive(VARIANTS[name]()).program
    for shape in ((40, 72, 40), (130, 128, 97)) if name != "known sizes" else ((40, 72, 40), (130, 128, 96)):
        check_matmul(program, "nn", *shape)


def test_every_step_prints_what_it_changes() -> None:
    text = str(volta())
    assert "tile(cta, i=128, j=128, k=32)" in text
    assert "C: i<M, j<N, k<K  ->  cta.i, cta.j, cta.k, i<128, j<128, k<32" in text
    assert "shift(A.fragments, B.fragments, ahead=1, at=step.k)" in text
