"""The same work by pyptx 0.1.1, where it is installed: sums of registers built, and compiler output read."""

from typing import Any

import pytest

from benchmarks.measuring import share
from benchmarks.test_parsing import compiled, instructions
from ptxgen import Module, s32
from ptxgen.parse import parse

COUNT = 1000
ROUNDS = 5
pyptx = pytest.importorskip("pyptx")


def ours() -> int:
    """So many sums, each checked as it is written."""
    module = Module("sm_90a")
    with module.kernel("sums") as k:
        a = k.mov.s32(1)
        for _ in range(COUNT):
            k.add.s32(a, 3)
    return COUNT


def theirs() -> int:
    """The same sums; its kernels are traced in a scope."""
    from pyptx import ptx, reg
    from pyptx._trace import trace_scope
    from pyptx.types import s32 as their_s32

    with trace_scope():
        a = reg.alloc(their_s32)
        for _ in range(COUNT):
            ptx.add(their_s32, reg.alloc(their_s32), a, 3)
    return COUNT


def test_building(benchmark: Any) -> None:
    benchmark.pedantic(ours, rounds=3, warmup_rounds=1)
    times = share(theirs, ours, rounds=ROUNDS)
    benchmark.extra_info["times as slow is pyptx"] = round(times, 1)
    print(f"pyptx takes {times:.1f} times as long to build sums in {s32}")
    assert times > 1


def test_parsing(benchmark: Any) -> None:
    from pyptx.parser import parse as their_parse

    text = compiled(2)
    benchmark.pedantic(parse, (text,), rounds=3)
    times = share(lambda: their_parse(text), lambda: parse(text), rounds=ROUNDS)
    benchmark.extra_info["times as slow is pyptx"] = round(times, 1)
    print(f"pyptx takes {times:.1f} times as long to read {len(instructions(text))} instructions")
    assert times > 1
