"""Mixed precision: halves widened to f32 as they are added or multiplied."""

from __future__ import annotations

from isa.availability import since
from isa.derive import by
from isa.instructions.vocabulary import F32, ROUNDING, ROUNDING_MAYBE, SAT, C, D, register
from isa.rows import family, line, slot

NARROW = slot("atype", "f16 bf16")
_A, _B = register("a", by("atype")), register("b", by("atype"))
_SINCE = since("8.6", 100)

FAMILIES = (
    *(
        family(opcode, line(ROUNDING_MAYBE, SAT, F32, NARROW, operands=(D, _A, C), since=_SINCE), about=about)
        for opcode, about in (("add", "widened a plus c"), ("sub", "widened a minus c"))
    ),
    family(
        "fma",
        line(ROUNDING, SAT, F32, NARROW, operands=(D, _A, _B, C), since=_SINCE),
        about="widened a times b, plus c, rounded once",
    ),
)
