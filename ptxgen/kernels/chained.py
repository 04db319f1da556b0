"""Two products one after the other in one kernel: statement and plan."""

from __future__ import annotations

from collections.abc import Iterable

from ptxgen.compute import Compute, ComputeBuilder, Element, ReductionOp, f16, f32
from ptxgen.plan import Fact, Plan, blocks, fragments, ld, m8n8k4, registers, shared, st, warps


def chained_compute(accumulate: Element = f32) -> Compute:
    """`E = f16(A @ B) @ D` for A of M x K, B of K x J and D of J x N, all f16 in rows, both sums in `accumulate`."""
    builder = ComputeBuilder("chained")
    i, j, k, n = builder.dims(i="M", j="J", k="K", n="N")
    a = builder.input("A", f16, (i, k), ("lda", 1))
    b = builder.input("B", f16, (k, j), ("ldb", 1))
    d = builder.input("D", f16, (j, n), ("ldd", 1))
    inner = builder.local("AB", accumulate, (i, j))
    rounded = builder.local("P", f16, (i, j))
    outer = builder.local("PD", accumulate, (i, n))
    e = builder.output("E", f16, (i, n), ("lde", 1))
    builder.reduce(ReductionOp.ADD, inner[i, j], a[i, k] * b[k, j], (i, j, k), (k,))
    builder.define(rounded[i, j], inner[i, j], (i, j))
    builder.reduce(ReductionOp.ADD, outer[i, n], rounded[i, j] * d[j, n], (i, n, j), (j,))
    builder.define(e[i, n], outer[i, n], (i, n))
    return builder.build()


def chained_plan(compute: Compute, facts: Iterable[Fact], target: str) -> Plan:
    """64x64 tiles on 4 warps: for each tile of j the product over k, rounded into shared memory, times D's tile."""
    accumulate = compute.array("AB").element
    plan = Plan(compute, target).assume(*facts)
    plan = plan.tile("cta", i=64, j=64, k=32, n=64).place("cta", onto=blocks)
    plan = plan.tile("warp", i=32, j=32, n=32).place("warp", onto=warps).tile("step", k=4, j=4)
    for name in ("A", "B"):
        plan = plan.stage(name, at="cta.k", into=registers(), by=ld(16))
        plan = plan.stage(name, at="cta.k", into=shared(2), by=st(16))
        plan = plan.stage(name, at="step.k", into=fragments(2), by=ld(16))
    plan = plan.stage("D", at="cta.j", into=registers(), by=ld(16))
    for name in ("P", "D"):
        plan = plan.stage(name, at="cta.j", into=shared(1), by=st(16))
        plan = plan.stage(name, at="step.j", into=fragments(2), by=ld(16))
    plan = plan.multiply("AB", m8n8k4(accumulate), at="step.k").multiply("PD", m8n8k4(accumulate), at="step.j")
    plan = plan.unroll("step.k").unroll("step.j")
    plan = plan.shift("A.registers", "B.registers", "A.shared", "B.shared", ahead=1, at="cta.k")
    return plan.shift("A.fragments", "B.fragments", ahead=1, at="step.k").drain("E", through=None, by=st(16))
