"""How products are measured on a GPU: rotating operands, sides that launch once for each set of them, graphs that take
turns, and float64 beside what they leave. Imported by benchmarks that need torch, which skip where it is not."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from random import Random
from statistics import fmean, median
from time import perf_counter
from typing import Any, Protocol

import pytest

from ptxgen.compute import Compute, f16
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.kernels.products.epilogue import Activate, Activation, Bias

torch = pytest.importorskip("torch")
ON_GPU = [
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.filterwarnings("default"),
]
SPEC = MatmulSpec(Layout.NT, epilogue=(Bias(element=f16), Activate(Activation.RELU)))
TURNS, ROWS = 30, 256
SETTLING = 1.0
CACHE_BYTES, MOST_SETS = 128 << 20, 24
Set = dict[str, Any]
Side = Callable[[list[Set]], Callable[[], None]]


def sets_of(m: int, n: int, k: int) -> list[Set]:
    """Operands and poisoned results, ours and those of a library, as many as do not fit the cache together."""
    count = min(MOST_SETS, max(2, ceil(CACHE_BYTES / (2 * (m * k + n * k + m * n)))))
    bias = torch.randn(n, device="cuda", dtype=torch.float16)
    return [
        {
            "A": torch.randn(m, k, device="cuda", dtype=torch.float16),
            "B": torch.randn(n, k, device="cuda", dtype=torch.float16),
            "bias": bias,
            **{name: torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16) for name in ("D", "theirs")},
        }
        for _ in range(count)
    ]


def ours(target: str) -> Side:
    """What launches the plan chosen for the shape once for each set."""
    return ours_by(target, None)


def ours_by(target: str, tiling: MatmulTiling | None) -> Side:
    """What launches a plan once for each set."""
    return launching(Matmul(SPEC, target, tiling))


class Launched(Protocol):
    """What gives a kernel for arrays."""

    @property
    def compute(self) -> Compute:
        """Its statements and arrays."""

    def kernel_for(self, arrays: Set) -> GeneratedKernel:
        """The kernel."""


def launching(product: Launched) -> Side:
    """What launches a product once for each set, with the arrays of the set that it has."""

    def of(sets: list[Set]) -> Callable[[], None]:
        wanted = [array.name for array in product.compute.arrays if array.name in sets[0]]
        launches = []
        for arrays in sets:
            own = {name: arrays[name] for name in wanted}
            kernel = product.kernel_for(own)
            launches.append(kernel.prepare(own).packed(kernel.loaded))

        def work() -> None:
            for launch in launches:
                launch.on_stream(torch.cuda.current_stream())
                launch()

        return work

    return of


def calling(work: Callable[[Set], Any]) -> Side:
    """What does some work once for each set."""

    def of(sets: list[Set]) -> Callable[[], None]:
        def every() -> None:
            for arrays in sets:
                work(arrays)

        return every

    return of


SIDES: dict[str, Side] = {
    "warpgroups": ours("sm_90a"),
    "warps": ours("sm_90"),
    "cuBLAS": calling(lambda s: torch.mm(s["A"], s["B"].T, out=s["theirs"])),
    "cuBLASLt": calling(lambda s: torch._addmm_activation(s["bias"], s["A"], s["B"].T, out=s["theirs"])),
    "unfused": calling(lambda s: torch.relu_(torch.mm(s["A"], s["B"].T, out=s["theirs"]).add_(s["bias"]))),
}


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


def turns(
    graphs: dict[str, Any], sets: list[Set], count: int = TURNS, settling: float = SETTLING
) -> dict[str, list[float]]:
    """Microseconds of a launch of each side, a replay of each in `count` turns, in an order drawn anew for each: what
    runs before leaves the device warm, and its clock lower. All sides run in turn for `settling` seconds before, so
    that the device has the clock that it keeps. Every graph launches once for each of `sets`, or of as many of its
    own."""
    times: dict[str, list[float]] = {name: [] for name in graphs}
    chance, order = Random(TURNS), list(graphs)
    begun = perf_counter()
    while perf_counter() - begun < settling:
        for graph in graphs.values():
            graph.replay()
        torch.cuda.synchronize()
    for _ in range(count):
        chance.shuffle(order)
        for name in order:
            times[name].append(1e3 * milliseconds(graphs[name]) / len(sets))
    return times


def paired(times: dict[str, list[float]]) -> dict[str, float]:
    """What a launch of each side takes: the median of its parts of its turns' means, times the median of these means,
    so that a clock that changes from turn to turn changes no comparison."""
    means = [fmean(turn) for turn in zip(*times.values(), strict=True)]
    return {
        name: median(means) * median(time / mean for time, mean in zip(own, means, strict=True))
        for name, own in times.items()
    }


def check(arrays: Set) -> None:
    wanted = torch.relu(arrays["A"][:ROWS].double() @ arrays["B"].double().T + arrays["bias"].double())
    assert not bool(torch.isnan(arrays["D"]).any())
    assert float((arrays["D"][:ROWS].double() - wanted).norm() / wanted.norm()) < 1e-3
