"""Products with results in f32 have the bytes of cuBLASLt's, by an algorithm that sums along k in one chain; and all
transports and plans with one signature of the sum give the same bytes."""

from __future__ import annotations

from typing import Any

import pytest

from ptxgen.compute import Element, bf16, f16, f32
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, default_tiling
from ptxgen.plan import sms
from ptxgen.runtime import compute_capability
from tests.device.cublaslt import Library

torch = pytest.importorskip("torch")
PLANS = (
    ("sm_90a", MatmulTiling(i=128, j=128, k=32, warps=8, depth=6, isolate=False)),
    ("sm_90a", MatmulTiling(i=128, j=128, k=64, warps=8, depth=4, isolate=False, drain=32)),
    ("sm_90a", MatmulTiling(i=64, j=128, k=128, warps=4, depth=3, isolate=False, workers=sms)),
    ("sm_90a", MatmulTiling(i=128, j=128, k=64, warps=8, depth=4, isolate=False, cluster=(2, 1))),
    ("sm_90", MatmulTiling(i=128, j=128, warps=8, depth=4, isolate=False)),
    ("sm_90", MatmulTiling(i=64, j=64, k=64, depth=2, workers=sms)),
)


@pytest.fixture(scope="module")
def library() -> Library:
    if compute_capability()[0] != 9:
        pytest.skip("the plans are for devices of capability 9")
    try:
        return Library()
    except OSError as error:
        pytest.skip(str(error))


def operands(size: int, element: Element) -> tuple[Any, Any]:
    rng = torch.Generator(device="cuda").manual_seed(size)
    dtype = {f16: torch.float16, bf16: torch.bfloat16}[element]
    made = [torch.randn(size, size, device="cuda", dtype=torch.float32, generator=rng).to(dtype) for _ in range(2)]
    return made[0], made[1]


def ours(spec: MatmulSpec, target: str, tiling: MatmulTiling, a: Any, b: Any) -> Any:
    d = torch.full((a.shape[0], b.shape[0]), float("nan"), device="cuda", dtype=torch.float32)
    Matmul(spec, target, tiling)({"A": a, "B": b, "D": d}, on=Machine.GPU)
    return d


@pytest.mark.parametrize("size", [1024, 2048, 4096])
@pytest.mark.parametrize("element", [f16, bf16], ids=str)
def test_the_bytes_of_cublaslt(library: Library, element: Element, size: int) -> None:
    a, b = operands(size, element)
    theirs = torch.full((size, size), float("nan"), device="cuda", dtype=torch.float32)
    library.product(a, b, theirs)
    spec = MatmulSpec.of(element, layout=Layout.NT, output=f32)
    assert not bool(torch.isnan(theirs).any())
    assert torch.equal(ours(spec, "sm_90a", default_tiling(spec, "sm_90a"), a, b), theirs)


@pytest.mark.parametrize("element", [f16, bf16], ids=str)
def test_plans_of_one_signature_give_the_same_bytes(element: Element) -> None:
    a, b = operands(1024, element)
    spec = MatmulSpec.of(element, layout=Layout.NT, output=f32)
    found: dict[str, Any] = {}
    for target, tiling in PLANS:
        made = ours(spec, target, tiling, a, b)
        kernel = Matmul(spec, target, tiling).kernel_for({"A": a, "B": b, "D": made})
        name = str(kernel.derivation.signature())
        first = found.setdefault(name, made)
        assert torch.equal(first, made), (target, str(tiling))
    assert len(found) < len(PLANS)
