"""What several device tests ask of products: random draws and tiny shapes against float64, the bits of the simulator,
and the same bits run after run, also where threads sleep now and then and where a graph is replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from ptxgen.errors import LaunchError
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.kernels.launching.launch import prepare
from ptxgen.kernels.products.case import Case
from ptxgen.kernels.products.needs import conflicts
from ptxgen.runtime import load
from tests.kernels.cases import bits, judge, random_inputs, scalars_of

Draw = Callable[[Random], tuple[Matmul, dict[str, int]]]
RUNS, SEEDS, REPLAYS = 1000, 10, 100
TINY = [(8, 8, 8), (8, 264, 64), (264, 8, 448), (520, 136, 8), (1000, 776, 512)]
SITES = (
    "mbarrier.try_wait",
    "mbarrier.arrive",
    "cp.async",
    "wgmma.fence",
    "wgmma.commit",
    "wgmma.wait",
    "ldmatrix",
    "st.global",
    "red.",
    "atom.relaxed",
    "ld.acquire",
    "st.release",
)


def drawn_sizes(chance: Random, units: tuple[int, ...] = (1, 2, 8, 8, 8, 64), rows: int = 900) -> dict[str, int]:
    """Sizes that are multiples of a unit, some of them tiny, K also 0; three products where they are batched."""
    unit = chance.choice(units)
    most = (("M", rows), ("N", 900), ("K", chance.choice((0, 40, 300, 600))))
    sizes = {name: unit * chance.randint(1, max(1, top // unit)) if top else 0 for name, top in most}
    return {**sizes, "batches": 3}


def carried_out(spec: MatmulSpec, target: str, tilings: Iterable[MatmulTiling]) -> list[MatmulTiling]:
    """Those tilings of which all is carried out for a product on a target; others are refused."""
    return [tiling for tiling in tilings if not any(conflicts(Case.of(spec, target, tiling)))]


def check_draws(draw: Draw, first: int, count: int) -> None:
    """Products drawn by the numbers from `first` on, on the GPU against float64; a failure tells which."""
    for number in range(first, first + count):
        product, sizes = draw(Random(number))
        scalars = scalars_of(product.compute)
        inputs = random_inputs(product.compute, sizes, number)
        if not runs_at_once(product, inputs):
            continue
        try:
            arrays = product(inputs, scalars, on=Machine.GPU).arrays
            judge(product.compute, arrays, scalars, exact=False, target="sm_90")
        except AssertionError as error:
            found = f"{product.spec}, {product.target}, {product.tiled}, {sizes}"
            raise AssertionError(f"draw {number}: {found}") from error


def runs_at_once(product: Matmul, inputs: Mapping[str, Any]) -> bool:
    """Whether the device holds all blocks of a launch, or they need not run at once; others are refused by name."""
    arrays = product.with_outputs(inputs)
    kernel, scalars = product.kernel_for(arrays), scalars_of(product.compute)
    blocks = prepare(kernel.entry, arrays, scalars, resident=kernel.resident()).blocks
    if not kernel.entry.waits or blocks <= kernel.resident():
        return True
    with pytest.raises(LaunchError, match=f"{blocks} blocks wait for each other's sums"):
        product(inputs, scalars, on=Machine.GPU)
    return False


def check_tiny(tiling: MatmulTiling, size: tuple[int, int, int]) -> None:
    """Products of a small or ragged size (M, N, K) in every layout, on the GPU against float64."""
    for layout in Layout:
        product = Matmul(MatmulSpec(layout), "sm_90a", tiling)
        inputs = random_inputs(product.compute, dict(zip("MNK", size, strict=True)))
        if not runs_at_once(product, inputs):
            continue
        outcome = product(inputs, on=Machine.GPU)
        judge(product.compute, outcome.arrays, {}, exact=False, target="sm_90")


def check_simulated(tiling: MatmulTiling, sizes: dict[str, int]) -> None:
    """The GPU's results have the bits of the simulator's."""
    product = Matmul(MatmulSpec(Layout.NT), "sm_90a", tiling)
    inputs = random_inputs(product.compute, sizes)
    assert np.array_equal(bits(product(inputs).arrays["D"]), bits(product(inputs, on=Machine.GPU).arrays["D"]))


def check_replays(tiling: MatmulTiling, a: Any, b: Any, launches: int) -> None:
    """A graph of some launches, A as M x K and B as N x K, replayed a hundred times: all of the bits of one launch.
    Flags of a workspace are zero again behind each launch; the memory is there before the capture."""
    torch = pytest.importorskip("torch")
    first, again = (torch.empty(len(a), len(b), device="cuda", dtype=torch.float16) for _ in range(2))
    product = Matmul(MatmulSpec(Layout.NT), "sm_90a", tiling)
    kernel = product.kernel_for({"A": a, "B": b, "D": again})
    kernel.run({"A": a, "B": b, "D": first})
    stream = torch.cuda.Stream()
    kernel.run({"A": a, "B": b, "D": again}, stream=stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(launches):
            kernel.run({"A": a, "B": b, "D": again}, stream=stream)
    for _ in range(REPLAYS):
        again.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(again, first)


def check_runs(product: Matmul, depth: int) -> None:
    """A thousand runs of a ragged product with A as M x K and B as N x K, all of the same bits."""
    torch = pytest.importorskip("torch")
    rng = torch.Generator(device="cuda").manual_seed(7)
    a = torch.randn(1000, depth, device="cuda", dtype=torch.float16, generator=rng)
    b = torch.randn(1032, depth, device="cuda", dtype=torch.float16, generator=rng)
    first = torch.full((1000, 1032), float("nan"), device="cuda", dtype=torch.float16)
    again = torch.empty_like(first)
    if not runs_at_once(product, {"A": a, "B": b, "D": first}):
        return
    product({"A": a, "B": b, "D": first}, on=Machine.GPU)
    for _ in range(RUNS):
        again.fill_(float("nan"))
        product({"A": a, "B": b, "D": again}, on=Machine.GPU)
        assert torch.equal(again, first)


def sleeping(text: str, chance: Random) -> str:
    """The kernel with a sleep of up to two microseconds before half of its waits, arrivals, copies, products, stores:
    as long as the clock's low bits say, so that every thread and every pass sleeps otherwise."""
    lines: list[str] = []
    for line in text.splitlines():
        if any(site in line for site in SITES) and chance.random() < 0.5:
            lines += ["mov.u32 %jitter, %clock;", "and.b32 %jitter, %jitter, 2047;", "nanosleep.u32 %jitter;"]
        lines.append(line)
        if line == "{":
            lines.append(".reg .u32 %jitter;")
    return "\n".join(lines)


def check_sleeps(product: Matmul) -> None:
    """A thousand runs of a ragged product, A as M x K and B as N x K, whose threads sleep by chance: all of the bits of
    one that does not."""
    torch = pytest.importorskip("torch")
    rng = torch.Generator(device="cuda").manual_seed(11)
    a = torch.randn(392, 328, device="cuda", dtype=torch.float16, generator=rng)
    b = torch.randn(520, 328, device="cuda", dtype=torch.float16, generator=rng)
    first = torch.full((392, 520), float("nan"), device="cuda", dtype=torch.float16)
    again = torch.empty_like(first)
    if not runs_at_once(product, {"A": a, "B": b, "D": first}):
        return
    product({"A": a, "B": b, "D": first}, on=Machine.GPU)
    kernel = product.kernel_for({"A": a, "B": b, "D": again})
    launch = kernel.prepare({"A": a, "B": b, "D": again})
    for seed in range(SEEDS):
        slow = launch.packed(load(sleeping(kernel.listing.text, Random(seed)))[kernel.program.name])
        for _ in range(RUNS // SEEDS):
            again.fill_(float("nan"))
            slow()
            assert torch.equal(again, first), seed


def check_beside_others(kernel: GeneratedKernel, a: Any, b: Any, outs: Sequence[Any]) -> None:
    """Launches of A @ B.T on as many streams as there are results, while another kernel fills the device: each result
    near float64, and all of the same bits."""
    torch = pytest.importorskip("torch")
    wide = torch.randn(8192, 8192, device="cuda").half()
    wanted = (a.double() @ b.double().mT).cpu().numpy()
    streams, busy = [torch.cuda.Stream() for _ in outs], torch.cuda.Stream()
    torch.cuda.synchronize()
    for _ in range(20):
        with torch.cuda.stream(busy):
            torch.mm(wide, wide)
        for stream, out in zip(streams, outs, strict=True):
            for _ in range(10):
                kernel.run({"A": a, "B": b, "D": out}, stream=stream)
    torch.cuda.synchronize()
    assert all(np.abs(out.cpu().numpy().astype(float) - wanted).max() < 0.5 for out in outs)
    assert all(torch.equal(out, outs[0]) for out in outs)
