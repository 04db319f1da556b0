"""Products with a fused bias and ReLU on the GPU beside cuBLAS and cuBLASLt, in one process, taking turns.

A is M x K and B is N x K in rows, f16 drawn from N(0, 1); sums in f32, results and bias in f16, results poisoned.
Every side is a CUDA graph of launches over rotating buffers, more of them than the L2 cache holds; a time is that of a
replay by device events over its launches, in turns in each of which the order is drawn anew, sides compared turn by
turn, after a second in which all run and the clock settles. cuBLAS (`torch.mm`) multiplies alone; cuBLASLt fuses
(`torch._addmm_activation`); `unfused` is three kernels; `compiled` is what torch.compile makes of them, tuned to the
utmost, where torch can compile. A result is held against float64 in 256 rows.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median, quantiles
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.on_gpu import (
    ON_GPU,
    SIDES,
    Set,
    Side,
    calling,
    check,
    graph_of,
    ours,
    ours_by,
    paired,
    sets_of,
    torch,
    turns,
)
from benchmarks.reading import readers
from ptxgen.kernels import MatmulTiling
from ptxgen.runtime import Launch

pytestmark = ON_GPU
COMPUTE_BOUND = (
    (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (3000, 3000, 3000), (4096, 1024, 4096),
    (16384, 4096, 1024),
)  # fmt: skip
LATENCY_BOUND = (
    (1024, 1024, 1024), (3072, 768, 768), (128, 4096, 4096), (512, 4096, 4096), (1024, 4096, 1024), (8192, 1024, 1024),
)  # fmt: skip
MEMORY_BOUND = ((16, 8192, 8192), (4096, 4096, 64))
BOXED = MatmulTiling(i=128, j=256, k=64, warps=8, depth=3, isolate=False, drain=32, boxed=True)
WARPS_LEAST, WARPS_SIZE = 400, 8192
BOUNDS = {**dict.fromkeys(COMPUTE_BOUND, 0.97), **dict.fromkeys(LATENCY_BOUND, 0.95)}
LEAST_MEDIAN = 1.0
SHARES: dict[tuple[int, int, int], float] = {}
UNCOMPILED: list[str] = []


def compiled() -> Side:
    """The product, bias and ReLU as torch compiles them for the shape alone."""
    torch._dynamo.reset()
    work = torch.compile(
        lambda a, b, bias: torch.relu(torch.addmm(bias, a, b.T)), mode="max-autotune-no-cudagraphs", dynamic=False
    )
    return calling(lambda s: work(s["A"], s["B"], s["bias"]))


def graph_of_compiled(sets: list[Set]) -> Any | None:
    """Its graph; None where torch cannot compile on this machine, which is said and not tried again."""
    if UNCOMPILED:
        return None
    try:
        return graph_of(compiled()(sets))
    except Exception as error:
        UNCOMPILED.append(f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}")
        print(f"\nno column of torch.compile: {UNCOMPILED[0]}")
        return None


@pytest.mark.parametrize("shape", [*COMPUTE_BOUND, *LATENCY_BOUND, *MEMORY_BOUND], ids=lambda s: "x".join(map(str, s)))
def test_products(benchmark: BenchmarkFixture, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    sets = sets_of(m, n, k)
    graphs = {}
    for name, side in SIDES.items():
        for arrays in sets:
            arrays["D"].fill_(float("nan"))
        graphs[name] = graph_of(side(sets))
        graphs[name].replay()
        torch.cuda.synchronize()
        if name in ("warpgroups", "warps"):
            check(sets[0])
            check(sets[-1])
    by_torch = graph_of_compiled(sets)
    if by_torch is not None:
        graphs["compiled"] = by_torch
    times = turns(graphs, sets)
    benchmark.pedantic(graphs["warpgroups"].replay, rounds=1)
    found = paired(times)
    low, high = (quantiles(times["warpgroups"], n=10)[place] for place in (0, -1))
    share = found["cuBLASLt"] / found["warpgroups"]
    told = ", ".join(f"{name} {value:.1f}" for name, value in found.items())
    rate = 2 * m * n * k / found["warpgroups"] / 1e6
    print(f"\n{m}x{n}x{k} us: {told}; spread {low:.1f} to {high:.1f}; {rate:.0f} TFLOP/s, {share:.3f} of cuBLASLt")
    benchmark.extra_info.update({**found, "share of cuBLASLt": share})
    SHARES[shape] = share
    assert share >= BOUNDS.get(shape, 0.0)


def test_the_median_of_those_bound_by_the_tensor_cores() -> None:
    shares = [SHARES[shape] for shape in COMPUTE_BOUND if shape in SHARES]
    if len(shares) < len(COMPUTE_BOUND):
        pytest.skip("not all of them were measured")
    print(f"\nmedian of six {median(shares):.3f} of cuBLASLt")
    assert median(shares) >= LEAST_MEDIAN


def reading(arrays: list[Any]) -> dict[str, Any]:
    """Graphs that read each array once, by grids of which the quickest tells what the memory gives."""

    def launching(launches: list[Launch]) -> Callable[[], None]:
        def work() -> None:
            for launch in launches:
                launch.on_stream(torch.cuda.current_stream())
                launch()

        return work

    return {name: graph_of(launching(launches)) for name, launches in readers(arrays).items()}


def filling(arrays: list[Any]) -> dict[str, Any]:
    """A graph that fills each array once."""
    return {"fill": graph_of(lambda: [array.fill_(1.5) for array in arrays] and None)}


@pytest.mark.parametrize(("shape", "most"), [((16, 8192, 8192), 1.10), ((4096, 4096, 64), 1.25)], ids=str)
def test_products_bound_by_memory(benchmark: BenchmarkFixture, shape: tuple[int, int, int], most: float) -> None:
    """Beside the quickest reader of B, and beside a fill of the results."""
    sets = sets_of(*shape)
    graphs = {"ours": graph_of(ours("sm_90a")(sets))}
    graphs["ours"].replay()
    torch.cuda.synchronize()
    check(sets[0])
    floors = reading([s["B"] for s in sets]) if shape[0] < shape[2] else filling([s["D"] for s in sets])
    found = paired(turns({**graphs, **floors}, sets))
    benchmark.pedantic(graphs["ours"].replay, rounds=1)
    floor = min(found[name] for name in floors)
    told = ", ".join(f"{name} {value:.1f}" for name, value in found.items())
    print(f"\n{'x'.join(map(str, shape))} us: {told}; {found['ours'] / floor:.3f} of the floor")
    benchmark.extra_info.update({**found, "share of the floor": found["ours"] / floor})
    assert found["ours"] <= most * floor


def test_warps_on_a_large_product(benchmark: BenchmarkFixture) -> None:
    """`mma.sync` fed by boxes, beside cuBLASLt alone."""
    sets = sets_of(WARPS_SIZE, WARPS_SIZE, WARPS_SIZE)
    graphs = {
        name: graph_of(side(sets))
        for name, side in (("warps", ours_by("sm_90a", BOXED)), ("cuBLASLt", SIDES["cuBLASLt"]))
    }
    graphs["warps"].replay()
    torch.cuda.synchronize()
    check(sets[0])
    found = paired(turns(graphs, sets))
    benchmark.pedantic(graphs["warps"].replay, rounds=1)
    rates = {name: 2 * WARPS_SIZE**3 / took / 1e6 for name, took in found.items()}
    print(f"\n{WARPS_SIZE} cubed, TFLOP/s: " + ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items()))
    assert rates["warps"] >= WARPS_LEAST
