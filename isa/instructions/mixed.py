"""Mixed precision: narrow numbers widened, or wide results narrowed, as they are added or multiplied."""

from __future__ import annotations

from isa.availability import since
from isa.derive import by
from isa.instructions.vocabulary import F32, ROUNDING, ROUNDING_MAYBE, RUBIN, SAT, C, D, register, value, written
from isa.rows import Line, Slot, family, flag, line, slot, word
from isa.types import f32x2

NARROW = slot("atype", "f16 bf16")
_A, _B = register("a", by("atype")), register("b", by("atype"))
_SINCE = since("8.6", 100)

NARROW_PAIR, PAIR_A, PAIR_B, PAIR_C = (
    slot("atype", "f16x2 bf16x2"), slot("atype", "f32x2"), slot("btype", "f32x2"), slot("ctype", "f32x2"),
)  # fmt: skip
PAIR = slot("dtype", "f32x2")
_D, _WIDE_B, _WIDE_C = written("d", by("dtype")), value("b", f32x2), value("c", f32x2)
_NARROWED = (_D, value("a", f32x2), value("b", f32x2))
TRUNCATED = slot("rnd", "rz")

_BYTES = "e4m3x4 e5m2x4 e2m3x4 e3m2x4"
FOUR, FOUR_A = slot("dtype", "e4m3x4 e5m2x4"), slot("atype", _BYTES)
FACTOR_A, FACTOR_B = slot("atype", f"{_BYTES} e2m1x4"), slot("btype", f"{_BYTES} e2m1x4")
_FOURS_SINCE = since("9.4", "sm_100a sm_103a")
NEAREST, SATFINITE = slot("rnd", "rn").maybe, flag("satfinite")
_FOUR_C = register("c", by("dtype"))


def _narrowed(rounding: Slot) -> tuple[Line, Line]:
    """Pairs of halves from pairs of f32, towards zero; f16 without subnormal numbers."""
    return (
        line(rounding, word("ftz"), slot("dtype", "f16x2"), PAIR_A, PAIR_B, operands=_NARROWED, since=RUBIN),
        line(rounding, slot("dtype", "bf16x2"), PAIR_A, PAIR_B, operands=_NARROWED, since=RUBIN),
    )


FAMILIES = (
    *(
        family(
            opcode,
            line(ROUNDING_MAYBE, SAT, F32, NARROW, operands=(D, _A, C), since=_SINCE),
            line(ROUNDING_MAYBE, PAIR, NARROW_PAIR, PAIR_C, operands=(_D, _A, _WIDE_C), since=RUBIN),
            *_narrowed(TRUNCATED.maybe),
            line(NEAREST, SATFINITE, FOUR, FOUR_A, operands=(_D, _A, _FOUR_C), since=_FOURS_SINCE),
            about=about,
        )
        for opcode, about in (("add", "widened a plus c"), ("sub", "widened a minus c"))
    ),
    family(
        "mul",
        line(slot("dtype", "f16x2"), slot("atype", "f16x2"), slot("btype", "bf16x2"), since=RUBIN,
             operands=(_D, _A, register("b", by("btype")))),
        line(slot("dtype", "bf16x2"), slot("atype", "bf16x2"), slot("btype", "f16x2"), since=RUBIN,
             operands=(_D, _A, register("b", by("btype")))),
        *_narrowed(TRUNCATED),
        line(NEAREST, SATFINITE, FOUR, FACTOR_A, FACTOR_B, operands=(_D, _A, register("b", by("btype"))),
             since=_FOURS_SINCE),
        about="widened a times widened b",
    ),
    family(
        "fma",
        line(ROUNDING, SAT, F32, NARROW, operands=(D, _A, _B, C), since=_SINCE),
        line(ROUNDING, PAIR, NARROW_PAIR, PAIR_B, PAIR_C, operands=(_D, _A, _WIDE_B, _WIDE_C), since=RUBIN),
        line(NEAREST, SATFINITE, FOUR, FACTOR_A, slot("btype", _BYTES), since=_FOURS_SINCE,
             operands=(_D, _A, register("b", by("btype")), _FOUR_C)),
        about="widened a times b, plus c, rounded once",
    ),
)  # fmt: skip
