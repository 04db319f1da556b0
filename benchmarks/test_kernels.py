"""Time to generate the default product, and to simulate 256 x 256 x 256 of it with every check on.

The clock is the processor time of this process, which is single-threaded: waiting does not count, but shared caches
and sibling threads do. So generation is held against a floor of plain Python measured between its rounds, which the
load of the machine slows alike.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import process_time

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from ptxgen.emit import emit
from ptxgen.kernels import Matmul, MatmulSpec, generate, matmul_compute, matmul_plan, parse_epilogue
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Fact, aligned, multiple

SIMULATE_SECONDS = 1.5
GENERATE_SECONDS, FLOOR_SECONDS = 0.250, 0.098
FLOORS_TO_GENERATE = GENERATE_SECONDS / FLOOR_SECONDS
ROUNDS, REPEATS = 9, 15
SPEC = MatmulSpec(epilogue=parse_epilogue("bias,relu"))
FACTS: tuple[Fact, ...] = (*aligned("A", "B", "D", bytes=16), *(multiple(name, 8) for name in ("lda", "ldb", "ldd")))


def statement_to_text() -> str:
    """The default kernel from its statements to PTX, nothing remembered."""
    plan = matmul_plan(matmul_compute(SPEC), SPEC, FACTS, MatmulTiling(), "sm_70")
    return str(emit(generate(plan).module))


def floor() -> int:
    """Plain Python of the kind that generation is made of: tuples, dicts, calls, formatted text."""
    size = 0
    for _ in range(REPEATS):
        seen: dict[tuple[str, int], int] = {}
        lines: list[str] = []
        for number in range(8000):
            key = (str(number % 97), number % 89)
            seen[key] = seen.get(key, 0) + number
            lines.append(f"add.s32 %r{number}, %r{seen[key] % 64}, {key[1]};")
        size += len("\n".join(sorted(lines)))
    return size


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one call, with no garbage left over from before."""
    gc.collect()
    started = process_time()
    work()
    return process_time() - started


@pytest.mark.benchmark(timer=process_time)
def test_generate_the_default_kernel(benchmark: BenchmarkFixture) -> None:
    assert ".visible .entry matmul" in benchmark.pedantic(statement_to_text, rounds=1, warmup_rounds=1)
    pairs = [(seconds(statement_to_text), seconds(floor)) for _ in range(ROUNDS)]
    made, least = (min(side) for side in zip(*pairs, strict=True))
    floors = median(one / other for one, other in pairs)
    benchmark.extra_info.update(milliseconds=1e3 * made, floor_milliseconds=1e3 * least, floors=floors)
    print(f"generated in {1e3 * made:.0f} ms, {floors:.2f} floors of {1e3 * least:.0f} ms")
    assert floors <= FLOORS_TO_GENERATE


@pytest.mark.benchmark(timer=process_time)
def test_simulate_256_cubed(benchmark: BenchmarkFixture) -> None:
    chance = np.random.default_rng(0)
    arrays = {name: chance.standard_normal((256, 256)).astype(np.float16) for name in "AB"}
    product = Matmul(MatmulSpec())
    product(arrays)
    outcome = benchmark.pedantic(lambda: product(arrays), rounds=4)
    assert outcome.report is not None
    assert outcome.report.counts["mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32"].warps == 256**3 // 1024
    assert benchmark.stats.stats.min <= SIMULATE_SECONDS
