"""Plans whose sums are dealt to several blocks, up to the step that deals them."""

from __future__ import annotations

from ptxgen.compute import ComputeBuilder, ReductionOp, f16, f32
from ptxgen.kernels import MatmulSpec, matmul_compute
from ptxgen.plan import Plan


def product() -> Plan:
    """A product without tiles."""
    return Plan(matmul_compute(MatmulSpec()), "sm_90a")


def tiled() -> Plan:
    """A product in tiles of 64x64, in slabs of 32."""
    return product().tile("cta", i=64, j=64, k=32)


def maximum() -> Plan:
    """The greatest element of each row, in tiles: a reduction that is no sum."""
    c = ComputeBuilder("greatest")
    i, k = c.dims(i="M", k="K")
    a = c.input("A", f16, (i, k), ("lda", 1))
    largest = c.local("m", f32, (i,))
    c.reduce(ReductionOp.MAXIMUM, largest[i], a[i, k], (i, k), (k,))
    c.define(c.output("D", f32, (i,), (1,))[i], largest[i], (i,))
    return Plan(c.build(), "sm_90a").tile("cta", i=64, k=32)
