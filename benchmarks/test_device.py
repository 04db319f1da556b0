"""Products with a fused bias and ReLU on the GPU beside cuBLAS and cuBLASLt, in one process, taking turns.

A is M x K and B is N x K in rows, f16 drawn from N(0, 1); sums in f32, results and bias in f16, results poisoned.
Every side is a CUDA graph of launches over rotating buffers, more of them than the L2 cache holds; a time is that of a
replay by device events over its launches, the median of the turns. cuBLAS (`torch.mm`) multiplies alone; cuBLASLt fuses
(`torch._addmm_activation`); `unfused` is three kernels; `compiled` is what torch.compile makes of them, tuned to the
utmost, where torch can compile. A result is held against float64 in 256 rows.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from statistics import median, quantiles
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.reading import readers
from ptxgen.compute import f16
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling
from ptxgen.kernels.epilogue import Activate, Activation, Bias
from ptxgen.runtime import Launch

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.filterwarnings("default"),
]
SPEC = MatmulSpec(Layout.NT, epilogue=(Bias(element=f16), Activate(Activation.RELU)))
TURNS, ROWS = 30, 256
CACHE_BYTES, MOST_SETS = 128 << 20, 24
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
BOUNDS = {(4096, 4096, 4096): 0.75, (8192, 8192, 8192): 0.75}
Set = dict[str, Any]
Side = Callable[[list[Set]], Callable[[], None]]


def sets_of(m: int, n: int, k: int) -> list[Set]:
    """Operands and poisoned results, as many as do not fit the cache together."""
    count = min(MOST_SETS, max(2, ceil(CACHE_BYTES / (2 * (m * k + n * k + m * n)))))
    bias = torch.randn(n, device="cuda", dtype=torch.float16)
    return [
        {
            "A": torch.randn(m, k, device="cuda", dtype=torch.float16),
            "B": torch.randn(n, k, device="cuda", dtype=torch.float16),
            "bias": bias,
            "D": torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16),
        }
        for _ in range(count)
    ]


def ours(target: str) -> Side:
    """What launches the plan chosen for the shape once for each set."""
    return ours_by(target, None)


def ours_by(target: str, tiling: MatmulTiling | None) -> Side:
    """What launches a plan once for each set."""
    return launching(Matmul(SPEC, target, tiling))


def launching(product: Matmul) -> Side:
    """What launches a product once for each set, with the arrays of the set that it has."""

    def of(sets: list[Set]) -> Callable[[], None]:
        wanted = [array.name for array in product.compute.arrays if array.name in sets[0]]
        launches = []
        for arrays in sets:
            own = {name: arrays[name] for name in wanted}
            kernel = product.kernel_for(own)
            made = kernel.prepare(own)
            launches.append(
                kernel.loaded.prepare(
                    *made.arguments,
                    grid=made.blocks,
                    block=made.threads,
                    cluster=made.cluster,
                    shared_bytes=made.shared_bytes,
                    overlapped=made.overlapped,
                )
            )

        def work() -> None:
            for launch in launches:
                launch.on_stream(torch.cuda.current_stream())
                launch()

        return work

    return of


def theirs(work: Callable[[Set], Any]) -> Side:
    def of(sets: list[Set]) -> Callable[[], None]:
        def every() -> None:
            for arrays in sets:
                work(arrays)

        return every

    return of


SIDES: dict[str, Side] = {
    "warpgroups": ours("sm_90a"),
    "warps": ours("sm_90"),
    "cuBLAS": theirs(lambda s: torch.mm(s["A"], s["B"].T)),
    "cuBLASLt": theirs(lambda s: torch._addmm_activation(s["bias"], s["A"], s["B"].T)),
    "unfused": theirs(lambda s: torch.relu_(torch.mm(s["A"], s["B"].T).add_(s["bias"]))),
}


UNCOMPILED: list[str] = []


def compiled() -> Side:
    """The product, bias and ReLU as torch compiles them for the shape alone."""
    torch._dynamo.reset()
    work = torch.compile(
        lambda a, b, bias: torch.relu(torch.addmm(bias, a, b.T)), mode="max-autotune-no-cudagraphs", dynamic=False
    )
    return theirs(lambda s: work(s["A"], s["B"], s["bias"]))


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


def graph_of(work: Callable[[], None]) -> Any:
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        work()
    return graph


def milliseconds(graph: Any) -> float:
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end))


def turns(graphs: dict[str, Any], sets: list[Set]) -> dict[str, list[float]]:
    """Microseconds of a launch of each side, a replay of each in turn."""
    times: dict[str, list[float]] = {name: [] for name in graphs}
    for _ in range(TURNS):
        for name, graph in graphs.items():
            times[name].append(1e3 * milliseconds(graph) / len(sets))
    return times


def medians(times: dict[str, list[float]]) -> dict[str, float]:
    return {name: median(own) for name, own in times.items()}


def check(arrays: Set) -> None:
    wanted = torch.relu(arrays["A"][:ROWS].double() @ arrays["B"].double().T + arrays["bias"].double())
    assert not bool(torch.isnan(arrays["D"]).any())
    assert float((arrays["D"][:ROWS].double() - wanted).norm() / wanted.norm()) < 1e-3


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
    found = medians(times)
    low, high = (quantiles(times["warpgroups"], n=10)[place] for place in (0, -1))
    share = found["cuBLASLt"] / found["warpgroups"]
    told = ", ".join(f"{name} {value:.1f}" for name, value in found.items())
    rate = 2 * m * n * k / found["warpgroups"] / 1e6
    print(f"\n{m}x{n}x{k} us: {told}; spread {low:.1f} to {high:.1f}; {rate:.0f} TFLOP/s, {share:.3f} of cuBLASLt")
    benchmark.extra_info.update({**found, "share of cuBLASLt": share})
    assert share >= BOUNDS.get(shape, 0.0)


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
    found = medians(turns({**graphs, **floors}, sets))
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
    found = medians(turns(graphs, sets))
    benchmark.pedantic(graphs["warps"].replay, rounds=1)
    rates = {name: 2 * WARPS_SIZE**3 / took / 1e6 for name, took in found.items()}
    print(f"\n{WARPS_SIZE} cubed, TFLOP/s: " + ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items()))
    assert rates["warps"] >= WARPS_LEAST
