"""Products with a fused bias and ReLU on the GPU beside cuBLAS, in one process, taking turns.

A is M x K and B is N x K in rows, f16 drawn from N(0, 1); sums in f32, results in f16, poisoned before. Times are those
of device events, the median of the turns. cuBLAS multiplies alone: its time has no bias and no ReLU in it.
"""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest
from attrs import evolve
from pytest_benchmark.fixture import BenchmarkFixture

from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, default_tiling, parse_epilogue
from ptxgen.plan import sms

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.filterwarnings("default"),
]
SPEC = MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu"))
TURNS, WARM = 40, 5
PLANS = {
    "warpgroups": ("sm_90a", default_tiling(SPEC, "sm_90a"), 0.75),
    "warpgroups that stay": ("sm_90a", evolve(default_tiling(SPEC, "sm_90a"), workers=sms), 0.75),
    "warps": ("sm_90", default_tiling(SPEC, "sm_90"), None),
}


def launch_of(target: str, tiling: MatmulTiling, arrays: dict[str, Any]) -> Any:
    """The prepared launch of a plan."""
    kernel = Matmul(SPEC, target, tiling).kernel_for(arrays)
    made = kernel.prepare(arrays)
    return kernel.loaded.prepare(*made.arguments, grid=made.blocks, block=made.threads, shared_bytes=made.shared_bytes)


def milliseconds(work: Any) -> float:
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    work()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end))


@pytest.mark.parametrize("plan", list(PLANS))
@pytest.mark.parametrize("size", [2048, 4096, 8192])
def test_square_products(benchmark: BenchmarkFixture, size: int, plan: str) -> None:
    target, tiling, bound = PLANS[plan]
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
    bias = torch.randn(size, device="cuda", dtype=torch.float32)
    d = torch.full((size, size), float("nan"), device="cuda", dtype=torch.float16)
    ours = launch_of(target, tiling, {"A": a, "B": b, "bias": bias, "D": d})
    ours()
    rows = slice(0, 512)
    wanted = torch.relu(a[rows].double() @ b.double().T + bias.double())
    assert float((d[rows].double() - wanted).norm() / wanted.norm()) < 1e-3

    def theirs() -> Any:
        return torch.mm(a, b.T)

    for _ in range(WARM):
        ours()
        theirs()
    turns = [(milliseconds(ours), milliseconds(theirs)) for _ in range(TURNS)]
    mine, other = (median(side) for side in zip(*turns, strict=True))
    benchmark.pedantic(ours, rounds=1)
    flops = 2 * size**3
    benchmark.extra_info.update(
        {"ms": mine, "TFLOP/s": flops / mine / 1e9, "cuBLAS TFLOP/s": flops / other / 1e9, "share": other / mine}
    )
    print(f"\n{plan} {size}: {mine:.4f} ms, {flops / mine / 1e9:.0f} TFLOP/s, {other / mine:.3f} of cuBLAS")
    assert bound is None or other / mine >= bound
