"""Half-precision arithmetic: f16, f16x2, bf16, bf16x2."""

from __future__ import annotations

from isa.availability import since
from isa.instructions.vocabulary import FTZ, NAN_80, NEAREST, NEAREST_MAYBE, RELU_80, SAT, A, B, C, D
from isa.rows import family, line, slot, word

UNARY = (D, A)
BINARY = (D, A, B)
TERNARY = (D, A, B, C)
F16 = slot("type", "f16 f16x2")
BF16 = slot("type", "bf16 bf16x2")
SM_53 = since("4.2", 53)
APPROX = word("approx")
XORSIGN = word("xorsign")
ABS = word("abs")

_SUM = (
    line(NEAREST_MAYBE, FTZ, SAT, F16, operands=BINARY, since=SM_53),
    line(NEAREST_MAYBE, BF16, operands=BINARY, since=since("7.8", 90)),
)
_EXTREME = (
    line(FTZ, NAN_80, F16, operands=BINARY, since=since("7.0", 80)),
    line(FTZ, NAN_80, XORSIGN, ABS, F16, operands=BINARY, since=since("7.2", 86)),
    line(NAN_80, BF16, operands=BINARY, since=since("7.0", 80)),
    line(NAN_80, XORSIGN, ABS, BF16, operands=BINARY, since=since("7.2", 86)),
)

FAMILIES = (
    family("add", *_SUM, about="sum"),
    family("sub", *_SUM, about="difference"),
    family("mul", *_SUM, about="product"),
    family(
        "fma",
        line(NEAREST, FTZ, SAT, F16, operands=TERNARY, since=SM_53),
        line(NEAREST, FTZ, word("relu"), F16, operands=TERNARY, since=since("7.0", 80)),
        line(NEAREST, RELU_80, BF16, operands=TERNARY, since=since("7.0", 80)),
        line(NEAREST, word("oob"), RELU_80, F16, operands=TERNARY, since=since("8.1", 90)),
        line(NEAREST, word("oob"), RELU_80, BF16, operands=TERNARY, since=since("8.1", 90)),
        about="a * b + c rounded once",
    ),
    family(
        "neg",
        line(FTZ, F16, operands=UNARY, since=since("6.0", 53)),
        line(BF16, operands=UNARY, since=since("7.0", 80)),
        about="negation",
    ),
    family(
        "abs",
        line(FTZ, F16, operands=UNARY, since=since("6.5", 53)),
        line(BF16, operands=UNARY, since=since("7.0", 80)),
        about="absolute value",
    ),
    family("min", *_EXTREME, about="the smaller"),
    family("max", *_EXTREME, about="the larger"),
    family(
        "tanh",
        line(APPROX, F16, operands=UNARY, since=since("7.0", 75)),
        line(APPROX, BF16, operands=UNARY, since=since("7.8", 90)),
        about="hyperbolic tangent",
    ),
    family(
        "ex2",
        line(APPROX, F16, operands=UNARY, since=since("7.0", 75)),
        line(APPROX, word("ftz"), BF16, operands=UNARY, since=since("7.8", 90)),
        about="power of 2",
    ),
)
