"""The second kernel of a row or column sum: the partial sums of all tiles, added in ascending order."""

from __future__ import annotations

from ptxgen.compute import Compute, ComputeBuilder, ReductionOp, f32
from ptxgen.plan import Plan, blocks, warps


def total_compute(batched: bool = False) -> Compute:
    """`total[i] = sum_p parts[p, i]`, with a batch dim in front of both where `batched`; all in f32."""
    c = ComputeBuilder("total")
    batch = c.dims(b="batches") if batched else ()
    i, p = c.dims(i="M", p="P")
    front = ("batch_parts",) if batched else ()
    parts = c.input("parts", f32, (*batch, p, i), (*front, "ldparts", 1))
    total = c.output("total", f32, (*batch, i), (*(("batch_total",) if batched else ()), 1))
    c.reduce(ReductionOp.ADD, total[(*batch, i)], parts[(*batch, p, i)], (*batch, i, p), (p,))
    return c.build()


def total_plan(batched: bool = False, target: str = "sm_70") -> Plan:
    """128 sums a warp, four to a lane, one after the other over the parts."""
    batch = {"b": 1} if batched else {}
    plan = Plan(total_compute(batched), target).tile("cta", **batch, i=512, p=1).place("cta", onto=blocks)
    return plan.tile("warp", i=128).place("warp", onto=warps)
