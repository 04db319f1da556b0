"""Transposition through shared memory: statement and plans."""

from __future__ import annotations

from collections.abc import Iterable

from ptxgen.compute import Compute, ComputeBuilder, Element, f16
from ptxgen.errors import PlanError
from ptxgen.kernels.products.alignment import fits_boxes
from ptxgen.plan import (
    Fact,
    Plan,
    Workers,
    blocks,
    fragments,
    ld,
    ldmatrix,
    registers,
    role,
    shared,
    sms,
    st,
    stmatrix,
    swizzle,
    tensor,
    warps,
)

ROW_BYTES = 128
SWIZZLED_SPANS = (32, 64, 128)
WARPS = 4


def transpose_compute(element: Element = f16) -> Compute:
    """`Y[j,i] = X[i,j]` for X of M x N, both in rows with strides ldx and ldy."""
    builder = ComputeBuilder("transpose")
    i, j = builder.dims(i="M", j="N")
    x = builder.input("X", element, (i, j), ("ldx", 1))
    y = builder.output("Y", element, (j, i), ("ldy", 1))
    builder.define(y[j, i], x[i, j], (i, j))
    return builder.build()


def transpose_plan(compute: Compute, facts: Iterable[Fact], target: str, tile: int = 64) -> Plan:
    """Tiles of `tile` x `tile`, turned by 4 warps: by boxes where the target copies tensors and the facts allow it,
    else read along rows of X, turned in shared memory, and written along rows of Y."""
    plan = Plan(compute, target).assume(*facts)
    if fits_boxes(plan, "X", "Y"):
        return by_boxes(plan, min(tile, ROW_BYTES // compute.array("X").element.byte_count))
    plan = plan.tile("cta", i=tile, j=tile).place("cta", onto=blocks)
    plan = plan.tile("warp", j=tile // WARPS).place("warp", onto=warps)
    plan = plan.stage("X", at="cta", into=registers(), by=ld(16)).stage("X", at="cta", into=shared(1), by=st(16))
    plan = plan.stage("X", at="cta", into=fragments(1), by=ld(16))
    return plan.drain("Y", through=None, by=st(16)).isolate("cta")


def by_boxes(plan: Plan, tile: int, depth: int = 4, workers: int | Workers = sms) -> Plan:
    """Blocks that stay: one thread has boxes of X copied into a ring, 4 warps turn each in registers, by matrices where
    elements have 16 bits, and a thread of theirs has it stored by boxes in two pieces. PlanError for a tile whose rows
    no swizzle spans."""
    element = plan.compute.array("X").element
    row, halves = tile * element.byte_count, element.bits == 16
    if tile > 0 and row not in SWIZZLED_SPANS:
        raise PlanError(
            f"transpose_plan: a tile of {tile}x{tile} {element} has rows of {row} bytes, tensor copies swizzle rows of "
            f"{', '.join(map(str, SWIZZLED_SPANS))}: take tile={ROW_BYTES // element.byte_count}"
        )
    plan = plan.tile("cta", i=tile, j=tile).persist("cta", workers=workers)
    plan = plan.tile("warp", i=tile // WARPS).place("warp", onto=warps)
    span = swizzle(row)
    plan = plan.stage("X", at="cta", into=shared(depth, span), by=tensor)
    plan = plan.stage("X", at="cta", into=fragments(1), by=ldmatrix(4) if halves else ld(16))
    plan = plan.roles(load=role("X.shared", warps=1), turn=role())
    put = stmatrix(4) if halves else st(16)
    return plan.drain("Y", through=shared(2, span), by=tensor, pieces={"j": tile // 2}, put=put)
