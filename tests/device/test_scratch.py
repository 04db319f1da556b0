"""Memory that launches take for themselves, on the GPU: graphs and streams side by side, first uses in a capture, and
graphs that outlive what they captured. Sums keep their bits."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from attrs import evolve

from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling, generate, matmul_compute, matmul_plan
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.plan import Fact, sms
from ptxgen.runtime import compute_capability, record

torch = pytest.importorskip("torch")
SPEC = MatmulSpec(Layout.NT)
SPLIT = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False, split=3)
STREAMED = evolve(SPLIT, split=1, workers=sms, stream=True)
TILINGS = {"split": SPLIT, "streamed": STREAMED}
M, N, K = 256, 320, 1344
ROUNDS = 200


@pytest.fixture(autouse=True)
def hopper() -> None:
    if compute_capability()[0] != 9:
        pytest.skip("the plans are for sm_90a")


def facts() -> tuple[Fact, ...]:
    compute = matmul_compute(SPEC)
    return facts_of(compute, bind(arrays_in_memory(compute), arrays(0)))


def kernel_of(name: str) -> GeneratedKernel:
    return generate(matmul_plan(matmul_compute(SPEC), SPEC, facts(), TILINGS[name], "sm_90a"))


def arrays(seed: int) -> dict[str, Any]:
    rng = torch.Generator(device="cuda").manual_seed(seed)
    a, b = (torch.randn(rows, K, device="cuda", generator=rng).half() for rows in (M, N))
    return {"A": a, "B": b, "D": torch.full((M, N), float("nan"), device="cuda").half()}


def alone(kernel: GeneratedKernel, held: dict[str, Any]) -> Any:
    """The result of a launch with nothing beside it."""
    out = torch.empty_like(held["D"])
    torch.cuda.synchronize()
    kernel.run({**held, "D": out})
    torch.cuda.synchronize()
    exact = held["A"].double() @ held["B"].double().mT
    assert float((out.double() - exact).abs().max()) < 0.2
    return out


def captured(kernel: GeneratedKernel, held: dict[str, Any], stream: Any, *, count: int = 3) -> Any:
    """A graph of torch's, whose capture forbids what is not safe."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(count):
            kernel.run(held, stream=torch.cuda.current_stream())
    return graph


@pytest.mark.parametrize("name", TILINGS)
def test_a_first_launch_may_be_captured(name: str) -> None:
    held, kernel = arrays(1), kernel_of(name)
    graph = captured(kernel, held, torch.cuda.Stream())
    for _ in range(3):
        held["D"].fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(held["D"], alone(kernel, held))


@pytest.mark.parametrize("name", TILINGS)
def test_graphs_and_launches_side_by_side(name: str) -> None:
    """Of one kernel, also captured on one and the same stream: with one memory the sums would mix."""
    kernel, common = kernel_of(name), torch.cuda.Stream()
    sets = [arrays(seed) for seed in range(4)]
    wanted = [alone(kernel, held) for held in sets]
    graphs = [captured(kernel, held, common) for held in sets[:3]]
    streams = [torch.cuda.Stream() for _ in sets]
    torch.cuda.synchronize()
    for _ in range(ROUNDS):
        for graph, stream in zip(graphs, streams, strict=False):
            with torch.cuda.stream(stream):
                graph.replay()
        kernel.run(sets[3], stream=streams[3])
    torch.cuda.synchronize()
    for held, right in zip(sets, wanted, strict=True):
        assert torch.equal(held["D"], right)


@pytest.mark.parametrize("name", TILINGS)
def test_one_launch_on_two_streams(name: str) -> None:
    held, kernel = arrays(1), kernel_of(name)
    wanted = alone(kernel, held)
    made = kernel.prepare(held)
    assert made.workspace_bytes > 0
    launch = kernel.loaded.prepare(
        *made.arguments,
        grid=made.blocks,
        block=made.threads,
        cluster=made.cluster,
        shared_bytes=made.shared_bytes,
        cooperative=made.cooperative,
    )
    streams = [torch.cuda.Stream() for _ in range(2)]
    for _ in range(ROUNDS):
        for stream in streams:
            launch.on_stream(stream)
            launch()
    torch.cuda.synchronize()
    assert torch.equal(held["D"], wanted)
    graphs = [record([launch]) for _ in range(2)]
    for _ in range(ROUNDS):
        for graph in graphs:
            graph()
    for graph in graphs:
        graph.wait()
    assert torch.equal(held["D"], wanted)


def test_a_graph_outlives_the_kernel_whose_sums_are_passed_on() -> None:
    held = arrays(2)
    kernel = kernel_of("split")
    wanted = alone(kernel, held)
    graph = captured(kernel, held, torch.cuda.Stream())
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None
    memory = [torch.full((1 << 20,), 3, device="cuda", dtype=torch.int32) for _ in range(64)]
    for _ in range(3):
        held["D"].fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(held["D"], wanted)
    del memory
