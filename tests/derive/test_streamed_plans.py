"""Plans written by hand whose slabs are streamed: operands that come to shared memory in two ways."""

from __future__ import annotations

import inspect

import pytest

from ptxgen.compute import f32
from ptxgen.derive import derive
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, MatmulSpec, matmul_compute
from ptxgen.plan import (
    By,
    Plan,
    aligned,
    cp_async,
    fragments,
    free,
    ld,
    ldmatrix,
    m16n8k16,
    multiple,
    registers,
    shared,
    st,
    swizzle,
    warps,
)

PAST, THROUGH = cp_async(16), st(16)


def streamed(a: By, b: By) -> Plan:
    """Both operands prefetched by one slab, each copied past the registers or through them."""
    facts = [multiple(name, 8) for name in ("K", "lda", "N", "ldb")]
    plan = Plan(matmul_compute(MatmulSpec(Layout.NN)), "sm_80").assume(*facts, *aligned("A", "B", bytes=16))
    plan = plan.tile("cta", i=32, j=32, k=16).persist("cta", workers=2)
    plan = plan.tile("warp", i=16, j=16).place("warp", onto=warps).tile("step", k=16)
    for name, by in (("A", a), ("B", b)):
        if by == THROUGH:
            plan = plan.stage(name, at="cta.k", into=registers(), by=ld(16))
    for name, by in (("A", a), ("B", b)):
        layout = swizzle(32) if (name, by) == ("A", PAST) else free
        plan = plan.stage(name, at="cta.k", into=shared(2, layout), by=by)
    for name in ("A", "B"):
        plan = plan.stage(name, at="step.k", into=fragments(1), by=ldmatrix(4))
    plan = plan.multiply("AB", m16n8k16(f32), at="step.k")
    through = [f"{n}.{where}" for n, by in (("A", a), ("B", b)) if by == THROUGH for where in ("registers", "shared")]
    if through:
        plan = plan.shift(*through, ahead=1, at="cta.k")
    past = [f"{n}.shared" for n, by in (("A", a), ("B", b)) if by == PAST]
    if past:
        plan = plan.shift(*past, ahead=1, at="cta.k")
    return plan.unroll("step.k").finish("D", at="warp").stream("k").drain("D", through=None, by=st(16))


@pytest.mark.parametrize("by", [PAST, THROUGH])
def test_operands_that_come_in_one_way_are_streamed(by: By) -> None:
    assert derive(streamed(by, by)).program.grid.work_list


def test_operands_that_come_in_two_ways_are_refused_on_the_line_of_the_shift() -> None:
    with pytest.raises(PlanError) as refused:
        derive(streamed(PAST, THROUGH))
    words = str(refused.value)
    assert "shift(A.shared, ahead=1, at=cta.k): stream(k, join=ordered) wants operands that are prefetched" in words
    assert "A.shared by cp_async and B.shared through registers: copy all by cp_async, or all" in words
    lines, first = inspect.getsourcelines(streamed)
    assert refused.value.line is not None
    assert "plan.shift(*past" in lines[refused.value.line.line - first]
