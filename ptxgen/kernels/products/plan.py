"""Plans for a matrix product on tensor cores."""

from __future__ import annotations

from collections.abc import Iterable

from ptxgen.compute import Compute
from ptxgen.kernels.products.by_warpgroups import by_warpgroups, plan_by_warpgroups
from ptxgen.kernels.products.by_warps import plan_by_warps
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.generations import generation_of
from ptxgen.kernels.products.needs import check_combined
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Fact, MatrixInstruction, Plan, hybrid


def matmul_plan(compute: Compute, spec: MatmulSpec, facts: Iterable[Fact], tiling: MatmulTiling, target: str) -> Plan:
    """The product staged to shared memory and fragments as the target's generation feeds its tensor cores, finished and
    stored by registers.

    `facts` are what the arguments of the launch allow to assume. PlanError where the tiling does not fit.
    """
    check_combined(spec, target, tiling)
    generation = generation_of(target, spec.input, spec.accumulate, spec.b_input)
    plan = Plan(compute, target).assume(*facts)
    if tiling.overlap:
        plan = plan.overlap_launch()
    if spec.promote:
        plan = plan.rewrite(hybrid("AB", every=spec.promote))
    product = by_warpgroups(plan, spec, tiling)
    if isinstance(product, MatrixInstruction):
        return plan_by_warpgroups(plan, spec, tiling, product)
    return plan_by_warps(plan, spec, tiling, generation, product)
