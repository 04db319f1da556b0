"""Words that mean nothing are refused where they are written, by TypeError or ValueError: what, wanted and got."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from ptxgen.compute import f16, f32, s32
from ptxgen.plan import BlockOrder, aligned, fragments, grouped, ld, m8n8k4, multiple, shared, st


def wrong(value: object) -> Any:
    """A value that the type checker would refuse."""
    return value


VALUES: dict[str, tuple[Callable[[], object], str]] = {
    "no rows": (lambda: grouped(0), "BlockOrder: group is at least 1, got 0"),
    "less than no rows": (lambda: grouped(-1), "BlockOrder: group is at least 1, got -1"),
    "a band beyond all": (lambda: grouped(2**16 + 1), "a band has at most 65536 tile rows, got 65537"),
    "no band": (lambda: BlockOrder(0), "BlockOrder: group is at least 1, got 0"),
    "three words": (lambda: ld(24), "ld: an access moves 1, 2, 4, 8 or 16 bytes, got 24"),
    "no bytes": (lambda: ld(0), "By: vector_bytes is at least 1, got 0"),
    "less than no bytes": (lambda: ld(-16), "By: vector_bytes is at least 1, got -16"),
    "two units": (lambda: st(32), "st: an access moves 1, 2, 4, 8 or 16 bytes, got 32"),
    "no tiles": (lambda: shared(0), "IntoShared: depth is at least 1, got 0"),
    "no fragments": (lambda: fragments(-2), "IntoFragments: depth is at least 1, got -2"),
    "sums of integers": (lambda: m8n8k4(s32), "m8n8k4 accumulates f16 or f32, got s32"),
    "factors of integers": (lambda: m8n8k4(f32, s32), "m8n8k4 multiplies f16, got s32"),
    "factors of f32": (lambda: m8n8k4(f32, f32), "m8n8k4 multiplies f16, got f32"),
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
