"""Row softmax: statement and plans."""

from __future__ import annotations

from collections.abc import Iterable

from ptxgen.compute import Compute, ComputeBuilder, Element, ReductionOp, exp, f16, f32, reciprocal
from ptxgen.kernels.products.alignment import fits_boxes
from ptxgen.plan import Fact, Plan, blocks, fragments, ld, role, shared, st, swizzle, tensor, warps


def softmax_compute(element: Element = f16) -> Compute:
    """`Y[i,j] = exp(X[i,j] - max_j X[i,j]) / sum_j exp(X[i,j] - max_j X[i,j])`, rows of M x N with strides ldx, ldy."""
    builder = ComputeBuilder("softmax")
    i, j = builder.dims(i="M", j="N")
    x = builder.input("X", element, (i, j), ("ldx", 1))
    top = builder.local("top", f32, (i,))
    total = builder.local("total", f32, (i,))
    y = builder.output("Y", element, (i, j), ("ldy", 1))
    builder.reduce(ReductionOp.MAXIMUM, top[i], x[i, j], (i, j), (j,))
    builder.reduce(ReductionOp.ADD, total[i], exp(x[i, j] - top[i]), (i, j), (j,))
    builder.define(y[i, j], exp(x[i, j] - top[i]) * reciprocal(total[i]), (i, j))
    return builder.build()


def softmax_plan(compute: Compute, facts: Iterable[Fact], target: str, rows: int = 4, columns: int = 256) -> Plan:
    """A warp for each of `rows` rows of a block; it walks a row `columns` elements at a time, once a statement. Where
    the target copies tensors and the facts allow it, one thread has the tiles copied ahead of the warps."""
    plan = Plan(compute, target).assume(*facts)
    boxes = fits_boxes(plan, "X")
    plan = plan.tile("cta", i=rows, j=columns).place("cta", onto=blocks, dims=("i",))
    plan = plan.tile("warp", i=1).place("warp", onto=warps)
    return (by_boxes(plan) if boxes else plan).drain("Y", through=None, by=st(16))


def by_boxes(plan: Plan, depth: int = 4) -> Plan:
    """The tiles of X through a ring that all statements read, one after the other."""
    plan = plan.stage("X", at="cta.j", into=shared(depth, swizzle(128)), by=tensor)
    plan = plan.stage("X", at="cta.j", into=fragments(1), by=ld(16))
    return plan.roles(load=role("X.shared", warps=1), rows=role())
