"""Floating-point arithmetic of f32 and f64."""

from __future__ import annotations

from isa.availability import since
from isa.instructions.vocabulary import (
    F32,
    F64,
    FTZ,
    NAN_80,
    ROUNDING,
    ROUNDING_MAYBE,
    SAT,
    A,
    B,
    C,
    D,
    written_predicate,
)  # fmt: skip
from isa.rows import family, flag, line, slot, word

UNARY = (D, A)
BINARY = (D, A, B)
TERNARY = (D, A, B, C)
APPROX = word("approx")
FULL = word("full")
FTZ_ONLY = word("ftz")
XORSIGN = word("xorsign")
EITHER = slot("type", "f32 f64")
TEST = slot("op", "finite infinite number notanumber normal subnormal")

PAIR = slot("type", "f32x2")
_PAIR_SINCE = since("8.6", 100)

_SUM = (
    line(ROUNDING_MAYBE, FTZ, SAT, F32, operands=BINARY),
    line(ROUNDING_MAYBE, F64, operands=BINARY),
    line(ROUNDING_MAYBE, FTZ, PAIR, operands=BINARY, since=_PAIR_SINCE),
)
_MULTIPLY_ADD = (line(ROUNDING, FTZ, SAT, F32, operands=TERNARY), line(ROUNDING, F64, operands=TERNARY))
_FUSED = (*_MULTIPLY_ADD, line(ROUNDING, FTZ, PAIR, operands=TERNARY, since=_PAIR_SINCE))
_SIGN = (line(FTZ, F32, operands=UNARY), line(F64, operands=UNARY))
_EXTREME = (
    line(FTZ, NAN_80, F32, operands=BINARY),
    line(FTZ, NAN_80, XORSIGN, word("abs"), F32, operands=BINARY, since=since("7.2", 86)),
    line(FTZ, NAN_80, flag("abs"), F32, operands=TERNARY, since=since("8.8", 100)),
    line(F64, operands=BINARY),
)
_APPROX_F32 = (line(APPROX, FTZ, F32, operands=UNARY),)
_APPROX_FTZ_F64 = line(APPROX, FTZ_ONLY, F64, operands=UNARY)

FAMILIES = (
    family("add", *_SUM, about="sum"),
    family("sub", *_SUM, about="difference"),
    family("mul", *_SUM, about="product"),
    family("fma", *_FUSED, about="a * b + c rounded once"),
    family("mad", *_MULTIPLY_ADD, about="the same as fma"),
    family(
        "div",
        line(APPROX, FTZ, F32, operands=BINARY),
        line(FULL, FTZ, F32, operands=BINARY),
        line(ROUNDING, FTZ, F32, operands=BINARY),
        line(ROUNDING, F64, operands=BINARY),
        about="quotient",
    ),
    family("abs", *_SIGN, about="absolute value"),
    family("neg", *_SIGN, about="negation"),
    family("min", *_EXTREME, about="the smaller"),
    family("max", *_EXTREME, about="the larger"),
    *(
        family(
            opcode,
            line(APPROX, FTZ, F32, operands=UNARY),
            line(ROUNDING, FTZ, F32, operands=UNARY),
            line(ROUNDING, F64, operands=UNARY),
            *extra,
            about=about,
        )
        for opcode, extra, about in (("rcp", (_APPROX_FTZ_F64,), "reciprocal"), ("sqrt", (), "square root"))
    ),
    family(
        "rsqrt",
        line(APPROX, FTZ, F32, operands=UNARY),
        line(APPROX, F64, operands=UNARY),
        line(APPROX, FTZ_ONLY, F64, operands=UNARY, since=since("4.0", 20)),
        about="reciprocal square root",
    ),
    family("sin", *_APPROX_F32, about="sine, of radians"),
    family("cos", *_APPROX_F32, about="cosine, of radians"),
    family("lg2", *_APPROX_F32, about="logarithm to base 2"),
    family("ex2", *_APPROX_F32, about="power of 2"),
    family("tanh", line(APPROX, F32, operands=UNARY, since=since("7.0", 75)), about="hyperbolic tangent"),
    family("copysign", line(EITHER, operands=BINARY), about="b with the sign of a"),
    family("testp", line(TEST, EITHER, operands=(written_predicate(), A)), about="class of a number"),
)
