"""Thirty shapes tuned: the model's pick beside the best that was found, and the best beside cuBLASLt, in one process.

The products and their measuring are those of `test_device.py`. Kernels are made by all cores, gated, and timed as
`ptxgen tune` does, the best as the driver's compiler makes it; then the model's pick, the best and cuBLASLt take turns.
About 10 seconds a shape.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from math import prod
from multiprocessing import get_context

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.on_gpu import ON_GPU, SIDES, SPEC, check, graph_of, ours_by, paired, sets_of, torch, turns
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import processor_here
from ptxgen.tune import Refusal, Tuner, Tuning
from ptxgen.tune.on_device import OnGpu

pytestmark = ON_GPU
SHAPES = (
    (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (3000, 3000, 3000), (4096, 1024, 4096),
    (16384, 4096, 1024), (1024, 1024, 1024), (3072, 768, 768), (128, 4096, 4096), (512, 4096, 4096),
    (1024, 4096, 1024), (8192, 1024, 1024), (16, 8192, 8192), (4096, 4096, 64), (1536, 1536, 1536),
    (2560, 2560, 2560), (6144, 6144, 6144), (512, 512, 512), (256, 1024, 4096), (64, 4096, 4096),
    (32, 12288, 4096), (256, 4096, 4096), (2048, 8192, 1024), (1000, 2000, 1504), (768, 3072, 768),
    (4096, 512, 2048), (16384, 1024, 256), (2048, 256, 8192), (640, 1280, 2560), (5000, 1000, 1000),
)  # fmt: skip
CANDIDATES, PICKS_WITHIN, LEAST_GOOD_PICKS, LEAST_SHARE = 20, 1.10, 24, 0.95
PICKS: dict[tuple[int, int, int], float] = {}


@pytest.fixture(scope="module")
def found() -> Iterator[dict[Sizes, Tuning]]:
    """All shapes tuned; everything is made before anything is timed."""
    row = processor_here(90)
    if row is None:
        pytest.skip("no row of the model for this device")
    makers: Executor
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as makers, ThreadPoolExecutor(1) as here:
        tuner = Tuner(row, OnGpu(row), makers, here, None, CANDIDATES)
        yield {each.sizes: each for each in tuner.tune(SPEC, "sm_90a", [Sizes(*shape) for shape in SHAPES])}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_the_pick_and_the_best(
    benchmark: BenchmarkFixture, found: dict[Sizes, Tuning], shape: tuple[int, int, int]
) -> None:
    tuning = found[Sizes(*shape)]
    for trial in tuning.trials:
        if isinstance(trial.verdict, Refusal):
            print(f"\nrefused at {trial.verdict}: {trial.tiling}")
    assert tuning.best is not None
    sides = {
        "pick": ours_by("sm_90a", tuning.pick.tiling),
        "best": ours_by("sm_90a", tuning.best.tiling),
        "cuBLASLt": SIDES["cuBLASLt"],
    }
    sets = sets_of(*shape)
    graphs = {name: graph_of(side(sets)) for name, side in sides.items()}
    for name in ("pick", "best"):
        sets[0]["D"].fill_(float("nan"))
        graphs[name].replay()
        torch.cuda.synchronize()
        check(sets[0])
    took = paired(turns(graphs, sets))
    benchmark.pedantic(graphs["best"].replay, rounds=1)
    PICKS[shape] = took["pick"] / min(took["pick"], took["best"])
    rate = 2 * prod(shape) / took["best"] / 1e6
    told = ", ".join(f"{name} {value:.1f}" for name, value in took.items())
    share = took["cuBLASLt"] / took["best"]
    print(f"\n{'x'.join(map(str, shape))} us: {told}; {rate:.0f} TFLOP/s, {share:.3f} of cuBLASLt; "
          f"pick {PICKS[shape]:.3f} of the best, {tuning.pick.estimate.microseconds:.1f} expected; "
          f"best {tuning.best.tiling}")  # fmt: skip
    benchmark.extra_info.update({**took, "share of cuBLASLt": share, "pick": PICKS[shape]})
    assert share >= LEAST_SHARE


def test_most_picks_are_near_the_best() -> None:
    if len(PICKS) < len(SHAPES):
        pytest.skip("not all shapes were measured")
    good = [shape for shape, ratio in PICKS.items() if ratio <= PICKS_WITHIN]
    print(f"\n{len(good)} of {len(PICKS)} picks within {PICKS_WITHIN}")
    assert len(good) >= LEAST_GOOD_PICKS
