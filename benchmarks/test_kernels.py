"""Time to generate the default product, and to simulate 256 x 256 x 256 of it with every check on.

The clock is the processor time of this process, which is single-threaded: other work on the machine does not count.
"""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from ptxgen.emit import emit
from ptxgen.kernels import Matmul, MatmulSpec, generate, matmul_compute, matmul_plan, parse_epilogue
from ptxgen.kernels.matmul_plan import MatmulTiling
from ptxgen.plan import Fact, aligned, multiple

GENERATE_SECONDS, SIMULATE_SECONDS = 0.250, 1.5
SPEC = MatmulSpec(epilogue=parse_epilogue("bias,relu"))
FACTS: tuple[Fact, ...] = (*aligned("A", "B", "D", bytes=16), multiple("lda", 8), multiple("ldb", 8), multiple("ldd", 8))


def statement_to_text() -> str:
    """The default kernel from its statements to PTX, nothing remembered."""
    plan = matmul_plan(matmul_compute(SPEC), SPEC, FACTS, MatmulTiling(), "sm_70")
    return str(emit(generate(plan).module))


@pytest.mark.benchmark(timer=process_time)
def test_generate_the_default_kernel(benchmark: BenchmarkFixture) -> None:
    text = benchmark.pedantic(statement_to_text, rounds=8, warmup_rounds=1)
    assert ".visible .entry matmul" in text
    assert benchmark.stats.stats.min <= GENERATE_SECONDS


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
