"""What a later sum runs over must be zero beyond the edge, whatever the map gives there."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Load, reciprocal
from ptxgen.derive import derive
from ptxgen.lower import lower
from ptxgen.plan import Plan
from ptxgen.simulate import simulate
from ptxgen.tile import Program
from tests.derive.computes import chained, halves


def reciprocals() -> Plan:
    """F = f16(1 / (A @ B)) @ D: beyond the edge the inner product is 0 and its reciprocal infinite."""
    plan = chained()
    inner, half, outer, result = plan.compute.statements
    assert isinstance(half.value, Load)
    inverted = evolve(half, value=reciprocal(half.value))
    return evolve(plan, compute=evolve(plan.compute, statements=(inner, inverted, outer, result)))


def run(program: Program, arrays: dict[str, np.ndarray], sizes: dict[str, int], blocks: int) -> None:
    values: dict[str, np.ndarray | int] = {**arrays, **sizes}
    report = simulate(
        lower(program),
        grid=blocks,
        block=32 * program.warps,
        args=[values[parameter.name] for parameter in program.parameters],
    )
    assert not report.findings


@pytest.mark.parametrize("shape", [(64, 64, 32, 64), (40, 70, 20, 64)], ids=str)
def test_reciprocals_beyond_the_edge_do_not_reach_the_sum(shape: tuple[int, int, int, int]) -> None:
    m, n, k, columns = shape
    rng = np.random.default_rng(n)
    a, b = np.abs(halves(rng, m, k)) + np.float16(0.5), np.abs(halves(rng, k, n)) + np.float16(0.5)
    d, f = halves(rng, n, columns), np.full((m, columns), np.nan, np.float32)
    sizes = {"M": m, "N": n, "K": k, "L": columns, "lda": k, "ldb": n, "ldd": columns, "ldf": columns}
    run(derive(reciprocals()).program, {"A": a, "B": b, "D": d, "F": f}, sizes, blocks=1)
    inverse = (1 / (a.astype(float) @ b.astype(float))).astype(np.float16)
    assert np.abs(f - inverse.astype(float) @ d.astype(float)).max() < 1e-3
