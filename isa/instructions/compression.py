"""Structured sparsity in registers: the kept elements of every group with their places, and back."""

from __future__ import annotations

from isa.availability import ALWAYS, since
from isa.derive import sparse_count
from isa.instructions.vocabulary import register, vector, written_vector
from isa.rows import family, line, rule, slot, table
from isa.types import b32

ELEMENT, INDEX = slot("type", "b8 b16"), slot("index", "b2 b4")
HALVED = slot("ratio", "sp::2:4")
_RATIOS = "sp::1:2 sp::1:4 sp::2:4 sp::1:8 sp::2:8 sp::4:8 sp::1:16 sp::2:16 sp::4:16"
RATIO = slot("ratio", _RATIOS)
NUMBER = slot("num", "x1 x2 x4 x8 x16 x32 x64")
_SINCE = since("9.4", "sm_107a")
_FOUR_PLACES = "sp::1:2 sp::1:4 sp::2:4"
_REGISTERS = table(
    "type ratio num",
    (ALWAYS, "b8", "sp::1:2", "x2 x4 x8 x16 x32 x64"),
    (ALWAYS, "b8", "sp::1:4 sp::2:4 sp::1:8 sp::2:8 sp::4:8", "*"),
    (ALWAYS, "b8", "sp::1:16 sp::2:16 sp::4:16", "x1 x2 x4 x8 x16 x32"),
    (ALWAYS, "b16", "sp::1:2 sp::1:4 sp::2:4", "*"),
    (ALWAYS, "b16", "sp::1:8 sp::2:8", "x1 x2 x4 x8 x16 x32"),
    (ALWAYS, "b16", "sp::1:16 sp::2:16", "x1 x2 x4 x8 x16"),
)

FAMILIES = (
    family(
        "spcompress",
        line(
            ELEMENT, INDEX, HALVED, NUMBER, since=_SINCE,
            operands=(
                written_vector("metadata", b32, sparse_count("metadata", down=True)),
                written_vector("kept", b32, sparse_count("kept", down=True)),
                vector("whole", b32, sparse_count("whole", down=True)),
                register("description", b32),
            ),
        ),
        about="keep the greatest or smallest two of every four elements, and their places",
    ),
    family(
        "spdecompress",
        line(
            ELEMENT, INDEX, RATIO, NUMBER, since=_SINCE,
            operands=(
                written_vector("whole", b32, sparse_count("whole", down=False)),
                vector("metadata", b32, sparse_count("metadata", down=False)),
                vector("kept", b32, sparse_count("kept", down=False)),
            ),
            rules=(rule(when={"index": "b2"}, only={"ratio": _FOUR_PLACES}), _REGISTERS),
        ),
        about="put the kept elements of every group back in their places among zeros",
    ),
)  # fmt: skip
