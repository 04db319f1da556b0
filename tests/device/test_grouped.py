"""Grouped products on the GPU: groups that only memory knows, against float64, and the bits of the simulator."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen import grouped_matmul
from ptxgen.kernels import Grouping, Layout, Machine, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.plan import BlockOrder, grouped, hilbert, sms
from ptxgen.runtime import compute_capability
from tests.kernels.grouped import Case, bounds

WARPGROUPS = (
    MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, drain=64),
    MatmulTiling(i=128, j=128, k=64, warps=8, depth=4, drain=32, overlap=True),
    MatmulTiling(i=64, j=64, k=64, warps=4, depth=3),
    MatmulTiling(i=64, j=128, k=32, warps=4, depth=5, drain=64),
    MatmulTiling(i=32, j=128, k=64, warps=8, depth=3, swap=True),
)
WARPS = (
    MatmulTiling(i=128, j=128, warps=4, depth=4, drain=32, isolate=False),
    MatmulTiling(i=64, j=64, depth=2, isolate=False),
    MatmulTiling(i=64, j=64, depth=3, isolate=False, boxed=True),
)
PLANS = [("sm_90a", each) for each in WARPGROUPS] + [("sm_90", each) for each in WARPS]
USUAL = {Grouping.ROWS: Layout.NT, Grouping.TERMS: Layout.TN}
WORKERS = (None, sms, 1, 3, 40, 1000)


def hopper() -> None:
    if compute_capability()[0] != 9:
        pytest.skip("the plans are for devices of capability 9")


def ends_of(chance: Random, rows: int) -> list[int]:
    """Ends of up to forty groups, empty ones and single rows among them; at times one that descends or is beyond."""
    ends = sorted(chance.choices(range(rows + 1), k=chance.randint(1, 40)))
    ends = [end for end in ends for _ in range(chance.choice((1, 1, 1, 2)))]
    if chance.random() < 0.2:
        ends[chance.randrange(len(ends))] = chance.choice((-5, 0, rows + 77))
    return ends


@pytest.mark.parametrize("seed", range(40))
def test_random_groups_plans_and_layouts(seed: int) -> None:
    hopper()
    chance = Random(seed)
    target, tiling = chance.choice(PLANS)
    raster = chance.choice((BlockOrder(1), grouped(2), grouped(8), hilbert(4)))
    tiling = evolve(tiling, workers=chance.choice(WORKERS), raster=raster)
    grouping = chance.choice(list(Grouping))
    layout = USUAL[grouping] if chance.random() < 0.6 else chance.choice(list(Layout))
    unit = chance.choice((1, 8, 8, 8))
    rows, columns, inner = (unit * chance.randint(1, 640 // unit) for _ in range(3))
    size = (4 * rows, columns, inner) if grouping is Grouping.ROWS else (rows, columns, 4 * inner)
    case = Case.of(grouping, ends_of(chance, size[0] if grouping is Grouping.ROWS else size[2]), size, seed)
    made = Matmul(MatmulSpec(layout, epilogue=parse_epilogue("bias,relu"), grouped=grouping), target, tiling)
    arrays = case.arrays(layout)
    case.judge(made(arrays, on=Machine.GPU).arrays["D"])
    again = made(case.arrays(layout), on=Machine.GPU).arrays["D"]
    assert again.tobytes() == arrays["D"].tobytes()


@pytest.mark.parametrize("grouping", Grouping, ids=lambda each: each.value)
@pytest.mark.parametrize("number", range(len(WARPGROUPS)))
def test_results_in_boxes_end_where_a_group_does(number: int, grouping: Grouping) -> None:
    """A tensor map for all groups: every length of a group within a tile, and a row behind each that nothing writes."""
    hopper()
    tiling = evolve(WARPGROUPS[number], workers=sms)
    ends = np.cumsum(np.arange(1, 70)).tolist()
    size = (ends[-1] + 3, 136, 72) if grouping is Grouping.ROWS else (72, 136, ends[-1] + 3)
    case = Case.of(grouping, ends, size)
    made = Matmul(MatmulSpec(USUAL[grouping], epilogue=parse_epilogue("bias,relu"), grouped=grouping), "sm_90a", tiling)
    case.judge(made(case.arrays(USUAL[grouping]), on=Machine.GPU).arrays["D"])


@pytest.mark.parametrize("grouping", Grouping, ids=lambda each: each.value)
def test_the_bits_of_the_simulator(grouping: Grouping) -> None:
    hopper()
    size = (344, 136, 72) if grouping is Grouping.ROWS else (72, 136, 344)
    case = Case.of(grouping, [5, 5, 70, 71, 200, 330], size)
    for target, tiling in PLANS:
        spec = MatmulSpec(USUAL[grouping], epilogue=parse_epilogue("bias,relu"), grouped=grouping)
        made = Matmul(spec, target, evolve(tiling, workers=3))
        there, here = (made(case.arrays(spec.layout), on=on).arrays["D"] for on in (Machine.GPU, Machine.CPU))
        assert there.tobytes() == here.tobytes()


def tensors(kind: str, groups: int, rows: int, n: int, k: int) -> tuple[Any, Any, Any]:
    torch = pytest.importorskip("torch")
    tokens = torch.randn(rows, k, device="cuda", dtype=getattr(torch, kind))
    weights = torch.randn(groups, n, k, device="cuda", dtype=getattr(torch, kind)) / k**0.5
    lengths = torch.multinomial(torch.rand(groups, device="cuda") + 0.01, rows, replacement=True).bincount(
        minlength=groups
    )
    return tokens, weights, lengths.cumsum(0).to(torch.int32)


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
@pytest.mark.parametrize("size", [(8, 4096, 512, 1024), (64, 4096, 1536, 512), (256, 1000, 264, 72)], ids=str)
def test_experts_and_the_gradients_of_their_weights(kind: str, size: tuple[int, int, int, int]) -> None:
    torch = pytest.importorskip("torch")
    tokens, weights, ends = tensors(kind, *size)
    found = grouped_matmul(tokens, weights.transpose(1, 2), ends)
    gradients = grouped_matmul(found.T, tokens, ends)
    assert (found.dtype, gradients.shape) == (tokens.dtype, weights.shape)
    for group, (first, end) in enumerate(bounds(ends.tolist(), size[1])):
        wanted = tokens[first:end].double() @ weights[group].double().T
        assert torch.allclose(found[first:end].double(), wanted, rtol=2**-7, atol=2**-8)
        summed = found[first:end].double().T @ tokens[first:end].double()
        assert torch.allclose(gradients[group].double(), summed, rtol=2**-7, atol=2**-6 * max(1, end - first) ** 0.5)


def test_the_result_of_torch() -> None:
    torch = pytest.importorskip("torch")
    if not hasattr(torch, "_grouped_mm"):
        pytest.skip("this torch has no grouped products")
    tokens, weights, ends = tensors("bfloat16", 16, 2048, 768, 512)
    theirs = torch._grouped_mm(tokens, weights.transpose(1, 2), offs=ends)
    assert torch.allclose(
        grouped_matmul(tokens, weights.transpose(1, 2), ends).float(), theirs.float(), rtol=2**-6, atol=2**-7
    )


def test_offsets_that_the_device_has_yet_to_tell() -> None:
    """A launch recorded once, with other groups at every replay: nothing of them is known to the host."""
    torch = pytest.importorskip("torch")
    tokens, weights, ends = tensors("float16", 12, 1500, 256, 128)
    out, stream = torch.zeros(1500, 256, device="cuda", dtype=torch.float16), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        grouped_matmul(tokens, weights.transpose(1, 2), ends, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        grouped_matmul(tokens, weights.transpose(1, 2), ends, out=out)
    for seed in range(5):
        lengths = np.random.default_rng(seed).multinomial(1500, [1 / 12] * 12)
        ends.copy_(torch.tensor(lengths).cumsum(0))
        graph.replay()
        torch.cuda.synchronize()
        for group, (first, end) in enumerate(bounds(ends.tolist(), 1500)):
            wanted = tokens[first:end].double() @ weights[group].double().T
            assert torch.allclose(out[first:end].double(), wanted, rtol=2**-9, atol=2**-9)
