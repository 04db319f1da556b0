"""Transposition through shared memory: statement and plan."""

from __future__ import annotations

from collections.abc import Iterable

from ptxgen.compute import Compute, ComputeBuilder, Element, f16
from ptxgen.plan import Fact, Plan, blocks, fragments, ld, registers, shared, st, warps


def transpose_compute(element: Element = f16) -> Compute:
    """`Y[j,i] = X[i,j]` for X of M x N, both in rows with strides ldx and ldy."""
    builder = ComputeBuilder("transpose")
    i, j = builder.dims(i="M", j="N")
    x = builder.input("X", element, (i, j), ("ldx", 1))
    y = builder.output("Y", element, (j, i), ("ldy", 1))
    builder.define(y[j, i], x[i, j], (i, j))
    return builder.build()


def transpose_plan(compute: Compute, facts: Iterable[Fact], target: str, tile: int = 64) -> Plan:
    """Tiles of `tile` x `tile` on 4 warps: read along rows of X, turned in shared memory, written along rows of Y."""
    plan = Plan(compute, target).assume(*facts)
    plan = plan.tile("cta", i=tile, j=tile).place("cta", onto=blocks)
    plan = plan.tile("warp", j=tile // 4).place("warp", onto=warps)
    plan = plan.stage("X", at="cta", into=registers(), by=ld(16)).stage("X", at="cta", into=shared(1), by=st(16))
    plan = plan.stage("X", at="cta", into=fragments(1), by=ld(16))
    return plan.drain("Y", through=None, by=st(16)).isolate("cta")
