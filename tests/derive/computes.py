"""Four statements of different shape with plans for sm_70, and their float64 references."""

from __future__ import annotations

import numpy as np

from ptxgen.compute import Compute, ComputeBuilder, ReductionOp, exp, f16, f32, relu
from ptxgen.plan import (
    Plan,
    aligned,
    blocks,
    cp_async,
    fragments,
    grouped,
    ld,
    ldmatrix,
    m8n8k4,
    m16n8k16,
    multiple,
    registers,
    role,
    shared,
    st,
    swizzle,
    tensor,
    warpgroups,
    warps,
    wgmma,
)


def matmul(layout: str = "nn", bias: bool = True) -> Compute:
    """D = relu(A @ B + bias), each operand as it lies (n) or transposed (t)."""
    c = ComputeBuilder("matmul")
    i, j, k = c.dims(i="M", j="N", k="K")
    a = c.input("A", f16, (i, k), ("lda", 1) if layout[0] == "n" else (1, "lda"))
    b = c.input("B", f16, (k, j), ("ldb", 1) if layout[1] == "n" else (1, "ldb"))
    added = c.input("bias", f32, (j,), (1,)) if bias else None
    product = c.local("C", f32, (i, j))
    d = c.output("D", f16, (i, j), ("ldd", 1))
    c.reduce(ReductionOp.ADD, product[i, j], a[i, k] * b[k, j], (i, j, k), (k,))
    value = product[i, j] + added[j] if added is not None else product[i, j] * 1.0
    c.define(d[i, j], relu(value), (i, j))
    return c.build()


def tiled(compute: Compute, m: int = 128, n: int = 128, k: int = 32, warp: tuple[int, int] = (64, 64)) -> Plan:
    """The outer steps of a Volta plan: facts, tiles, blocks and warps."""
    return (
        Plan(compute, "sm_70")
        .assume(multiple("lda", 8), multiple("ldb", 8), multiple("ldd", 8), aligned("A", "B", "D", bytes=16))
        .tile("cta", i=m, j=n, k=k)
        .place("cta", onto=blocks, raster=grouped(8))
        .tile("warp", i=warp[0], j=warp[1])
        .place("warp", onto=warps)
        .tile("step", k=4)
    )


def staged(plan: Plan, depth: int = 2, ring: int = 2) -> Plan:
    """Registers, shared memory and fragments for both operands."""
    for array in ("A", "B"):
        plan = (
            plan.stage(array, at="cta.k", into=registers(), by=ld(16))
            .stage(array, at="cta.k", into=shared(depth), by=st(16))
            .stage(array, at="step.k", into=fragments(ring), by=ld(16))
        )
    return plan


def multiplied(plan: Plan) -> Plan:
    """The product and the epilogue."""
    return (
        plan.multiply("C", m8n8k4(f32), at="step.k")
        .unroll("step.k")
        .finish("D", at="warp")
        .drain("D", through=None, by=st(8))
    )


def pipelined(plan: Plan) -> Plan:
    """One slab ahead through registers and shared memory, one step ahead in fragments."""
    plan = plan.shift("A.registers", "B.registers", "A.shared", "B.shared", ahead=1, at="cta.k")
    return plan.shift("A.fragments", "B.fragments", ahead=1, at="step.k")


def volta(compute: Compute | None = None) -> Plan:
    """The whole Volta plan."""
    return pipelined(multiplied(staged(tiled(compute or matmul())))).isolate("cta")


def ampere(compute: Compute | None = None, depth: int = 3, tile: tuple[int, int, int] = (128, 128, 32)) -> Plan:
    """The whole Ampere plan: copies past the registers, fragments by matrices."""
    plan = (
        Plan(compute or matmul(), "sm_80")
        .assume(multiple("lda", 8), multiple("ldb", 8), multiple("ldd", 8), aligned("A", "B", "D", bytes=16))
        .assume(multiple("M", 8), multiple("N", 8), multiple("K", 8))
        .tile("cta", i=tile[0], j=tile[1], k=tile[2])
        .place("cta", onto=blocks, raster=grouped(8))
        .tile("warp", i=tile[0] // 2, j=tile[1] // 2)
        .place("warp", onto=warps)
        .tile("step", k=16)
    )
    for array in ("A", "B"):
        plan = plan.stage(array, at="cta.k", into=shared(depth), by=cp_async(16)).stage(
            array, at="step.k", into=fragments(2), by=ldmatrix(4)
        )
    return (
        plan.multiply("C", m16n8k16(f32), at="step.k")
        .shift("A.shared", "B.shared", ahead=depth - 1, at="cta.k")
        .shift("A.fragments", "B.fragments", ahead=1, at="step.k")
        .unroll("step.k")
        .finish("D", at="warp")
        .drain("D", through=None, by=st(8))
        .isolate("cta")
    )


def hopper(
    compute: Compute | None = None, depth: int = 3, in_flight: int = 1, tile: tuple[int, int, int] = (128, 128, 64)
) -> Plan:
    """The whole Hopper plan: one thread has boxes copied, warpgroups multiply what has landed."""
    plan = (
        Plan(compute or matmul("nt"), "sm_90a")
        .assume(multiple("lda", 8), multiple("ldb", 8), multiple("ldd", 8), aligned("A", "B", "D", bytes=16))
        .tile("cta", i=tile[0], j=tile[1], k=tile[2])
        .place("cta", onto=blocks, raster=grouped(8))
        .tile("group", i=64)
        .place("group", onto=warpgroups)
    )
    for array in ("A", "B"):
        plan = plan.stage(array, at="cta.k", into=shared(depth, swizzle(128)), by=tensor)
    return (
        plan.roles(load=role("A.shared", "B.shared", warps=4), math=role())
        .multiply("C", wgmma(tile[1], f32), at="group", in_flight=in_flight)
        .finish("D", at="group")
        .drain("D", through=None, by=st(8))
        .isolate("cta")
    )


def softmax() -> Plan:
    """Y = softmax over rows of X, one warp a row, three passes over tiles of 256 columns."""
    c = ComputeBuilder("softmax")
    i, j = c.dims(i="M", j="N")
    x = c.input("X", f16, (i, j), ("ldx", 1))
    y = c.output("Y", f16, (i, j), ("ldy", 1))
    largest = c.local("m", f32, (i,))
    total = c.local("l", f32, (i,))
    c.reduce(ReductionOp.MAXIMUM, largest[i], x[i, j], (i, j), (j,))
    c.reduce(ReductionOp.ADD, total[i], exp(x[i, j] - largest[i]), (i, j), (j,))
    c.define(y[i, j], exp(x[i, j] - largest[i]) / total[i], (i, j))
    return (
        Plan(c.build(), "sm_70")
        .assume(multiple("ldx", 8), multiple("ldy", 8), aligned("X", "Y", bytes=16))
        .tile("cta", i=4, j=256)
        .place("cta", onto=blocks)
        .tile("warp", i=1)
        .place("warp", onto=warps)
        .isolate("cta")
    )


def transpose(layout_depth: int = 1) -> Plan:
    """Y = X transposed, through shared memory."""
    c = ComputeBuilder("transpose")
    i, j = c.dims(i="M", j="N")
    x = c.input("X", f16, (i, j), ("ldx", 1))
    y = c.output("Y", f16, (j, i), ("ldy", 1))
    c.define(y[j, i], x[i, j], (i, j))
    return (
        Plan(c.build(), "sm_70")
        .assume(multiple("ldx", 8), multiple("ldy", 8), aligned("X", "Y", bytes=16))
        .tile("cta", i=64, j=64)
        .place("cta", onto=blocks)
        .tile("warp", j=16)
        .place("warp", onto=warps)
        .stage("X", at="cta", into=registers(), by=ld(16))
        .stage("X", at="cta", into=shared(layout_depth), by=st(16))
        .stage("X", at="cta", into=fragments(1), by=ld(16))
        .drain("Y", through=None, by=st(16))
        .isolate("cta")
    )


def chained() -> Plan:
    """F = f16(A @ B) @ D, the inner product kept in the block."""
    c = ComputeBuilder("chained")
    i, j, k, n = c.dims(i="M", j="N", k="K", l="L")
    a = c.input("A", f16, (i, k), ("lda", 1))
    b = c.input("B", f16, (k, j), ("ldb", 1))
    d = c.input("D", f16, (j, n), ("ldd", 1))
    inner = c.local("C", f32, (i, j))
    half = c.local("P", f16, (i, j))
    outer = c.local("E", f32, (i, n))
    f = c.output("F", f32, (i, n), ("ldf", 1))
    c.reduce(ReductionOp.ADD, inner[i, j], a[i, k] * b[k, j], (i, j, k), (k,))
    c.define(half[i, j], inner[i, j], (i, j))
    c.reduce(ReductionOp.ADD, outer[i, n], half[i, j] * d[j, n], (i, n, j), (j,))
    c.define(f[i, n], outer[i, n], (i, n))
    plan = (
        Plan(c.build(), "sm_70")
        .tile("cta", i=64, j=64, k=32, l=64)
        .place("cta", onto=blocks)
        .tile("warp", i=32, j=32, l=32)
        .place("warp", onto=warps)
        .tile("step", k=4, j=4)
    )
    for array, loop, at, depth in (
        ("A", "cta.k", "step.k", 2),
        ("B", "cta.k", "step.k", 2),
        ("D", "cta.j", "step.j", 1),
    ):
        plan = (
            plan.stage(array, at=loop, into=registers(), by=ld(16))
            .stage(array, at=loop, into=shared(depth), by=st(16))
            .stage(array, at=at, into=fragments(2), by=ld(16))
        )
    return (
        plan.stage("P", at="cta.j", into=shared(1), by=st(16))
        .stage("P", at="step.j", into=fragments(2), by=ld(16))
        .multiply("C", m8n8k4(f32), at="step.k")
        .multiply("E", m8n8k4(f32), at="step.j")
        .unroll("step.k")
        .unroll("step.j")
        .shift("A.registers", "B.registers", "A.shared", "B.shared", ahead=1, at="cta.k")
        .shift("A.fragments", "B.fragments", ahead=1, at="step.k")
    )


def halves(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Normal numbers in f16."""
    return rng.standard_normal(shape).astype(np.float16)


def up(extent: int) -> int:
    """The next multiple of eight, at least eight."""
    return max(8, -(-extent // 8) * 8)
