"""Logic and shifts."""

from __future__ import annotations

from isa.availability import since
from isa.instructions.vocabulary import COUNT_B, COUNT_C, A, B, C, D, immediate, predicate, written, written_predicate
from isa.operands import Range
from isa.rows import family, line, slot

BITS = slot("type", "b16 b32 b64")
WORD = slot("type", "b32")
PREDICATES = slot("type", "pred")
SHIFTED = slot("type", "b16 b32 b64 u16 u32 u64 s16 s32 s64")
DIRECTION = slot("direction", "l r")
MODE = slot("mode", "clamp wrap")
LUT = immediate("lut", Range(0, 255))

_P, _Q, _R = written_predicate("d"), predicate("a"), predicate("b")

FAMILIES = (
    *(
        family(
            opcode, line(BITS, operands=(D, A, B)), line(PREDICATES, operands=(_P, _Q, _R)), about=f"bitwise {opcode}"
        )
        for opcode in ("and", "or", "xor")
    ),
    family("not", line(BITS, operands=(D, A)), line(PREDICATES, operands=(_P, _Q)), about="bitwise complement"),
    family("cnot", line(BITS, operands=(D, A)), about="1 where a is 0, else 0"),
    family(
        "lop3",
        line(WORD, operands=(D, A, B, C, LUT), since=since("4.3", 50)),
        line(
            slot("bool", "or and"), WORD,
            operands=(written(sink=True), written_predicate("p", joined=True), A, B, C, LUT, predicate("q")),
            since=since("8.2", 70),
        ),
        about="any bitwise function of three, by its table",
    ),
    family(
        "shf",
        line(DIRECTION, MODE, WORD, operands=(D, A, B, COUNT_C), since=since("3.1", 32)),
        about="shift the pair b:a by c and keep the low (r) or high (l) word",
    ),
    family("shl", line(BITS, operands=(D, A, COUNT_B)), about="shift left, clamped at the width"),
    family("shr", line(SHIFTED, operands=(D, A, COUNT_B)), about="shift right, with the sign for signed types"),
)  # fmt: skip
