"""An epilogue as a kernel of its own."""

from __future__ import annotations

from collections.abc import Iterable

from ptxgen.compute import Compute, ComputeBuilder, Element, f16, f32
from ptxgen.kernels.products.compute import EpilogueArrays
from ptxgen.kernels.products.epilogue import Epilogue
from ptxgen.plan import Fact, Plan, blocks, st, warps


def epilogue_compute(epilogue: Epilogue, source: Element = f32, output: Element = f16) -> Compute:
    """`D[i,j]` = the pieces of `epilogue` applied to `AB[i,j]`, which lies in memory with stride ldab."""
    builder = ComputeBuilder("epilogue")
    i, j = builder.dims(i="M", j="N")
    arrays = EpilogueArrays(builder, (), i, j)
    given = arrays.matrix("AB", source, (i, j))
    following = arrays.following(epilogue)
    output_array = arrays.matrix("D", output, (i, j), written=True)
    builder.define(output_array[i, j], arrays.follow(following, given[i, j]), (i, j))
    return builder.build()


def epilogue_plan(compute: Compute, facts: Iterable[Fact], target: str, rows: int = 16, columns: int = 64) -> Plan:
    """Tiles of `rows` x `columns` on 4 warps, every element loaded, mapped and stored in registers."""
    plan = Plan(compute, target).assume(*facts)
    plan = plan.tile("cta", i=rows, j=columns).place("cta", onto=blocks)
    plan = plan.tile("warp", i=rows // 4).place("warp", onto=warps)
    return plan.drain("D", through=None, by=st(16)).isolate("cta")
