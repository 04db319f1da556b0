"""What a launch costs the host: prepared ones with new pointers, the plain call, the same in a graph, and the operator
of torch, eager and compiled, in one process with torch's own.

The kernel is small, so the device keeps up; figures are the least of several rounds of many calls each.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import ptxgen
from ptxgen.kernels import Matmul, MatmulSpec
from ptxgen.kernels.calling.call import target_of

torch = pytest.importorskip("torch")

from ptxgen.torch import matmul  # noqa: E402

pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.filterwarnings("default"),
]
ROUNDS, CALLS = 20, 500
PREPARED_MICROSECONDS, PLAIN_MICROSECONDS = 5.0, 15.0
USUAL_MICROSECONDS = 12.0
"""What a call of `torch.mm` takes on the hosts that the bounds are for; slower ones are given their share more."""
IN_A_GRAPH, GRAPH_MICROSECONDS = 50, 1.0


def microseconds(work: Callable[[], Any]) -> float:
    """The host's time for one call, the least of the rounds' means."""
    best = float("inf")
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        begin = perf_counter()
        for _ in range(CALLS):
            work()
        best = min(best, (perf_counter() - begin) / CALLS)
    torch.cuda.synchronize()
    return 1e6 * best


def of_torch() -> float:
    """What a call of `torch.mm` takes on this host."""
    held = arrays()
    return microseconds(lambda: torch.mm(held["A"], held["B"]))


def bound(usual: float, of_torch: float) -> float:
    """A bound where a call of torch takes so many microseconds."""
    return usual * max(1.0, of_torch / USUAL_MICROSECONDS)


def arrays() -> dict[str, Any]:
    return {name: torch.randn(128, 128, device="cuda", dtype=torch.float16) for name in "ABD"}


def check(held: dict[str, Any]) -> None:
    """AssertionError unless the result is the product of these operands."""
    exact = held["A"].double() @ held["B"].double()
    assert float((held["D"].double() - exact).abs().max()) < 5e-2


def test_a_prepared_launch_with_new_pointers(benchmark: BenchmarkFixture) -> None:
    """All places that hold an address are set, parameters and tensor maps, as the plain call does."""
    first, second = arrays(), arrays()
    kernel = Matmul(MatmulSpec(), target_of(0)).kernel_for(first)
    launch = kernel.prepared(first, stream=torch.cuda.current_stream())
    assert {array for _, array in launch.places} == {0, 1, 2}, "an array without a place would stay the first one"
    addresses = [tuple(held[name].data_ptr() for name in launch.names) for held in (first, second)]
    turn = [0]

    def work() -> None:
        turn[0] ^= 1
        launch.at(addresses[turn[0]])

    for held in (second, first):
        work()
        check(held)
    found, other = microseconds(work), of_torch()
    for held in (first, second):
        held["D"].fill_(float("nan"))
    for _ in range(2):
        work()
    check(first)
    check(second)
    benchmark.pedantic(work, rounds=1)
    benchmark.extra_info.update({"microseconds": found, "torch": other})
    told = f"{len(launch.places)} places of three arrays, torch.mm: {other:.2f} us"
    print(f"\nprepared launch with new pointers: {found:.2f} us, {told}")
    assert found <= bound(PREPARED_MICROSECONDS, other)


def test_the_plain_call(benchmark: BenchmarkFixture) -> None:
    held = arrays()

    def work() -> Any:
        return ptxgen.matmul(held["A"], held["B"])

    work()
    found, other = microseconds(work), of_torch()
    benchmark.pedantic(work, rounds=1)
    benchmark.extra_info.update({"microseconds": found, "torch": other})
    print(f"\nptxgen.matmul: {found:.2f} us, torch.mm: {other:.2f} us")
    assert found <= bound(PLAIN_MICROSECONDS, other)


def test_nothing_in_a_graph(benchmark: BenchmarkFixture) -> None:
    """Captured calls are replayed without Python, each in a share of what a launch costs: the host's time of a replay
    over the products in it, beside as many of torch."""
    held = arrays()
    sides: dict[str, Callable[[], Any]] = {
        "ptxgen.matmul": lambda: ptxgen.matmul(held["A"], held["B"], out=held["D"]),
        "torch.mm": lambda: torch.mm(held["A"], held["B"], out=held["D"]),
    }
    found = {}
    for name, work in sides.items():
        work()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(IN_A_GRAPH):
                work()
        held["D"].fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        check(held)
        found[name] = replayed(graph) / IN_A_GRAPH
    benchmark.pedantic(lambda: None, rounds=1)
    benchmark.extra_info.update(found)
    print("\nin a graph: " + ", ".join(f"{name} {value:.2f} us" for name, value in found.items()))
    assert found["ptxgen.matmul"] <= GRAPH_MICROSECONDS


def replayed(graph: Any) -> float:
    """The host's time for a replay, the least of the rounds, each behind an idle device."""
    best = float("inf")
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        begin = perf_counter()
        graph.replay()
        best = min(best, perf_counter() - begin)
    torch.cuda.synchronize()
    return 1e6 * best


def test_the_operator_of_torch(benchmark: BenchmarkFixture) -> None:
    """No bound: what torch itself takes to reach an operator that is written in Python is most of it."""
    held = arrays()
    a, b, wanting = held["A"], held["B"], held["A"].clone().requires_grad_()
    sides: dict[str, Callable[[], Any]] = {
        "operator": lambda: matmul(a, b),
        "operator, recorded for gradients": lambda: matmul(wanting, b),
        "ptxgen.matmul": lambda: ptxgen.matmul(a, b),
        "torch.mm": lambda: torch.mm(a, b),
        "torch.mm, recorded for gradients": lambda: torch.mm(wanting, b),
    }
    told(benchmark, sides)


def test_the_operator_compiled(benchmark: BenchmarkFixture) -> None:
    """Where torch can compile; a machine without a compiler of C cannot."""
    held = arrays()
    a, b = held["A"], held["B"]
    ours, theirs = (torch.compile(each, fullgraph=True) for each in (matmul, lambda one, other: torch.mm(one, other)))
    try:
        theirs(a, b)
    except Exception as error:
        pytest.skip(f"torch does not compile here: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}")
    told(benchmark, {"operator, compiled": lambda: ours(a, b), "torch.mm, compiled": lambda: theirs(a, b)})


def told(benchmark: BenchmarkFixture, sides: dict[str, Callable[[], Any]]) -> None:
    """Times all sides and prints what each takes."""
    for work in sides.values():
        work()
    found = {name: microseconds(work) for name, work in sides.items()}
    benchmark.pedantic(next(iter(sides.values())), rounds=1)
    benchmark.extra_info.update(found)
    print("\n" + ", ".join(f"{name}: {value:.2f} us" for name, value in found.items()))
