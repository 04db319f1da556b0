"""What the target, the budgets or the meaning of a plan do not allow: refused by derive, on the line of the step."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from ptxgen.compute import Compute, ComputeBuilder, ReductionOp, f16, f32
from ptxgen.derive import derive
from ptxgen.errors import PlanError, UnsupportedError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling
from ptxgen.plan import Plan, blocks, fragments, ld, m8n8k4, registers, shared, st, warps
from tests.derive.computes import matmul, multiplied, pipelined, staged, tiled
from tests.kernels.clusters import FACTS


def largest_product() -> Compute:
    c = ComputeBuilder("largest")
    i, j, k = c.dims(i="M", j="N", k="K")
    a, b = c.input("A", f16, (i, k), ("lda", 1)), c.input("B", f16, (k, j), ("ldb", 1))
    most, d = c.local("C", f32, (i, j)), c.output("D", f16, (i, j), ("ldd", 1))
    c.reduce(ReductionOp.MAXIMUM, most[i, j], a[i, k] * b[k, j], (i, j, k), (k,))
    c.define(d[i, j], most[i, j], (i, j))
    return c.build()


def square() -> Compute:
    c = ComputeBuilder("square")
    i, j, k = c.dims(i="M", j="M", k="K")
    a = c.input("A", f16, (i, k), ("lda", 1))
    total, d = c.local("C", f32, (i, j)), c.output("D", f16, (i, j), ("ldd", 1))
    c.reduce(ReductionOp.ADD, total[i, j], a[i, k] * a[j, k], (i, j, k), (k,))
    c.define(d[i, j], total[i, j], (i, j))
    return c.build()


def largest_by_multiplying() -> None:
    plan = Plan(largest_product(), "sm_70").tile("cta", i=64, j=64, k=32).place("cta", onto=blocks)
    plan = staged(plan.tile("warp", i=32, j=32).place("warp", onto=warps).tile("step", k=4))
    derive(plan.multiply("C", m8n8k4(f32), at="step.k").unroll("step.k"))  # refused


def one_array_twice() -> None:
    plan = Plan(square(), "sm_70").tile("cta", i=64, j=64, k=32).place("cta", onto=blocks)
    plan = plan.tile("warp", i=32, j=32).place("warp", onto=warps).tile("step", k=4)
    plan = plan.stage("A", at="cta.k", into=registers(), by=ld(16)).stage("A", at="cta.k", into=shared(2), by=st(16))
    plan = plan.stage("A", at="step.k", into=fragments(2), by=ld(16))
    derive(plan.multiply("C", m8n8k4(f32), at="step.k").unroll("step.k"))


def before_tensor_cores() -> None:
    plan = Plan(matmul(), "sm_60").tile("cta", i=64, j=64, k=32).place("cta", onto=blocks)
    plan = staged(plan.tile("warp", i=32, j=32).place("warp", onto=warps).tile("step", k=4))
    derive(plan.multiply("C", m8n8k4(f32), at="step.k").unroll("step.k"))  # refused


def multiplied_above_its_steps() -> None:
    plan = staged(tiled(matmul()))
    derive(plan.multiply("C", m8n8k4(f32), at="warp").unroll("step.k"))  # refused


def too_many_shared_bytes() -> None:
    derive(pipelined(multiplied(staged(tiled(matmul(), m=256, n=128, k=128)))))


CASES: dict[str, tuple[Callable[[], None], str]] = {
    "max by multiplying": (largest_by_multiplying, "m8n8k4 adds products, C does not"),
    "one array twice": (one_array_twice, "is wanted in two forms, as two operands of one array are"),
    "sm_60": (before_tensor_cores, "sm_60 has no mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32"),
    "multiplied at the warp": (multiplied_above_its_steps, "leaves the loop step.k inside the instruction"),
    "shared bytes": (too_many_shared_bytes, "bytes of shared memory, a block has 98304"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused_with_its_reason(name: str) -> None:
    case, words = CASES[name]
    with pytest.raises(PlanError) as caught:
        case()
    assert words in caught.value.reason
    assert caught.value.line is not None
    marked = [number for number, text in enumerate(inspect.getsourcelines(case)[0]) if "# refused" in text]
    if marked:
        assert caught.value.line.line == inspect.getsourcelines(case)[1] + marked[0]


def copied_elements(first_reads_itself: bool) -> Compute:
    c = ComputeBuilder("copies")
    (i,) = c.dims(i="M")
    x = c.input("x", f32, (i,), (1,))
    z, y = c.output("z", f32, (i,), (1,)), c.output("y", f32, (i,), (1,))
    if first_reads_itself:
        c.define(y[i], x[i] * 2.0, (i,))
        c.define(z[i], y[i] + 1.0, (i,))
    else:
        c.define(z[i], x[i] * 2.0, (i,))
        c.define(y[i], z[i] + 1.0, (i,))
    return c.build()


@pytest.mark.parametrize("first_reads_itself", [True, False])
def test_an_array_read_back_by_lanes_that_hold_copies_is_refused(first_reads_itself: bool) -> None:
    plan = Plan(copied_elements(first_reads_itself), "sm_70").tile("cta", i=128).place("cta", onto=blocks)
    with pytest.raises(UnsupportedError, match="in other threads"):
        derive(plan.tile("warp", i=32).place("warp", onto=warps))


def test_a_block_may_ask_for_shared_memory_beyond_the_static_limit() -> None:
    program = derive(pipelined(multiplied(staged(tiled(matmul(), m=128, n=128, k=64))))).program
    assert program.shared_bytes == 2 * 2 * 128 * 64 * 2 > 48 * 1024


def test_sums_that_the_threads_of_a_large_block_do_not_start_with() -> None:
    tiling = MatmulTiling(i=192, j=208, k=64, warps=12, depth=2, isolate=False)
    with pytest.raises(
        PlanError, match=r"64x208 sums takes 104 registers and 26 beside them, each of 512 threads .* 128"
    ):
        Matmul(MatmulSpec(Layout.NT), "sm_90a", tiling).kernel(FACTS)


def test_a_target_that_nobody_knows_is_named_with_those_there_are() -> None:
    with pytest.raises(UnsupportedError, match="unknown target 'sm_7'; known: sm_50"):
        derive(Plan(matmul(), "sm_7").tile("cta", i=64, j=64, k=16).place("cta", onto=blocks))
