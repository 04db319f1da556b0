"""Launches that overlap with those ahead of them: products of products, run after run, have the bits of products that
wait for each other."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling
from ptxgen.plan import sms
from ptxgen.runtime import compute_capability

torch = pytest.importorskip("torch")
TILINGS = (
    ("sm_90a", MatmulTiling(i=128, j=128, k=64, warps=8, depth=4, isolate=False, drain=64)),
    ("sm_90a", MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, isolate=False, drain=64, workers=sms)),
    ("sm_90a", MatmulTiling(i=64, j=64, k=64, warps=4, depth=5, isolate=False, cluster=(2, 1))),
    ("sm_90a", MatmulTiling(i=16, j=64, k=64, warps=4, depth=6, isolate=False, swap=True)),
    ("sm_90", MatmulTiling(i=64, j=64, depth=3, isolate=False)),
)
SIZE, ROUNDS = 384, 100


@pytest.fixture(autouse=True)
def hopper() -> None:
    if compute_capability()[0] != 9:
        pytest.skip("the plans are for devices of capability 9")


@pytest.mark.parametrize(("target", "tiling"), TILINGS, ids=str)
def test_a_chain_of_products(target: str, tiling: MatmulTiling) -> None:
    rng = torch.Generator(device="cuda").manual_seed(5)
    a = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.float16, generator=rng)
    turned = torch.linalg.qr(torch.randn(SIZE, SIZE, device="cuda", generator=rng))[0].half().contiguous()
    found = []
    for overlap in (False, True):
        held = [a.clone(), torch.empty_like(a)]
        launches = [_launch(target, evolve(tiling, overlap=overlap), held[n], turned, held[1 - n]) for n in (0, 1)]
        for _ in range(ROUNDS):
            for launch in launches:
                launch()
        torch.cuda.synchronize()
        found.append(held[0])
    assert bool(torch.isfinite(found[0]).all())
    assert float(found[0].float().norm()) > 1.0
    assert torch.equal(found[0], found[1])


def _launch(target: str, tiling: MatmulTiling, a: Any, b: Any, d: Any) -> Any:
    arrays = {"A": a, "B": b, "D": d}
    kernel = Matmul(MatmulSpec(Layout.NT), target, tiling).kernel_for(arrays)
    made = kernel.prepare(arrays)
    assert made.overlapped == tiling.overlap
    return kernel.loaded.prepare(
        *made.arguments, grid=made.blocks, block=made.threads, cluster=made.cluster, shared_bytes=made.shared_bytes,
        stream=torch.cuda.current_stream(), overlapped=made.overlapped,
    )  # fmt: skip
