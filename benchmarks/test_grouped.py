"""Products of experts on the GPU beside torch's grouped product and one call for each expert, in one process, taking
turns.

Tokens are M x K and weights G x N x K in rows, bf16 drawn from N(0, 1); groups as a router of skewed weights draws
them. Every side is a CUDA graph of launches over rotating buffers, as in `test_device.py`; results are held against
float64 in 256 rows. `each` is a product of torch for each expert, whose sizes the host must know.
"""

from __future__ import annotations

from math import ceil

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.on_gpu import CACHE_BYTES, MOST_SETS, ON_GPU, ROWS, Set, calling, graph_of, paired, torch, turns
from ptxgen import grouped_matmul

pytestmark = ON_GPU
SHAPES = ((8, 8192, 4096, 4096), (64, 8192, 2048, 2048), (128, 4096, 1536, 4096), (256, 2048, 2048, 7168))


def sets_of(groups: int, m: int, n: int, k: int) -> list[Set]:
    """Tokens, weights, ends and poisoned results, as many as do not fit the cache together."""
    count = min(MOST_SETS, max(2, ceil(CACHE_BYTES / (2 * (m * k + groups * n * k + m * n)))))
    made = {"device": "cuda", "dtype": torch.bfloat16}
    found = []
    for _ in range(count):
        drawn = torch.multinomial(torch.rand(groups) + 0.1, m, replacement=True).bincount(minlength=groups)
        found.append(
            {
                "tokens": torch.randn(m, k, **made),
                "weights": torch.randn(groups, n, k, **made).transpose(1, 2),
                "ends": drawn.cumsum(0).to("cuda", torch.int32),
                "lengths": drawn.tolist(),
                "D": torch.full((m, n), float("nan"), **made),
            }
        )
    return found


def one_by_one(arrays: Set) -> None:
    rows = (arrays[name].split(arrays["lengths"]) for name in ("tokens", "D"))
    for tokens, weights, out in zip(next(rows), arrays["weights"], next(rows), strict=True):
        torch.mm(tokens, weights, out=out)


def ours(arrays: Set) -> None:
    grouped_matmul(arrays["tokens"], arrays["weights"], arrays["ends"], out=arrays["D"])


def theirs(arrays: Set) -> None:
    arrays["D"] = torch._grouped_mm(arrays["tokens"], arrays["weights"], offs=arrays["ends"])


def judge(arrays: Set) -> None:
    """256 rows against float64."""
    group = torch.repeat_interleave(torch.arange(len(arrays["lengths"])), torch.tensor(arrays["lengths"]))
    for row in torch.randperm(len(group))[:ROWS].tolist():
        wanted = arrays["tokens"][row].double() @ arrays["weights"][group[row]].double()
        error = (arrays["D"][row].double() - wanted).abs().max()
        assert error <= 2**-8 * wanted.abs().max() + 1e-2


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_experts(benchmark: BenchmarkFixture, shape: tuple[int, int, int, int]) -> None:
    sides = {"ours": ours, "each": one_by_one}
    if hasattr(torch, "_grouped_mm"):
        sides["torch"] = theirs
    sets = {name: sets_of(*shape) for name in sides}
    graphs = {name: graph_of(calling(work)(sets[name])) for name, work in sides.items()}
    times = turns(graphs, sets["ours"])
    benchmark.pedantic(graphs["ours"].replay, rounds=1)
    for name in sides:
        judge(sets[name][0])
    found = paired(times)
    _, m, n, k = shape
    rate = 2e-6 * m * n * k / found["ours"]
    told = ", ".join(f"{name} {value:.1f}" for name, value in found.items())
    benchmark.extra_info.update(found)
    print(f"\n{shape}: {told} us, ours {rate:.0f} TFLOP/s")
