"""Thirty shapes: what the model picks beside the best of the tuner's first candidates, and the best beside cuBLASLt.

The quick half of `test_tuning.py`: candidates are made by all cores and assembled there, each is held against float64
once, and nothing else is asked of them. Half a minute for all shapes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from attrs import frozen
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.on_gpu import ON_GPU, SIDES, SPEC, Set, check, graph_of, launching, paired, sets_of, torch, turns
from benchmarks.test_tuning import LEAST_GOOD_PICKS, LEAST_SHARE, PICKS_WITHIN, SHAPES
from ptxgen.compute import Compute
from ptxgen.kernels import Matmul, MatmulTiling
from ptxgen.kernels.choosing.choice import ranked
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import processor_for
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.tune import Tuner
from ptxgen.tune.calibration import facts_for
from ptxgen.tune.making import Made, Wanted, make
from ptxgen.tune.on_device import OnGpu

pytestmark = ON_GPU
TARGET, CANDIDATES, NEAR = "sm_90a", 30, 1.12
Shape = tuple[int, int, int]
GOOD: dict[Shape, bool] = {}


@frozen
class Alone:
    """One kernel as `launching` wants a product, whatever the arrays."""

    compute: Compute
    kernel: GeneratedKernel

    def kernel_for(self, arrays: Set) -> GeneratedKernel:
        return self.kernel


@pytest.fixture(scope="module")
def made() -> Iterator[dict[Shape, dict[MatmulTiling, Future[Made]]]]:
    """The candidates of all shapes, the model's pick first, each made once for all that may launch it."""
    row = processor_for(90)
    assert row is not None
    found: dict[Shape, dict[MatmulTiling, Future[Made]]] = {}
    known: dict[Wanted, Future[Made]] = {}
    makers: Executor
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as makers, ThreadPoolExecutor(1) as here:
        tuner = Tuner(row, OnGpu(row), makers, here, None, CANDIDATES)
        for shape in SHAPES:
            sizes = Sizes(*shape)
            order = ranked(SPEC, TARGET, sizes, row)
            tilings = (order[0].tiling, *(each.tiling for each in tuner.candidates(SPEC, TARGET, sizes, order)))
            for tiling in dict.fromkeys(tilings):
                wanted = Wanted(SPEC, TARGET, tiling, facts_for(SPEC, sizes, tiling, TARGET))
                if wanted not in known:
                    known[wanted] = makers.submit(make, wanted)
                found.setdefault(shape, {})[tiling] = known[wanted]
        yield found


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_the_pick_and_the_best_of_the_first(
    benchmark: BenchmarkFixture, made: dict[Shape, dict[MatmulTiling, Future[Made]]], shape: Shape
) -> None:
    sets, compute = sets_of(*shape), Matmul(SPEC, TARGET).compute
    graphs = {"cuBLASLt": graph_of(SIDES["cuBLASLt"](sets))}
    pick, kernels = str(next(iter(made[shape]))), []
    for tiling, future in made[shape].items():
        kernel = future.result().kernel
        cubin = future.result().cubin
        if cubin is not None:
            kernel.take(cubin)
        kernels.append(kernel)
        sets[0]["D"].fill_(float("nan"))
        graphs[str(tiling)] = graph_of(launching(Alone(compute, kernel))(sets))
        graphs[str(tiling)].replay()
        torch.cuda.synchronize()
        check(sets[0])
    quick = paired(turns(graphs, sets, 3, settling=0.0))
    least = min(time for name, time in quick.items() if name != "cuBLASLt")
    kept = {name: graph for name, graph in graphs.items() if name in ("cuBLASLt", pick) or quick[name] < NEAR * least}
    took = paired(turns(kept, sets))
    benchmark.pedantic(graphs[pick].replay, rounds=1)
    best = min((name for name in took if name != "cuBLASLt"), key=lambda name: took[name])
    GOOD[shape] = took[pick] <= PICKS_WITHIN * took[best]
    share = took["cuBLASLt"] / took[best]
    print(f"\n{'x'.join(map(str, shape))} us: pick {took[pick]:.2f}, best {took[best]:.2f}, cuBLASLt "
          f"{took['cuBLASLt']:.2f}; best {share:.3f} of cuBLASLt; pick {pick}; best {best}")  # fmt: skip
    benchmark.extra_info.update({"pick": took[pick], "best": took[best], "cuBLASLt": took["cuBLASLt"]})
    assert share >= LEAST_SHARE


def test_most_picks_are_near_the_best_of_the_first() -> None:
    if len(GOOD) < len(SHAPES):
        pytest.skip("not all shapes were measured")
    print(f"\n{sum(GOOD.values())} of {len(GOOD)} picks within {PICKS_WITHIN}")
    assert sum(GOOD.values()) >= LEAST_GOOD_PICKS
