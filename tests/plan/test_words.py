"""Words that mean nothing are refused where they are written, by TypeError or ValueError: what, wanted and got."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from ptxgen.compute import bf16, e4m3, f16, f32, f64, s8, s32, u8
from ptxgen.plan import (
    BlockOrder,
    MatrixInstruction,
    aligned,
    fragments,
    grouped,
    hilbert,
    hybrid,
    ld,
    m8n8k4,
    m16n8k8,
    m16n8k16,
    m16n8k32,
    multiple,
    shared,
    st,
    wgmma,
)


def wrong(value: object) -> Any:
    """A value that the type checker would refuse."""
    return value


VALUES: dict[str, tuple[Callable[[], object], str]] = {
    "no rows": (lambda: grouped(0), "BlockOrder: group is at least 1, got 0"),
    "less than no rows": (lambda: grouped(-1), "BlockOrder: group is at least 1, got -1"),
    "a band beyond all": (lambda: grouped(2**16 + 1), "a band has at most 65536 tile rows, got 65537"),
    "no band": (lambda: BlockOrder(0), "BlockOrder: group is at least 1, got 0"),
    "three tiles a side": (lambda: hilbert(12), "curve fills squares of 2, 4, 8, ... 64 tiles a side, got 12"),
    "one tile a side": (lambda: hilbert(1), "curve fills squares of 2, 4, 8, ... 64 tiles a side, got 1"),
    "too many a side": (lambda: hilbert(128), "curve fills squares of 2, 4, 8, ... 64 tiles a side, got 128"),
    "three words": (lambda: ld(24), "ld: an access moves 1, 2, 4, 8 or 16 bytes, got 24"),
    "no bytes": (lambda: ld(0), "By: vector_bytes is at least 1, got 0"),
    "less than no bytes": (lambda: ld(-16), "By: vector_bytes is at least 1, got -16"),
    "two units": (lambda: st(32), "st: an access moves 1, 2, 4, 8 or 16 bytes, got 32"),
    "no tiles": (lambda: shared(0), "IntoShared: depth is at least 1, got 0"),
    "no fragments": (lambda: fragments(-2), "IntoFragments: depth is at least 1, got -2"),
    "sums of integers": (lambda: m8n8k4(s32), "m8n8k4 accumulates f16 or f32, got s32"),
    "factors of integers": (lambda: m8n8k4(f32, s32), "m8n8k4 multiplies f16 or f64, got s32"),
    "factors of f32": (lambda: m8n8k4(f32, f32), "m8n8k4 multiplies f16 or f64, got f32"),
    "sums of f64 in f32": (lambda: m8n8k4(f32, f64), "m8n8k4 accumulates f64, got f32"),
    "bf16 in f16": (lambda: m16n8k16(f16, bf16), "m16n8k16 accumulates f32, got f16"),
    "f32 as it is": (lambda: m16n8k8(f32, f32), "m16n8k8 multiplies f16, bf16, tf32 or f64, got f32"),
    "bytes by halves": (lambda: m16n8k32(f32, e4m3, f16), "m16n8k32 multiplies e4m3 by e4m3 or e5m2, got f16"),
    "integers by bytes": (lambda: wgmma(64, s32, s8, e4m3), "wgmma multiplies s8 by s8 or u8, got e4m3"),
    "f64 by warpgroups": (
        lambda: wgmma(64, f64, f64),
        "wgmma multiplies f16, bf16, tf32, e4m3, e5m2, s8 or u8, got f64",
    ),
    "ten columns": (lambda: wgmma(10, f32), "wgmma: n is a multiple of 8 from 8 to 256, got 10"),
    "chains of three": (lambda: hybrid("AB", 3), "hybrid: every is a power of two, got 3"),
    "no chains": (lambda: hybrid("AB", 0), "hybrid: every is a power of two, got 0"),
    "multiple of nothing": (lambda: multiple("K", 0), "Multiple: factor is at least 1, got 0"),
    "aligned to nothing": (lambda: aligned("A", bytes=0), "Aligned: byte_count is at least 1, got 0"),
}

TYPES: dict[str, tuple[Callable[[], object], str]] = {
    "rows and a half": (lambda: grouped(wrong(2.5)), "group is a whole number of at least 1, got 2.5"),
    "rows by name": (lambda: grouped(wrong("8")), "group is a whole number of at least 1, got '8'"),
    "true rows": (lambda: grouped(True), "group is a whole number of at least 1, got True"),
    "bytes by name": (lambda: ld(wrong("16")), "vector_bytes is a whole number of at least 1, got '16'"),
    "depth by name": (lambda: shared(wrong("x")), "depth is a whole number of at least 1, got 'x'"),
    "depth and a half": (lambda: shared(wrong(1.5)), "depth is a whole number of at least 1, got 1.5"),
    "true depth": (lambda: fragments(True), "depth is a whole number of at least 1, got True"),
    "layout by name": (
        lambda: shared(2, wrong("crosswise")),
        "layout is free, congruous, crosswise, linear or swizzle(bytes), got 'cross",
    ),
    "a size by number": (lambda: multiple(wrong(8), 8), "value is an affine expression of sizes and strides, got 8"),
    "half a factor": (lambda: multiple("K", wrong(0.5)), "factor is a whole number of at least 1, got 0.5"),
    "half a chain": (lambda: hybrid("AB", wrong(0.5)), "hybrid: every is a power of two, got 0.5"),
    "an input by name": (
        lambda: MatrixInstruction("m", 1, 1, 1, wrong("f16"), f32),
        "input is an element type, got 'f16'",
    ),
    "an array by number": (lambda: aligned(wrong(7), bytes=16), "array is an array or its name, got 7"),
}


@pytest.mark.parametrize("kind, name", [(ValueError, name) for name in VALUES] + [(TypeError, name) for name in TYPES])
def test_refused_where_it_is_written(kind: type[Exception], name: str) -> None:
    case, words = VALUES[name] if kind is ValueError else TYPES[name]
    with pytest.raises(kind) as caught:
        case()
    assert words in str(caught.value)
    own = [frame.lineno for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == __file__]
    assert own[-1] == case.__code__.co_firstlineno


def test_words_print_as_they_are_written() -> None:
    assert [str(grouped(1)), str(grouped(8)), str(ld(4)), str(shared(3))] == [
        "rows",
        "grouped(8)",
        "ld(vector=4)",
        "shared(depth=3, layout=free)",
    ]
    assert str(m8n8k4(f16)) == "m8n8k4(accumulate=f16, input=f16)"
    assert str(wgmma(64, f32, e4m3)) == "wgmma(n=64, accumulate=f32, input=e4m3)"
    assert str(m16n8k32(s32, s8, u8)) == "m16n8k32(accumulate=s32, input=s8, b_input=u8)"
    assert str(hybrid("AB", 64)) == "hybrid(AB, every=64)"
