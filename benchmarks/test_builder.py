"""The builder against the floor: the same instructions as f-strings, built and joined in the same run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.measuring import share
from ptxgen import Kernel, Module, Value, emit, f32, pointer, u32
from ptxgen.build import registers

LEAST_COLD, LEAST_WARM, LEAST_EMITTED = 0.08, 0.2, 0.3
REPEATS, AT_ONCE, TURNS = 1000, 10, 2000


def built(*, matrices: bool = True, repeats: int = REPEATS) -> Module:
    """8 scalar instructions, with `matrices` a vector load and an mma too, so many times, each into fresh registers."""
    module = Module("sm_70")
    with module.kernel("mix", a=pointer(f32), n=u32) as k:
        b = k.mov.b32(0)
        zero = k.mov.f32(0.0)
        n, a = k.args.n, k.args.a
        for _ in range(repeats):
            p = scalar(k, n, a, zero)
            if matrices:
                k.ld.global_.v4.f32(p)
                k.mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32((b, b), (b, b), (zero,) * 8)
    return module


def scalar(k: Kernel, n: Value, a: Value, zero: Value) -> Value:
    """8 scalar instructions; the address that they compute."""
    x = k.add.u32(n, 1)
    y = k.mad.lo.u32(x, x, n)
    z = k.xor.b32(y, x)
    s = k.shl.b32(z, 2)
    p: Value = k.mad.wide.u32(s, 4, a)
    f = k.add.f32(zero, zero)
    g = k.fma.rn.f32(f, f, zero)
    k.mul.f32(g, f)
    return p


def spelled(*, matrices: bool = True, repeats: int = REPEATS) -> str:
    """The same as text, with numbered registers."""
    lines = []
    n = 0
    for _ in range(repeats):
        lines.append(f"add.u32 %u{n}, %u0, 1;")
        lines.append(f"mad.lo.u32 %u{n + 1}, %u{n}, %u{n}, %u0;")
        lines.append(f"xor.b32 %r{n}, %u{n + 1}, %u{n};")
        lines.append(f"shl.b32 %r{n + 1}, %r{n}, 2;")
        lines.append(f"mad.wide.u32 %ud{n}, %r{n + 1}, 4, %ud0;")
        lines.append(f"add.f32 %f{n}, %f0, %f0;")
        lines.append(f"fma.rn.f32 %f{n + 1}, %f{n}, %f{n}, %f0;")
        lines.append(f"mul.f32 %f{n + 2}, %f{n + 1}, %f{n};")
        if matrices:
            lines.append(f"ld.global.v4.f32 {{%f{n + 3}, %f{n + 4}, %f{n + 5}, %f{n + 6}}}, [%ud{n}];")
            lines.append(
                f"mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32 {{%f{n + 7}, %f{n + 8}, %f{n + 9}, %f{n + 10}, "
                f"%f{n + 11}, %f{n + 12}, %f{n + 13}, %f{n + 14}}}, {{%r0, %r0}}, {{%r0, %r0}}, "
                "{%f0, %f0, %f0, %f0, %f0, %f0, %f0, %f0};"
            )
        n += 15
    return "\n".join(lines)


def told(benchmark: BenchmarkFixture, found: float, least: float) -> None:
    benchmark.extra_info["share of the f-string floor"] = round(found, 3)
    print(f"share of the f-string floor: {found:.3f}, at least {least}")
    assert found >= least


def test_the_mix_with_cold_registers(benchmark: BenchmarkFixture) -> None:
    benchmark.pedantic(built, rounds=5, setup=registers.forget)
    told(benchmark, share(spelled, built, before=registers.forget), LEAST_COLD)


def test_scalar_instructions_with_warm_registers(benchmark: BenchmarkFixture) -> None:
    """A few instructions at a time in one open kernel, whose names and registers have all been met before."""
    built(matrices=False, repeats=(TURNS + 6) * AT_ONCE)
    module = Module("sm_70")
    with module.kernel("mix", a=pointer(f32), n=u32) as k:
        start = k.args.n, k.args.a, k.mov.f32(0.0)

        def written() -> None:
            for _ in range(AT_ONCE):
                scalar(k, *start)

        benchmark.pedantic(written, rounds=5, warmup_rounds=1)
        found = share(lambda: spelled(matrices=False, repeats=AT_ONCE), written, rounds=TURNS, collected=False)
    told(benchmark, found, LEAST_WARM)


def test_emission_of_a_finished_module(benchmark: BenchmarkFixture) -> None:
    module = built().build()
    benchmark.pedantic(lambda: str(emit(module)), rounds=5, warmup_rounds=1)
    told(benchmark, share(spelled, lambda: str(emit(module))), LEAST_EMITTED)


def lines_of(text: str) -> Iterator[str]:
    """The instructions of a text, names of registers left out."""
    for line in text.split("\n"):
        if ";" in line and not line.strip().startswith((".", "//", "ld.param", "mov", "ret")):
            yield line.strip().partition(" ")[0]


def test_the_floor_spells_the_same_instructions() -> None:
    text: Any = str(emit(built(repeats=3).build()))
    assert list(lines_of(text)) == list(lines_of(spelled(repeats=3)))
