"""Comparison and selection."""

from __future__ import annotations

from isa.availability import ALWAYS, Availability, since
from isa.derive import by
from isa.instructions.vocabulary import FTZ, RUBIN, A, B, D, predicate, value, written, written_predicate
from isa.rows import Constraint, Line, Slot, family, line, rule, slot
from isa.types import f32, s32

COMPARISON = slot("cmp", "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan")
BOOLEAN = slot("bool", "and or xor")
PLAIN = slot("type", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64")
SOURCE = slot("stype", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64")
RESULT = slot("dtype", "u32 s32 f32")
HALVES = {"f16": since("4.2", 53), "f16x2": since("4.2", 53), "bf16": since("7.8", 90), "bf16x2": since("7.8", 90)}
HALF = slot("type", "f16 bf16", f16=HALVES["f16"], bf16=HALVES["bf16"])
PACKED = slot("type", "f16x2 bf16x2", f16x2=HALVES["f16x2"], bf16x2=HALVES["bf16x2"])


def _comparison_rules(of: str) -> tuple[Constraint, ...]:
    return (
        rule(when={of: "b16 b32 b64"}, only={"cmp": "eq ne"}),
        rule(when={of: "s16 s32 s64"}, only={"cmp": "eq ne lt le gt ge"}),
        rule(when={of: "u16 u32 u64"}, only={"cmp": "eq ne lt le gt ge lo ls hi hs"}),
        rule(when={of: "f16 f16x2 bf16 bf16x2 f32 f64"}, never={"cmp": "lo ls hi hs"}),
        rule(when={"ftz": "ftz"}, only={of: "f16 f16x2 f32"}),
    )


_A, _B = value("a", by("stype")), value("b", by("stype"))
_SET = (written("d", by("dtype")), _A, _B)
_NOT_C = predicate("c", negatable=True)
_WITH_HALVES = "b16 b32 b64 u16 u32 u64 s16 s32 s64 {} f32 f64"
FTZ_NEVER = rule(never={"ftz": "ftz"})


def _sets(result: Slot, source: Slot, first: Availability = ALWAYS, *rules: Constraint) -> tuple[Line, Line]:
    return (
        line(COMPARISON, FTZ, result, source, operands=_SET, since=first, rules=rules),
        line(COMPARISON, BOOLEAN, FTZ, result, source, operands=(*_SET, _NOT_C), since=first, rules=rules),
    )


WHOLE_LANES = slot("type", "u8x4 s8x4 u16x2 s16x2")
_LANE_RULES = (
    rule(when={"type": "u8x4 u16x2"}, only={"cmp": "eq ne lt le gt ge lo ls hi hs"}),
    rule(when={"type": "s8x4 s16x2"}, only={"cmp": "eq ne lt le gt ge"}),
)
_P, _Q = written_predicate("p", sink=True), written_predicate("q", joined=True, optional=True, sink=True)
_Q_TOO = written_predicate("q", joined=True)

FAMILIES = (
    family(
        "set",
        *_sets(RESULT, SOURCE),
        *_sets(slot("dtype", "f16"), slot("stype", _WITH_HALVES.format("f16")), HALVES["f16"]),
        *_sets(slot("dtype", "bf16"), slot("stype", _WITH_HALVES.format("bf16")), HALVES["bf16"], FTZ_NEVER),
        *_sets(slot("dtype", "u16 s16 u32 s32"), slot("stype", "f16"), since("6.5", 53)),
        *_sets(slot("dtype", "u16 s16 u32 s32"), slot("stype", "bf16"), HALVES["bf16"], FTZ_NEVER),
        *_sets(slot("dtype", "f16x2"), slot("stype", "f16x2"), HALVES["f16x2"]),
        *_sets(slot("dtype", "u32 s32"), slot("stype", "f16x2"), since("6.5", 53)),
        *_sets(slot("dtype", "bf16x2 u32 s32"), slot("stype", "bf16x2"), HALVES["bf16x2"], FTZ_NEVER),
        line(COMPARISON, WHOLE_LANES, operands=(D, A, B), since=RUBIN, rules=_LANE_RULES),
        rules=_comparison_rules("stype"),
        about="compare into a register: all ones or 1.0 where it holds",
    ),
    family(
        "setp",
        line(COMPARISON, FTZ, PLAIN, operands=(_P, _Q, A, B)),
        line(COMPARISON, BOOLEAN, FTZ, PLAIN, operands=(_P, _Q, A, B, _NOT_C)),
        line(COMPARISON, FTZ, HALF, operands=(_P, A, B)),
        line(COMPARISON, BOOLEAN, FTZ, HALF, operands=(_P, A, B, _NOT_C)),
        line(COMPARISON, FTZ, PACKED, operands=(_P, _Q_TOO, A, B)),
        line(COMPARISON, BOOLEAN, FTZ, PACKED, operands=(_P, _Q_TOO, A, B, _NOT_C)),
        rules=_comparison_rules("type"),
        about="compare into a predicate, and its negation into another",
    ),
    family("selp", line(PLAIN, operands=(D, A, B, predicate("c"))), about="a where c holds, else b"),
    family(
        "slct",
        line(slot("dtype", " ".join(PLAIN.choices)), slot("ctype", "s32"), operands=(
            written("d", by("dtype")), value("a", by("dtype")), value("b", by("dtype")), value("c", s32))),
        line(FTZ, slot("dtype", " ".join(PLAIN.choices)), slot("ctype", "f32"), operands=(
            written("d", by("dtype")), value("a", by("dtype")), value("b", by("dtype")), value("c", f32))),
        about="a where c is not negative, else b",
    ),
)  # fmt: skip
