"""The builder against the floor: the same instructions as f-strings, measured in the same run."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from pytest_benchmark.fixture import BenchmarkFixture

from ptxgen import Module, f32, pointer, u32

SHARE_OF_FLOOR = 0.08
REPEATS = 200


def built() -> int:
    """8 scalar instructions, a vector load and an mma, `REPEATS` times, each into registers never used before."""
    module = Module("sm_70")
    with module.kernel("mix", a=pointer(f32), n=u32) as k:
        b = k.mov.b32(0)
        zero = k.mov.f32(0.0)
        for _ in range(REPEATS):
            x = k.add.u32(k.args.n, 1)
            y = k.mad.lo.u32(x, x, k.args.n)
            z = k.xor.b32(y, x)
            s = k.shl.b32(z, 2)
            p = k.mad.wide.u32(s, 4, k.args.a)
            f = k.add.f32(zero, zero)
            g = k.fma.rn.f32(f, f, zero)
            k.mul.f32(g, f)
            k.ld.global_.v4.f32(p)
            k.mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32((b, b), (b, b), (zero,) * 8)
    return 10 * REPEATS


def spelled() -> int:
    """The same as text, with numbered registers."""
    lines = []
    n = 0
    for _ in range(REPEATS):
        lines.append(f"add.u32 %r{n}, %r0, 1;")
        lines.append(f"mad.lo.u32 %r{n + 1}, %r{n}, %r{n}, %r0;")
        lines.append(f"xor.b32 %r{n + 2}, %r{n + 1}, %r{n};")
        lines.append(f"shl.b32 %r{n + 3}, %r{n + 2}, 2;")
        lines.append(f"mad.wide.u32 %rd{n}, %r{n + 3}, 4, %rd0;")
        lines.append(f"add.f32 %f{n}, %f0, %f0;")
        lines.append(f"fma.rn.f32 %f{n + 1}, %f{n}, %f{n}, %f0;")
        lines.append(f"mul.f32 %f{n + 2}, %f{n + 1}, %f{n};")
        lines.append(f"ld.global.v4.f32 {{%f{n + 3}, %f{n + 4}, %f{n + 5}, %f{n + 6}}}, [%rd{n}];")
        lines.append(
            f"mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32 {{%f{n + 7}, %f{n + 8}, %f{n + 9}, %f{n + 10}, "
            f"%f{n + 11}, %f{n + 12}, %f{n + 13}, %f{n + 14}}}, {{%r0, %r0}}, {{%r0, %r0}}, "
            "{%f0, %f0, %f0, %f0, %f0, %f0, %f0, %f0};"
        )
        n += 15
    return len("\n".join(lines)) and 10 * REPEATS


def rate(work: Callable[[], int]) -> float:
    """The most instructions a second of 7 runs."""
    best = 0.0
    for _ in range(7):
        started = perf_counter()
        count = work()
        best = max(best, count / (perf_counter() - started))
    return best


def test_the_builder_reaches_its_share_of_the_floor(benchmark: BenchmarkFixture) -> None:
    benchmark.pedantic(built, rounds=5, warmup_rounds=1)
    share = rate(built) / rate(spelled)
    benchmark.extra_info["share of the f-string floor"] = share
    print(f"share of the f-string floor: {share:.3f}")
    assert share >= SHARE_OF_FLOOR
