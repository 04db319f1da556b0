"""How fast kernels run on the CPU, every check on, and beside other simulators.

Counts are lane-instructions a second of processor time, the least of several runs. The clock is that of this process,
which is single-threaded.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from ptxgen.compute import f32
from ptxgen.ir import Module
from ptxgen.kernels import Matmul, MatmulSpec
from ptxgen.parse import parse
from ptxgen.simulate import Report, Simulator, simulator
from ptxgen.simulate.tensor import Halves, dot, halves

LANES_PER_SECOND = {"axpy": 80e6, "collatz": 50e6, "transpose": 10e6}
SMALL_SECONDS = 1e-3
ROUNDS = 5

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
AXPY = (
    HEAD
    + """
.visible .entry axpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .b32 %r<5>; .reg .b64 %rd<6>; .reg .f32 %f<5>; .reg .pred %p1;
    ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd1, %rd3; ld.global.f32 %f2, [%rd4];
    add.s64 %rd5, %rd2, %rd3; ld.global.f32 %f3, [%rd5];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd5], %f4;
DONE:
    ret;
}
"""
)
COLLATZ = (
    HEAD
    + """
.visible .entry collatz(.param .u64 steps)
{
    .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [steps];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r1, %r2, %r3, %r4;
    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    add.u32 %r5, %r1, 1; mov.u32 %r6, 0;
    setp.eq.u32 %p1, %r5, 1;
    @%p1 bra DONE;
LOOP:
    and.b32 %r7, %r5, 1;
    setp.eq.u32 %p2, %r7, 0;
    @%p2 bra EVEN;
    mad.lo.u32 %r5, %r5, 3, 1;
    bra NEXT;
EVEN:
    shr.u32 %r5, %r5, 1;
NEXT:
    add.u32 %r6, %r6, 1;
    setp.ne.u32 %p3, %r5, 1;
    @%p3 bra LOOP;
DONE:
    st.global.u32 [%rd3], %r6;
    ret;
}
"""
)
TRANSPOSE = (
    HEAD
    + """
.visible .entry transpose(.param .u64 from, .param .u64 to, .param .u32 turns)
{
    .shared .align 4 .b8 tile[4224];
    .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<6>; .reg .pred %p1;
    ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u32 %r10, [turns];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.x; mov.u32 %r4, tile;
    mad.lo.u32 %r5, %r2, 33, %r1; mad.lo.u32 %r6, %r5, 4, %r4;
    mad.lo.u32 %r7, %r1, 33, %r2; mad.lo.u32 %r8, %r7, 4, %r4;
    mad.lo.u32 %r9, %r2, 32, %r1; mad.lo.u32 %r9, %r3, 1024, %r9;
    mul.wide.u32 %rd3, %r9, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd4+1024]; ld.global.f32 %f3, [%rd4+2048];
    ld.global.f32 %f4, [%rd4+3072];
AGAIN:
    st.shared.f32 [%r6], %f1; st.shared.f32 [%r6+1056], %f2; st.shared.f32 [%r6+2112], %f3;
    st.shared.f32 [%r6+3168], %f4;
    bar.sync 0;
    ld.shared.f32 %f1, [%r8]; ld.shared.f32 %f2, [%r8+32]; ld.shared.f32 %f3, [%r8+64]; ld.shared.f32 %f4, [%r8+96];
    bar.sync 0;
    sub.u32 %r10, %r10, 1; setp.ne.u32 %p1, %r10, 0;
    @%p1 bra AGAIN;
    st.global.f32 [%rd5], %f1; st.global.f32 [%rd5+1024], %f2; st.global.f32 [%rd5+2048], %f3;
    st.global.f32 [%rd5+3072], %f4;
    ret;
}
"""
)


def prepared(text: str) -> Simulator:
    """A kernel decoded to run many times."""
    module: Module = parse(text)
    return simulator(module)


def least_seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The least processor time of several calls."""
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        started = process_time()
        work()
        best = min(best, process_time() - started)
    return best


def axpy(decoded: Simulator, n: int, block: int = 256) -> Callable[[], Report]:
    """Runs of axpy over n elements, checked once."""
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    return lambda: decoded.run(grid=-(-n // block), block=block, args=(0.5, x, y, n))


def collatz(decoded: Simulator, n: int) -> Callable[[], Report]:
    """Runs of Collatz's sequence from 1 to n."""
    steps = np.zeros(n, np.uint32)
    return lambda: decoded.run(grid=n // 256, block=256, args=(steps,))


def transpose(decoded: Simulator, ctas: int, turns: int) -> Callable[[], Report]:
    """Runs of transposes through shared memory, again and again."""
    a, b = np.zeros((ctas, 32, 32), np.float32), np.zeros((ctas, 32, 32), np.float32)
    return lambda: decoded.run(grid=ctas, block=(32, 8), args=(a, b, turns))


def test_results_are_right() -> None:
    y = np.ones(1000, np.float32)
    prepared(AXPY).run(grid=4, block=256, args=(0.5, np.arange(1000, dtype=np.float32), y, 1000)).raise_findings()
    assert (y == 0.5 * np.arange(1000) + 1).all()
    steps = np.zeros(256, np.uint32)
    prepared(COLLATZ).run(grid=1, block=256, args=(steps,)).raise_findings()
    assert steps[[0, 1, 2, 26]].tolist() == [0, 1, 7, 111]
    a, b = np.random.default_rng(0).random((2, 32, 32)).astype(np.float32), np.zeros((2, 32, 32), np.float32)
    prepared(TRANSPOSE).run(grid=2, block=(32, 8), args=(a, b, 3)).raise_findings()
    assert (b == a.swapaxes(1, 2)).all()


WORK: dict[str, Callable[[], Callable[[], Report]]] = {
    "axpy": lambda: axpy(prepared(AXPY), 1 << 20),
    "collatz": lambda: collatz(prepared(COLLATZ), 1 << 16),
    "transpose": lambda: transpose(prepared(TRANSPOSE), 64, 8),
}


@pytest.mark.benchmark(timer=process_time)
@pytest.mark.parametrize("name", WORK)
def test_lane_instructions_a_second(benchmark: BenchmarkFixture, name: str) -> None:
    work = WORK[name]()
    report = benchmark.pedantic(work, rounds=ROUNDS, warmup_rounds=1)
    assert not report.findings
    rate = report.total.lanes / benchmark.stats.stats.min
    benchmark.extra_info["lane_instructions_per_second"] = rate
    print(f"{name}: {rate / 1e6:.0f} million lane-instructions a second, {report.total.lanes / 1e6:.1f} million")
    assert rate >= LANES_PER_SECOND[name]


@pytest.mark.benchmark(timer=process_time)
def test_one_small_cta(benchmark: BenchmarkFixture) -> None:
    work = axpy(prepared(AXPY), 128, 128)
    benchmark.pedantic(work, rounds=50, warmup_rounds=3)
    print(f"one CTA of 128 threads, 18 instructions: {1e3 * benchmark.stats.stats.min:.2f} ms")
    assert benchmark.stats.stats.min <= SMALL_SECONDS


MODELS_OF_VOLTA = 2.5
EDGE = 1024
BLOCK_OF_VOLTA, FRACTION_OF_VOLTA = 4, 23


def model(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A product in f32 as Volta's tensor cores do it, on whole matrices in plain numpy: blocks of 4, ascending."""
    left, right = halves(np.ascontiguousarray(a.T)), halves(b)
    c = np.zeros((len(a), b.shape[1]), np.float32)
    for start in range(0, len(b), BLOCK_OF_VOLTA):
        part = slice(start, start + BLOCK_OF_VOLTA)
        one = Halves(left.values[part, :, None], left.exponents[part, :, None], left.finite)
        other = Halves(right.values[part, None], right.exponents[part, None], right.finite)
        c = dot(one, other, c, FRACTION_OF_VOLTA, False)
    return c


@pytest.mark.benchmark(timer=process_time)
def test_a_product_beside_the_model_of_its_arithmetic(benchmark: BenchmarkFixture) -> None:
    chance = np.random.default_rng(0)
    arrays = {name: chance.standard_normal((EDGE, EDGE)).astype(np.float16) for name in "AB"}
    product = Matmul(MatmulSpec(output=f32))
    outcome = benchmark.pedantic(lambda: product(arrays), rounds=1)
    started = process_time()
    exact = model(arrays["A"], arrays["B"])
    modelled = process_time() - started
    assert (outcome.arrays["D"] == exact).all()
    ratio = benchmark.stats.stats.min / modelled
    benchmark.extra_info["models"] = ratio
    print(f"{EDGE}^3: {benchmark.stats.stats.min:.1f} s, {ratio:.2f} of the model's {modelled:.1f} s")
    assert ratio <= MODELS_OF_VOLTA
