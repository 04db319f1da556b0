"""What it takes to choose a plan for a shape that nobody asked for before."""

from __future__ import annotations

from statistics import median
from time import process_time

from pytest_benchmark.fixture import BenchmarkFixture

from ptxgen.compute import f16
from ptxgen.kernels import Layout, MatmulSpec, parse_epilogue
from ptxgen.kernels.choosing.choice import chosen
from ptxgen.kernels.choosing.menu import Sizes, menu_for
from ptxgen.kernels.choosing.processors import processor_named

SPEC = MatmulSpec(Layout.NT, output=f16, epilogue=parse_epilogue("bias,relu"))
SHAPES = (
    (1024, 1024, 1024), (128, 4096, 4096), (16, 8192, 8192), (4096, 4096, 64), (3000, 3000, 3000), (5000, 1000, 1000),
    (8192, 8192, 8192), (640, 1280, 2560),
)  # fmt: skip
MILLISECONDS, ROUNDS = 15.0, 5


def test_a_choice(benchmark: BenchmarkFixture) -> None:
    row = processor_named("H200")
    assert row is not None
    for target in ("sm_90a", "sm_90"):
        taken = []
        for shape in SHAPES:
            rounds = []
            for _ in range(ROUNDS):
                chosen.cache_clear()
                begun = process_time()
                chosen(SPEC, target, Sizes(*shape), row)
                rounds.append(1e3 * (process_time() - begun))
            taken.append(min(rounds))
        offered = [len(menu_for(SPEC, target, Sizes(*shape))) for shape in SHAPES]
        print(
            f"\n{target}: {median(taken):.1f} ms, {max(taken):.1f} at most, of {min(offered)} to {max(offered)} plans"
        )
        benchmark.extra_info[target] = taken
        assert max(taken) <= MILLISECONDS
    benchmark.pedantic(lambda: chosen(SPEC, "sm_90a", Sizes(77, 77, 77), row), rounds=1)
