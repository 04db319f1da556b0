"""Products of other types, layouts and epilogues on the GPU, by the default plans: beside cuBLASLt, or beside our own
plain product; measured as in `test_device.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.on_gpu import ON_GPU, Set, Side, calling, graph_of, launching, paired, torch, turns
from ptxgen.compute import Element, bf16, e4m3, f16
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.kernels.products.epilogue import Activate, Activation, Bias
from ptxgen.plan import grouped, sms

pytestmark = ON_GPU
SETS = 2
DTYPES = {f16: torch.float16, bf16: torch.bfloat16}
WORST_SHARE, MOST_COST, LEAST_GAIN = 0.95, 1.05, 1.5
EPILOGUES = ("gelu", "silu", "residual", "keep")
LARGE = MatmulTiling(
    i=128, j=256, k=64, warps=8, depth=4, workers=sms, raster=grouped(16), drain=64, overlap=True, isolate=False
)
SHALLOW = evolve(LARGE, depth=3)
FINISHED: dict[str, MatmulTiling] = {
    "whole, pieces of 64": LARGE,
    "whole, 4 of 32": evolve(LARGE, drain=32, drain_depth=4),
    "in pieces of 64": evolve(LARGE, piecewise=True),
    "in pieces, 2 of 32": evolve(LARGE, drain=32, piecewise=True),
    "in pieces, 4 of 32": evolve(LARGE, drain=32, drain_depth=4, piecewise=True),
    "in pieces, 3 slabs, 3 of 64": evolve(SHALLOW, drain_depth=3, piecewise=True),
}
BROUGHT: dict[str, MatmulTiling] = {
    "brought, 2 of 32": evolve(LARGE, drain=32, piecewise=True, residual_depth=2),
    "brought, 6 of 16": evolve(LARGE, drain=16, piecewise=True, residual_depth=6),
    "brought, 8 of 32, 3 slabs": evolve(SHALLOW, drain=32, piecewise=True, residual_depth=8),
}


def drawn(shape: tuple[int, int], element: Element = f16) -> Any:
    return torch.randn(*shape, device="cuda").to(DTYPES[element])


def sets_of(size: int, element: Element, layout: Layout) -> list[Set]:
    """Square operands as the layout stores them, in rows, and poisoned results."""
    nan = float("nan")
    return [
        {
            "A": drawn((size, size), element),
            "B": drawn((size, size), element),
            "bias": drawn((1, size), element)[0],
            "R": drawn((size, size)),
            "E": torch.full((size, size), nan, device="cuda", dtype=torch.float16),
            **{name: torch.full((size, size), nan, device="cuda", dtype=DTYPES[element]) for name in ("D", "theirs")},
        }
        for _ in range(SETS)
    ]


def ours(spec: MatmulSpec, target: str = "sm_90a") -> Side:
    return launching(Matmul(spec, target))


def took(sets: list[Set], sides: Mapping[str, Side]) -> dict[str, float]:
    """Microseconds of a launch of each side, in turns."""
    return paired(turns({name: graph_of(side(sets)) for name, side in sides.items()}, sets))


def told(benchmark: BenchmarkFixture, found: Mapping[str, float], share: float) -> None:
    benchmark.extra_info.update({**{name: round(value, 2) for name, value in found.items()}, "share": round(share, 3)})
    print({**{name: round(value, 2) for name, value in found.items()}, "share": round(share, 3)})
    benchmark.pedantic(lambda: None, rounds=1)


@pytest.mark.parametrize("layout", list(Layout), ids=lambda each: each.value)
@pytest.mark.parametrize("element", [f16, bf16], ids=str)
def test_types_and_layouts(benchmark: BenchmarkFixture, element: Element, layout: Layout) -> None:
    sets = sets_of(4096, element, layout)
    spec = MatmulSpec.of(
        element, layout=layout, output=element, epilogue=(Bias(element=element), Activate(Activation.RELU))
    )

    def library(s: Set) -> Any:
        a = s["A"].T if layout.a_transposed else s["A"]
        b = s["B"].T if layout.b_transposed else s["B"]
        return torch._addmm_activation(s["bias"], a, b, out=s["theirs"])

    found = took(sets, {"ours": ours(spec), "cuBLASLt": calling(library)})
    wanted = library(sets[0]).float()
    assert float((sets[0]["D"].float() - wanted).norm() / wanted.norm()) < 1e-2
    share = found["cuBLASLt"] / found["ours"]
    told(benchmark, found, share)
    assert share >= WORST_SHARE


@pytest.mark.parametrize("size", [4096, 8192])
def test_epilogues(benchmark: BenchmarkFixture, size: int) -> None:
    sets = sets_of(size, f16, Layout.NT)
    named = {"plain": "", **dict(zip(EPILOGUES, EPILOGUES, strict=True))}
    sides = {name: ours(MatmulSpec(Layout.NT, epilogue=parse_epilogue(text))) for name, text in named.items()}
    found = took(sets, sides)
    worst = max(found[name] for name in EPILOGUES) / found["plain"]
    told(benchmark, found, worst)
    assert worst <= MOST_COST


@pytest.mark.parametrize("size", [4096, 8192])
@pytest.mark.parametrize("epilogue", ["", "bias,relu", *EPILOGUES, "residual,keep,gelu"])
def test_whole_and_in_pieces(benchmark: BenchmarkFixture, epilogue: str, size: int) -> None:
    """Tiles finished whole beside tiles finished in the pieces in which they leave, residuals loaded as a tile begins
    or brought ahead; the same bits. The share is that of the quickest of either."""
    sets = sets_of(size, f16, Layout.NT)
    pieces = tuple(Bias(element=f16) if isinstance(piece, Bias) else piece for piece in parse_epilogue(epilogue))
    tilings = FINISHED | (BROUGHT if "residual" in epilogue else {})
    spec = MatmulSpec(Layout.NT, epilogue=pieces)
    sides = {name: launching(Matmul(spec, "sm_90a", tiling)) for name, tiling in tilings.items()}
    wanted: dict[str, Any] = {}
    for side in sides.values():
        side(sets)()
        torch.cuda.synchronize()
        for name in "DE" if "keep" in epilogue else "D":
            assert torch.equal(sets[0][name], wanted.setdefault(name, sets[0][name].clone()))
            sets[0][name].fill_(float("nan"))
    found = took(sets, sides)
    whole = min(time for name, time in found.items() if name.startswith("whole"))
    told(benchmark, found, min(time for name, time in found.items() if not name.startswith("whole")) / whole)


def test_bytes_promoted(benchmark: BenchmarkFixture) -> None:
    size = 8192
    sets = sets_of(size, f16, Layout.NT)
    narrow = [{**s, **{name: s[name].to(torch.float8_e4m3fn).view(torch.uint8) for name in "AB"}} for s in sets]
    spec = MatmulSpec.of(e4m3, layout=Layout.NT, output=f16, promote=128)
    found = took(sets, {"f16": ours(MatmulSpec(Layout.NT)), "e4m3": lambda _: ours(spec)(narrow)})
    a, b = (narrow[0][name].view(torch.float8_e4m3fn).double() for name in "AB")
    wanted = a[:256] @ b.T
    assert float((sets[0]["D"][:256].double() - wanted).norm() / wanted.norm()) < 1e-2
    gain = found["f16"] / found["e4m3"]
    told(benchmark, found, gain)
    assert gain >= LEAST_GAIN
