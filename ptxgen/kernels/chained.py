"""Two products one after the other in one kernel: statement and plans."""

from __future__ import annotations

from collections.abc import Iterable

from ptxgen.compute import Compute, ComputeBuilder, Element, ReductionOp, f16, f32
from ptxgen.kernels.products.alignment import fits_boxes
from ptxgen.kernels.products.generations import has_warpgroups
from ptxgen.plan import (
    Fact,
    Plan,
    Workers,
    blocks,
    convert,
    fragments,
    ld,
    m8n8k4,
    registers,
    role,
    shared,
    sms,
    st,
    swizzle,
    tensor,
    warpgroups,
    warps,
    wgmma,
)
from ptxgen.tile import is_power

SLAB = 64
GROUP_ROWS = 64


def chained_compute(accumulate: Element = f32, terms: int | None = None) -> Compute:
    """`E = f16(A @ B) @ D` for A of M x K, B of K x J and D of J x N, all f16 in rows, both sums in `accumulate`. With
    `terms` K is that number."""
    builder = ComputeBuilder("chained")
    i, j, k, n = builder.dims(i="M", j="J", k="K" if terms is None else terms, n="N")
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
    """For each tile of j the product over k, rounded, times D's tile: by warpgroups where the target has them and the
    facts allow tensor copies, else by warps."""
    plan = Plan(compute, target).assume(*facts)
    if has_warpgroups(target) and fits_boxes(plan, "A", "B", "D"):
        return by_warpgroups(plan)
    return _by_warps(plan)


def by_warpgroups(
    plan: Plan,
    i: int = 128,
    n: int = 128,
    depth: int = 4,
    window: int = 1,
    workers: int | Workers | None = sms,
    turns: tuple[str, ...] = (),
) -> Plan:
    """A warpgroup for each 64 rows of a block's tile of `i` x `n`; one thread has the tiles of A and B copied into one
    ring and those of D into another. What the inner product leaves in registers is operand A of the outer one.

    Where K is a power of two, one tile of A has all of it: it is copied once for each tile of the result, and stays
    while those of B and D go by. The warpgroups take the products named in `turns` one after the other for each tile of
    j: "AB" among them only where its tiles stay, since a turn over all slabs of k would keep them from being freed.
    """
    accumulate = plan.compute.array("AB").element
    stays = _stays(plan)
    plan = plan.tile("cta", **{"i": i, "j": SLAB, **({} if stays else {"k": SLAB}), "n": n})
    plan = plan.place("cta", onto=blocks) if workers is None else plan.persist("cta", workers=workers)
    plan = plan.tile("group", i=GROUP_ROWS).place("group", onto=warpgroups)
    first = (("A", "cta", 1), ("B", "cta.j", depth)) if stays else (("A", "cta.k", depth), ("B", "cta.k", depth))
    for name, at, slots in (*first, ("D", "cta.j", 2)):
        plan = plan.stage(name, at=at, into=shared(slots, swizzle(128)), by=tensor)
    plan = plan.roles(load=role("A.shared", "B.shared", "D.shared", warps=4), math=role())
    plan = plan.multiply("AB", wgmma(SLAB, accumulate), at="group", in_flight=0 if stays else window)
    plan = plan.stage("P", at="group", into=fragments(1), by=convert(f16))
    plan = plan.multiply("PD", wgmma(n, accumulate), at="group", a="registers")
    if turns:
        plan = plan.turns("math", "cta.j", *turns)
    return plan.drain("E", through=None, by=st(16))


def _stays(plan: Plan) -> bool:
    """Whether one tile of A has all terms of the inner product."""
    terms = plan.compute.array("A").extents[1]
    return terms.is_constant and is_power(terms.constant)


def _by_warps(plan: Plan) -> Plan:
    """64x64 tiles on 4 warps; the rounded inner product goes through shared memory."""
    accumulate = plan.compute.array("AB").element
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
